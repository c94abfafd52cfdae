// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "base/document/output_file.hpp"
#include "base/document/standard_streams.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/interrupt.hpp"
#include "cli/program/progress.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/file_hashes.hpp"
#include "cli/provenance/provenance.hpp"
#include "cli/provenance/sweep_parts.hpp"
#include "cli/provenance/unfinished_sweep.hpp"
#include "cli/sweep/asked_sweep.hpp"
#include "cli/sweep/best_so_far.hpp"
#include "cli/sweep/finished_sweep.hpp"
#include "cli/sweep/sweep_memory.hpp"
#include "cli/tables/result_csv.hpp"
#include "cli/tables/say.hpp"
#include "sim/confirm/replayed_rows.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/sweep_workspaces.hpp"

namespace roofcast::cli {
namespace {

struct SweepOptions {
  AskedSweep asked;
  std::string csv;
  std::string report;
  unsigned threads = 0;
  bool no_replay = false;
  bool quiet = false;
  bool json = false;
  bool resume = false;
  std::string memory;
  bool made_by = false;
  std::string shard;
};

// By Ctrl-C or SIGTERM. What was opened is closed before the program ends.
struct Stopped {
  int signal = 0;
};

// Of a sweep that is simulated, the estimates are kept until it is, unless they take too much memory.
constexpr std::size_t kMostKept = 65'536;

// Does the parts that lack, and says whether all are there. Ctrl-C stops it after the part that it does.
bool run_parts(const SweepParts& parts, const std::filesystem::path& folder, const Shard& shard,
               const SweepOptions& options) {
  std::vector<std::size_t> todo;
  std::size_t known = 0;
  std::size_t points = 0;
  for (std::size_t part = 0; part < parts.count(); ++part) {
    const bool is_there = SweepParts::has(folder, part);
    if (shard.has(part)) {
      points += parts.points(part).size();
      known += is_there ? parts.points(part).size() : 0;
      if (!is_there) {
        todo.push_back(part);
      }
    }
  }
  if (known > 0 && !options.quiet) {
    tell("{} of {} points are in {} already\n", known, points, folder.string());
  }
  std::atomic<std::size_t> done{known};
  const std::atomic<std::size_t> total{points};
  BestSoFar best(parts.points(0).sweep());
  std::optional<Progress> progress;
  progress.emplace(done, total, "points", options.quiet, [&] { return best.text(); });
  sim::SweepWorkspaces workspaces;
  const Interrupt interrupt;
  for (const std::size_t part : todo) {
    if (interrupt.signal() != 0) {
      progress.reset();
      tell("stopped: {} of {} points are in {}; the same command goes on\n", done.load(), points,
           folder.string());
      throw Stopped{interrupt.signal()};
    }
    const sim::SweepPoints some = parts.points(part);
    std::vector<sim::ServingEstimate> estimates;
    sim::ResultTable rows =
        sim::run_sweep(some, options.threads, options.asked.simulate ? nullptr : &done,
                       options.asked.simulate ? &estimates : nullptr, workspaces);
    if (options.asked.simulate) {
      sim::replay_all(some, rows, {.threads = options.threads, .estimates = estimates});
      done += some.size();
    }
    parts.write(folder, part, rows);
    best.take(rows);
  }
  for (std::size_t part = 0; part < parts.count(); ++part) {
    if (!SweepParts::has(folder, part)) {
      return false;
    }
  }
  return true;
}

int run_sweep_command(SweepOptions options) {
  const base::Node document = document_of(options.asked);
  const bool is_file = !base::is_standard_stream(options.csv) &&
                       base::is_regular_or_new(base::output_path(options.csv));
  if (!is_file && (options.resume || !options.shard.empty())) {
    throw base::InputError("error: --resume and --shard keep parts beside the CSV: name a file\n");
  }
  for (const auto& [name, is_given] : {std::pair{"--report", !options.report.empty()},
                                       {"--json", options.json},
                                       {"--made-by", options.made_by}}) {
    if (is_given && !options.shard.empty()) {
      throw base::InputError(fmt::format(
          "error: {} is of a whole sweep, and --shard does a part: give it to roofcast merge\n",
          name));
    }
  }
  if (options.asked.simulate && options.no_replay) {
    throw base::InputError("error: --simulate or --no-replay, not both\n");
  }
  const sim::SweepPoints points(sim::read_sweep(document));
  const std::string text = sweep_text(document, points.sweep());
  SweepOutputs outputs{options.csv,        options.report, options.threads, options.asked.simulate,
                       !options.no_replay, options.quiet,  options.json,    options.made_by};
  const std::filesystem::path folder = base::output_path(parts_folder(options.csv));
  const SweepParts parts(points, text, options.asked.simulate);
  if (!options.shard.empty()) {
    const Shard shard = parse_shard(options.shard);
    parts.open(folder);
    const bool all = run_parts(parts, folder, shard, options);
    if (options.quiet) {
      return kDone;
    }
    say("Shard {} of {} is done; {}\n", shard.index, shard.of,
        all ? fmt::format("all parts are there: roofcast merge {} --csv {}", folder.string(),
                          options.csv)
            : "others lack");
    return kDone;
  }
  const MemoryPlan plan = plan_memory(options.memory, points, outputs);
  options.threads = outputs.threads = plan.threads;
  const bool in_parts = options.resume || plan.in_parts || is_finishing(folder);
  if (in_parts && !is_file) {
    throw base::InputError("error: --memory needs parts beside the CSV: name a file\n");
  }
  base::CsvWriter csv = open_result(points, text, outputs);
  const std::string kept =
      fmt::format("\nstopped: what is done is in {}; the same command goes on\n", folder.string());
  std::optional<LastWords> words;
  if (in_parts) {
    words.emplace(kept.c_str());
  } else if (!base::is_standard_stream(options.csv)) {
    words.emplace(
        "\nstopped: nothing is kept. With --resume, what is done is kept, and the same command "
        "goes on\n");
  }
  const auto start = std::chrono::steady_clock::now();
  std::vector<sim::ServingEstimate> estimates;
  const auto tell_time = [&] {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (!options.quiet) {
      fmt::print(stderr, "{} points in {:.2f} s\n", points.size(), elapsed.count());
    }
  };
  if (in_parts) {
    note_passing(folder);
    parts.open(folder);
    run_parts(parts, folder, {}, options);
    tell_time();
    note_finishing(folder);
    finish_parts(points, {parts, {folder}}, text, outputs, csv);
    finish_outputs();
    parts.remove(folder);
    return kDone;
  }
  sim::ResultTable table = [&] {
    std::atomic<std::size_t> done{0};
    const std::atomic<std::size_t> total{points.size()};
    const Progress progress(done, total, "points", options.quiet);
    return sim::run_sweep(
        points, options.threads, &done,
        options.asked.simulate && points.size() <= kMostKept ? &estimates : nullptr);
  }();
  tell_time();
  finish_sweep(points, table, estimates, text, outputs, csv);
  return kDone;
}

}  // namespace

void add_sweep(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "sweep",
      "Forecasts every combination of the axes of a sweep: CSV, front, report\n"
      "A sweep has a base scenario, axes over any of its figures, constraints and objectives. "
      "The rows that it recommends, those of the front and the best of each group, are replayed "
      "in the simulator. A row that misses a constraint there is broken: it is left out, and the "
      "next is tried. "
      "OUT.sweep.yaml is written beside OUT.csv: the sweep, with its base included.");
  auto options = std::make_shared<SweepOptions>();
  add_asked_sweep(*command, options->asked);
  command
      ->add_option("--csv", options->csv,
                   "write the rows to this file; compressed if it ends in .gz or .zst")
      ->written()
      ->required();
  command->add_option("--report", options->report, "write a self-contained HTML report")->written();
  command->add_flag("--no-replay", options->no_replay, "replay nothing: rows are estimated only");
  command->add_flag(
      "--resume", options->resume,
      "keep finished parts in OUT.csv.parts, and go on from those that are there; Ctrl-C "
      "keeps what is done");
  command
      ->add_option(
          "--memory", options->memory,
          "take at most so much memory, such as '512 MB': rows that would take more are kept "
          "in OUT.csv.parts, as with --resume")
      ->type_name(kText);
  command
      ->add_option(
          "--shard", options->shard,
          "do only the I-th of N shards, \"3/8\", into OUT.csv.parts; slurm: the task of a "
          "Slurm array. roofcast merge joins them")
      ->type_name(kText);
  command
      ->add_flag("--made-by", options->made_by,
                 "write a last column, made_by: the id of what made the rows, which "
                 "OUT.provenance.json has too")
      ->group("Output");
  command->add_flag("--quiet", options->quiet, "print nothing")->group("Output");
  command->add_flag("--json", options->json, "print the answer and its front as JSON")
      ->group("Output");
  command->add_option("--threads", options->threads, "number of threads; 0: all cores")
      ->type_name(kNumber)
      ->within(std::size_t{0}, kMostThreads)
      ->capture_default_str();
  command->footer(examples({"roofcast show example llama-70b > llama-70b.yaml",
                            "roofcast show example llama70b_h200_hbm > hbm.yaml",
                            "roofcast sweep hbm.yaml --csv hbm.csv --report hbm.html",
                            "roofcast sweep hbm.yaml --csv packed.csv.gz --threads 1 --quiet",
                            "roofcast sweep hbm.yaml --csv whole.csv --all-columns --quiet",
                            "roofcast sweep hbm.yaml --csv long.csv --resume",
                            "roofcast sweep hbm.yaml --csv bounded.csv --memory '512 MB'",
                            "roofcast sweep hbm.yaml --csv shards.csv --shard 1/1"}));
  command->callback([&chosen, options] {
    chosen = [options] {
      try {
        return run_sweep_command(*options);
      } catch (const Stopped& stopped) {
        end_by(stopped.signal);
      }
    };
  });
}

}  // namespace roofcast::cli
