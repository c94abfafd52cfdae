// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/catalog/catalogs.hpp"
#include "cli/check/numerics_text.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/say.hpp"
#include "cli/text/alignment_text.hpp"
#include "cli/text/json_answer.hpp"
#include "hardware/chip_architecture.hpp"
#include "sim/numerics/numerics.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {
namespace {

// What could not be translated, which a document that was written as ours has no need to repeat.
void print_notes(const base::Node& translated) {
  if (const base::Node* notes = translated.find("notes")) {
    for (const base::Node& note : notes->items) {
      say("  note: {}\n", note.text);
    }
  }
}

// Of a scenario with a steady state that fits; others have no step to look at.
std::string misaligned_text(const base::Node& document) {
  if (document.find_path("traffic.arrivals") != nullptr ||
      document.find_path("traffic.trace") != nullptr ||
      document.find_path("serving.replicas") != nullptr || document.find("training") != nullptr) {
    return {};
  }
  const sim::Scenario scenario = sim::read_scenario(document);
  sim::Workspace workspace;
  const sim::ServingEstimate e = sim::estimate(sim::view(scenario), workspace);
  return e.fits() ? alignment_text(sim::view(scenario), e) : std::string();
}

// Of the chips in a document, where their peaks are not those of their SMs and clock (hardware/chip_architecture.hpp).
std::vector<std::string> peak_notes(const DocumentKind& kind, const base::Node& document,
                                    bool scenario) {
  constexpr std::string_view kChips[] = {"system.chip", "deployment.prefill.system.chip",
                                         "deployment.decode.system.chip"};
  base::Node whole;
  if (scenario) {
    base::Problems problems;
    whole = document;
    sim::load_references(whole, problems);
    problems.throw_if_any();
  } else if (kind.name == "chip") {
    whole["system"]["chip"] = resolved(document, kind.place);
  } else if (kind.name == "system") {
    whole["system"] = resolved(document, kind.place);
  }
  std::vector<std::string> notes;
  for (const std::string_view path : kChips) {
    const base::Node* chip = whole.is_map() ? whole.find_path(path) : nullptr;
    std::string note = chip != nullptr ? hardware::peak_note(*chip) : std::string();
    if (!note.empty() && std::find(notes.begin(), notes.end(), note) == notes.end()) {
      notes.push_back(std::move(note));
    }
  }
  return notes;
}

struct CheckOptions {
  std::vector<std::string> files;
  std::string kind;
  bool json = false;
  bool numerics = false;
};

struct Numerics {
  std::vector<sim::NumericRisk> rules;
  std::string why_not;  // the scenario does not run
};

Numerics numerics_of(const base::Node& document) {
  const sim::StreamedScenario streamed = sim::read_streamed_scenario(document);
  const sim::ScenarioView view = sim::view(streamed.scenario);
  sim::Workspace workspace;
  const sim::ServingEstimate e = sim::estimate(view, workspace);
  return e.fits() ? Numerics{sim::numerics(view, e), {}} : Numerics{{}, sim::reason(e)};
}

// What JSON says of a file.
nlohmann::ordered_json checked(const std::string& file, const std::string& what,
                               const std::string& problems) {
  return {{"file", file}, {"ok", problems.empty()}, {"document", what}, {"problems", problems}};
}

// Prints what the document is, or tells `json`; every problem of every file goes to stderr.
bool check(const std::string& file, const CheckOptions& options, nlohmann::ordered_json* json) {
  try {
    const base::Node document = base::load_document(file);
    const DocumentKind* kind = options.kind.empty() ? kind_of(document) : &kind_named(options.kind);
    if (kind == nullptr) {
      throw base::InputError(fmt::format(
          "{}: error: this looks like no document of roofcast; name its kind with --kind\n", file));
    }
    const std::string what = kind->check(document);
    const bool scenario = kind->name == "example" && document.find("axes") == nullptr &&
                          document.find("workloads") == nullptr;
    if (options.numerics && !scenario) {
      throw base::InputError(
          fmt::format("{}: error: --numerics is for scenarios; this is {}\n", file, what));
    }
    const Numerics numerics = options.numerics ? numerics_of(document) : Numerics();
    const std::vector<std::string> peaks = peak_notes(*kind, document, scenario);
    if (json != nullptr) {
      json->push_back(checked(file, what, ""));
      if (!peaks.empty()) {
        json->back()["notes"] = peaks;
      }
      if (options.numerics) {
        json->back()["numerics"] = numerics_json(numerics.rules);
        json->back()["does_not_run"] = numerics.why_not;
      }
      return true;
    }
    say("{}: ok, {}\n", file, what);
    for (const std::string& note : peaks) {
      say("  note: {}\n", note);
    }
    if (scenario) {
      say("{}{}", misaligned_text(document), numerics_text(numerics.rules));
      if (!numerics.why_not.empty()) {
        say("no verdict on its number formats: it does not run: {}\n", numerics.why_not);
      }
    }
    if (kind->catalog().is_foreign(document)) {
      print_notes(resolved(document, kind->place));
    }
    return true;
  } catch (const base::InputError& error) {
    tell("{}", error.what());
    if (json != nullptr) {
      json->push_back(checked(file, "", error.what()));
    }
    return false;
  }
}

}  // namespace

void add_check(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "check",
      "Reports every mistake in scenarios, sweeps and catalog files\n"
      "Each mistake has its line, a caret and the nearest name that exists. The exit status is "
      "2 if there is a mistake.");
  auto options = std::make_shared<CheckOptions>();
  command->add_option("files", options->files, "YAML or JSON documents")
      ->type_name(kFile)
      ->required();
  command
      ->add_option(
          "--kind", options->kind,
          "the kind of the documents: chip, system, price, calibration, model, precision, stack, "
          "trainer, failure, acceptance, score, claim or example (a scenario, a sweep or a "
          "roadmap); "
          "default: the keys decide")
      ->type_name(kKind);
  command->add_flag("--numerics", options->numerics,
                    "of scenarios: which number formats risk a run that does not converge or wrong "
                    "answers, by published rules, with remedies and their costs");
  command->add_flag("--json", options->json, "print JSON; problems go to stderr too")
      ->group("Output");
  command->footer(examples(
      {"roofcast check llama-70b.yaml what_if.yaml", "roofcast check --numerics llama-70b.yaml",
       "roofcast show chip h200_sxm > my_chip.yaml", "roofcast check --kind chip my_chip.yaml"}));
  command->callback([&chosen, options] {
    chosen = [options] {
      bool good = true;
      nlohmann::ordered_json answers = nlohmann::ordered_json::array();
      for (const std::string& file : options->files) {
        good = check(file, *options, options->json ? &answers : nullptr) && good;
      }
      if (options->json) {
        nlohmann::ordered_json answer = json_answer();
        answer["files"] = answers;
        print_json(answer);
      }
      return good ? kDone : kBadInput;
    };
  });
}

}  // namespace roofcast::cli
