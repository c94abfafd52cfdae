// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/csv/csv.hpp"
#include "base/document/fields.hpp"
#include "base/units/unit_text.hpp"
#include "cli/packing/packed_jobs.hpp"
#include "cli/packing/packed_sequences.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/say.hpp"
#include "cli/text/json_answer.hpp"
#include "cli/text/scenario_text.hpp"
#include "sim/scenario/sections.hpp"
#include "workloads/traffic/sequence_lengths.hpp"

namespace roofcast::cli {
namespace {

struct PackOptions {
  std::string input;
  std::string part = "input";
  std::string lengths;
  std::size_t count = 10'000;
  std::uint32_t seed = 1;
  std::int64_t tokens = 0;  // 0: not given
  std::string scenario;
  std::vector<std::string> set;
  std::string memory;
  std::size_t gpus = 0;
  std::string order = "size";
  std::size_t window = 1;
  std::string csv;
  std::string format = "text";
  bool strict = false;
};

void refuse_contradictions(const PackOptions& o) {
  base::Problems problems;
  const auto check = [&](bool wrong, std::string_view message) {
    if (wrong) {
      problems.add_text(fmt::format("error: {}\n", message));
    }
  };
  const bool jobs = !o.memory.empty();
  check(o.input.empty() == o.lengths.empty(), "name a table, or draw with --lengths; not both");
  check(!jobs && o.tokens == 0 && o.scenario.empty(),
        "what is packed? --tokens or --scenario pack sequences, --memory packs jobs");
  check(jobs && (o.tokens > 0 || !o.lengths.empty() || !o.scenario.empty()),
        "--memory packs jobs; --tokens, --lengths and --scenario are of sequences");
  check(!jobs && o.gpus > 0, "--gpus is of jobs; it needs --memory");
  check(o.scenario.empty() && !o.set.empty(), "--set needs a --scenario");
  const PackOptions none;
  check(o.lengths.empty() && (o.count != none.count || o.seed != none.seed),
        "--count and --seed are of --lengths");
  check((jobs || !o.lengths.empty()) && o.part != none.part, "--part is of a trace of requests");
  check(o.window > 1 && o.order != "kept", "--window is of --order kept");
  problems.throw_if_any();
}

std::vector<std::int64_t> drawn_lengths(const PackOptions& o) {
  const base::Node document = base::parse_document("--lengths", "lengths: " + o.lengths);
  base::Problems problems;
  base::Fields fields(document, "", problems);
  workloads::Lengths distribution;
  workloads::read(fields, "lengths", distribution);
  fields.end();
  problems.throw_if_any();
  base::Random random(o.seed, "input_tokens");  // the stream of draw_requests()
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 0; i < o.count; ++i) {
    lengths.push_back(workloads::draw(distribution, random));
  }
  return lengths;
}

// A table of tokens has no parts.
void refuse_part_of_tokens(const std::string& file) {
  const std::string text = base::read_text(file);
  const std::string header = text.substr(0, text.find('\n'));
  if (!header.starts_with('{') &&
      base::parse_csv(header + "\n", file).find_column("tokens").has_value()) {
    throw base::InputError(fmt::format(
        "error: --part is of a trace of requests, and {} is a table of tokens\n", file));
  }
}

std::vector<std::int64_t> lengths_of(const PackOptions& o) {
  using Part = workloads::SequencePart;
  if (o.part != PackOptions().part && std::filesystem::is_regular_file(o.input)) {
    refuse_part_of_tokens(o.input);
  }
  return o.input.empty() ? drawn_lengths(o)
                         : workloads::read_lengths(o.input, o.part == "input"    ? Part::input
                                                            : o.part == "output" ? Part::output
                                                                                 : Part::both);
}

template <class Packed>
int print(const PackOptions& o, const Packed& packed, bool fits, const std::string& head) {
  if (!o.csv.empty()) {
    write_csv(packed, o.csv);
  }
  if (o.format == "json") {
    print_json(json_of(packed));
  } else {
    say("{}{}", head, text_of(packed));
    if (!o.csv.empty()) {
      say("\nCSV     {}, order {}\n", o.csv, o.order);
    }
  }
  return o.strict && !fits ? kInfeasible : kDone;
}

int run_sequences(const PackOptions& o) {
  SequenceQuestion question{lengths_of(o), o.tokens, o.order, o.window};
  std::optional<sim::Scenario> scenario;
  std::optional<sim::PromptBatches> engine;
  if (!o.scenario.empty()) {
    scenario = sim::read_scenario(scenario_document(o.scenario, o.set));
    if (scenario->training.trains()) {
      throw base::InputError(
          "error: a scenario that trains packs by its own key rl.packing; --scenario is of "
          "prompts\n");
    }
    engine.emplace(sim::view(*scenario));
    question.engine = &*engine;
    if (o.tokens == 0) {
      question.capacity = engine->most_tokens();
    }
  }
  const PackedSequences packed = pack_sequences(std::move(question));
  return print(o, packed, packed.reason.empty(), scenario ? title(*scenario) + "\n" : "");
}

int run_jobs(const PackOptions& o) {
  const base::ParsedQuantity memory =
      base::parse_quantity(o.memory, base::dimension_of<base::Bytes>());
  if (!memory.ok() || !(memory.si >= 1.0 && memory.si <= 1e15)) {
    throw base::InputError(
        fmt::format("error: --memory {}: {}\n", o.memory,
                    memory.ok() ? "expects the memory of a GPU, such as 80 GB" : memory.error));
  }
  JobQuestion question{read_jobs(o.input), static_cast<std::int64_t>(memory.si), o.gpus, o.order,
                       o.window};
  const PackedJobs packed = pack_jobs(std::move(question));
  return print(o, packed, packed.left_out.empty(), "");
}

int run_pack(const PackOptions& o) {
  refuse_contradictions(o);
  return o.memory.empty() ? run_sequences(o) : run_jobs(o);
}

}  // namespace

void add_pack(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "pack",
      "Packs sequences into batches of tokens, or jobs onto GPUs\n"
      "Sequences: the lengths are a table with a column tokens, a trace of requests, or drawn "
      "(--lengths). The answer compares both orders and padding to the longest: bins, fill, "
      "padding, and how far from the least possible number of bins. With --scenario it has the "
      "time too: each bin is a batch of prompts. Jobs (--memory): a table of job, memory and "
      "time. The jobs of a GPU are on it at once. Orders: kept (next fit as they come), size "
      "(first fit, the largest first). What is larger than a bin is left out and named.");
  auto options = std::make_shared<PackOptions>();
  command->add_option("input", options->input, "the table of sequences or jobs, or a trace")
      ->type_name(kFile);
  command
      ->add_option("--tokens", options->tokens,
                   "the capacity of a bin; default: the tokens of an iteration of the scenario")
      ->type_name(kNumber)
      ->within(std::size_t{1}, std::size_t{1'000'000'000'000});
  command
      ->add_option("--lengths", options->lengths,
                   "draw lengths: a number, {uniform: [820, 1024]}, or {lognormal: {mean: 1500, "
                   "cv: 1.2, max: 8192}}")
      ->type_name(kText);
  command->add_option("--count", options->count, "how many lengths to draw")
      ->type_name(kNumber)
      ->within(std::size_t{1}, std::size_t{10'000'000})
      ->capture_default_str();
  command->add_option("--seed", options->seed, "the seed of the lengths")
      ->type_name(kNumber)
      ->capture_default_str();
  command->add_option("--part", options->part, "what of a request of a trace is the sequence")
      ->one_of({"input", "output", "both"})
      ->capture_default_str();
  command
      ->add_option("--scenario", options->scenario,
                   "the YAML file of a scenario whose engine computes the bins as prompts")
      ->type_name(kFile);
  command
      ->add_option("--set", options->set,
                   "change a knob of the scenario: its dotted path, =, a value or a factor (x1.5)")
      ->type_name(kKnobValue)
      ->take_all();
  command
      ->add_option("--memory", options->memory, "the memory of a GPU, such as '80 GB': packs jobs")
      ->type_name(kText);
  command->add_option("--gpus", options->gpus, "the number of GPUs; default: as many as needed")
      ->type_name(kNumber)
      ->within(std::size_t{1}, std::size_t{1'000'000});
  command->add_option("--order", options->order, "the order of the jobs, or of the bins of --csv")
      ->one_of(kOrders)
      ->capture_default_str();
  command
      ->add_option("--window", options->window,
                   "with --order kept: how many of those that wait a bin may choose from")
      ->type_name(kNumber)
      ->within(std::size_t{1}, std::size_t{100'000})
      ->capture_default_str();
  command->add_option("--csv", options->csv, "write the bins, one per row")->written();
  command->add_format(options->format, {"text", "json"});
  command->add_flag("--strict", options->strict, "exit with 3 if something does not fit");
  command->footer(examples(
      {"roofcast pack --lengths '{lognormal: {mean: 1500, cv: 1.2, max: 8192}}' --tokens 8192 "
       "--csv bins.csv",
       "roofcast show example llama-70b > mine.yaml",
       "roofcast pack --lengths '{uniform: [100, 4000]}' --count 500 --scenario mine.yaml",
       "roofcast pack jobs.csv --memory '80 GB' --gpus 2"}));
  command->callback([&chosen, options] { chosen = [options] { return run_pack(*options); }; });
}

}  // namespace roofcast::cli
