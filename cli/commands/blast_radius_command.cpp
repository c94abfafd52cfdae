// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/tables/say.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/json_answer.hpp"
#include "cli/text/scenario_text.hpp"
#include "sim/cluster/blast_radius.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {
namespace {

struct BlastRadiusOptions {
  std::string scenario;
  std::vector<std::string> set;
  std::size_t ports = 64;
  std::string format = "text";
  bool strict = false;
};

std::string number(double value) { return display(value, ""); }

std::string spares_text(const sim::FailedPart& part, const sim::Scenario& s) {
  if (part.hosts == 0) {
    return "-";
  }
  if (!s.run.spare_hosts) {
    return fmt::format("{} wanted", part.hosts);
  }
  return fmt::format("{} of {}{}", part.hosts, *s.run.spare_hosts,
                     part.hosts > *s.run.spare_hosts ? ", too few" : "");
}

std::string text_of(const sim::BlastRadius& result, const sim::Scenario& s) {
  TextTable table({"part that fails", "GPUs out", "replicas hit", "the job", "time lost",
                   "GPU-hours lost", "USD", "spare hosts", "throughput without it"});
  for (const sim::FailedPart& part : result.parts) {
    table.add({part.part, number(static_cast<double>(part.gpus)),
               fmt::format("{} of {}", part.replicas, result.replicas),
               part.stops ? "stops" : "goes on",
               part.stops ? display(part.lost.si(), "s") : std::string("-"),
               part.stops ? number(part.gpu_hours) : std::string("-"),
               part.stops ? number(part.usd) : std::string("-"), spares_text(part, s),
               fmt::format("{:.2f}%", 100.0 * part.rest)});
  }
  return table.text();
}

nlohmann::ordered_json json_of(const sim::BlastRadius& result, const sim::Scenario& scenario) {
  nlohmann::ordered_json json = {{"scenario", title(scenario)}};
  json["fits"] = result.estimate.fits();
  if (!result.estimate.fits()) {
    json["reason"] = sim::reason(result.estimate);
    return json;
  }
  json["gpus"] = result.estimate.gpus;
  json["replicas"] = result.replicas;
  json["gpus_of_host"] = result.gpus_of_host;
  json["hosts_of_rack"] = result.hosts_of_rack;
  json["parts"] = nlohmann::ordered_json::array();
  for (const sim::FailedPart& part : result.parts) {
    nlohmann::ordered_json row = {{"part", part.part},          {"gpus", part.gpus},
                                  {"hosts", part.hosts},        {"replicas", part.replicas},
                                  {"stops", part.stops},        {"lost_s", part.lost.si()},
                                  {"gpu_hours", part.gpu_hours}};
    if (!std::isnan(part.usd)) {
      row["usd"] = part.usd;
    }
    row["throughput_share"] = part.rest;
    json["parts"].push_back(row);
  }
  return json;
}

int run_blast_radius(const BlastRadiusOptions& options) {
  const base::Node document = scenario_document(options.scenario, options.set);
  note_question("scenario", document);
  const sim::Scenario scenario = sim::read_scenario(document);
  const sim::BlastRadius result =
      sim::blast_radius(document, static_cast<std::int64_t>(options.ports));
  const bool fits = result.estimate.fits();
  if (options.format == "json") {
    print_json(json_of(result, scenario));
  } else if (fits) {
    say("{}\n{}-port switches, hosts of {} GPUs, racks of {} hosts{}\n\n{}", title(scenario),
        options.ports, result.gpus_of_host, result.hosts_of_rack,
        result.rack_is_assumed ? " (assumed: system.hosts_per_rack)" : "",
        text_of(result, scenario));
  } else {
    say("{}\n\nit does not run: {}\n", title(scenario), sim::reason(result.estimate));
  }
  return options.strict && !fits ? kInfeasible : kDone;
}

}  // namespace

void add_blast_radius(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "blast-radius",
      "Says what a training run loses when a part of the cluster fails\n"
      "The parts: a GPU with its host, a rack, a leaf switch (a rail where the fabric is "
      "rail-optimised), a spine switch. Time lost is that of all GPUs: detection, "
      "restart, reading the checkpoint, and what is computed again. The last column is the "
      "throughput of a job that goes on without the replicas that are hit.");
  auto options = std::make_shared<BlastRadiusOptions>();
  command->add_option("scenario", options->scenario, "the YAML file of a scenario with a run")
      ->type_name(kFile)
      ->required();
  command->add_option("--ports", options->ports, "ports of a switch; half of a leaf's go down")
      ->type_name(kNumber)
      ->within(std::size_t{4}, std::size_t{1024})
      ->capture_default_str();
  command
      ->add_option("--set", options->set,
                   "change a knob: its dotted path, =, a value or a factor (x1.5)")
      ->type_name(kKnobValue)
      ->take_all();
  command->add_format(options->format, {"text", "json"});
  command->add_flag("--strict", options->strict, "exit with 3 if the run does not fit");
  command->footer(
      examples({"roofcast show example llama-405b_run > run.yaml", "roofcast blast-radius run.yaml",
                "roofcast blast-radius run.yaml --ports 128 --set "
                "system.scale_out.rail_optimised=true"}));
  command->callback(
      [&chosen, options] { chosen = [options] { return run_blast_radius(*options); }; });
}

}  // namespace roofcast::cli
