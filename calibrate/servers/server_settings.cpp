// SPDX-License-Identifier: Apache-2.0
#include "calibrate/servers/server_settings.hpp"

#include <algorithm>
#include <cmath>

#include "base/document/fields.hpp"
#include "base/integers.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/section_readers.hpp"
#include "workloads/architecture/precision.hpp"

namespace roofcast::calibrate {
namespace {

void read(base::Fields& f, LengthShares& shares) {
  f.number("least", shares.least, base::positive, base::optional);
  f.number("most", shares.most, base::positive, base::optional);
}

void read(base::Fields& f, IterationSettings& step) {
  f.integer("prompt", step.prompt, base::not_negative, base::optional);
  f.integer("more", step.more, base::not_negative, base::optional);
  f.integer("unit", step.unit, base::at_least_one, base::optional);
  f.integer("least", step.least, base::not_negative, base::optional);
}

void read(base::Fields& f, SequenceSettings& sequences) {
  f.integer("share", sequences.share, base::at_least_one, base::optional);
  f.integer("less", sequences.less, base::not_negative, base::optional);
}

void read(base::Fields& f, RunSettings& run) {
  const auto group = [&](std::string_view key, auto& value) {
    f.group(
        key, [&](base::Fields& g) { read(g, value); }, base::optional);
  };
  f.choice<Speculates>(
      "speculates", run.speculates,
      {{"no", Speculates::no}, {"perhaps", Speculates::perhaps}, {"yes", Speculates::yes}},
      base::optional);
  group("input", run.input);
  group("output", run.output);
  f.flag("cached_prompts", run.cached_prompts, base::optional);
  f.flag("began_cold", run.began_cold, base::optional);
  f.group(
      "iteration", [&](base::Fields& g) { read(g, run.iteration.emplace()); }, base::optional);
  f.group(
      "sequences", [&](base::Fields& g) { read(g, run.sequences.emplace()); }, base::optional);
  f.flag("prompts_by_graph", run.prompts_by_graph, base::optional);
  f.integer("prefill_iteration", run.prefill_iteration, base::at_least_one, base::optional);
  f.integer("requests", run.requests, base::at_least_one, base::optional);
}

}  // namespace

workloads::Lengths LengthShares::of(std::int64_t nominal) const {
  const auto tokens = [&](double share) {
    return std::max<std::int64_t>(1, std::llround(share * static_cast<double>(nominal)));
  };
  workloads::Lengths lengths;
  lengths.shape = workloads::Lengths::Shape::uniform;
  lengths.least = tokens(least);
  lengths.most = tokens(most);
  return lengths;
}

std::int64_t LengthShares::mean(std::int64_t nominal) const {
  return std::llround(0.5 * (least + most) * static_cast<double>(nominal));
}

workloads::Serving ServerSettings::of(std::int64_t clients, std::int64_t attention_ranks,
                                      std::int64_t longest_prompt) const {
  workloads::Serving made = serving;
  workloads::SchedulerLimits& limits = made.limits;
  if (run.sequences) {
    const std::int64_t share = run.sequences->share > 0 ? run.sequences->share : attention_ranks;
    limits.max_sequences = std::min(
        limits.max_sequences, std::max<std::int64_t>(1, clients / share - run.sequences->less));
  }
  if (run.iteration) {
    const workloads::Speculation& s = made.speculation;
    const std::int64_t decoding = s.drafts() ? s.query_tokens() * limits.max_sequences : clients;
    const std::int64_t tokens =
        std::max(longest_prompt, run.iteration->prompt) + decoding + run.iteration->more;
    limits.max_tokens_per_iteration = std::max(
        run.iteration->least, base::ceil_div(tokens, run.iteration->unit) * run.iteration->unit);
  }
  if (run.prompts_by_graph) {
    made.stack.graph_tokens = limits.max_tokens_per_iteration;
  }
  return made;
}

const ServerSettings& ServerConventions::of(const std::string& stack, Facts facts) {
  Settings chosen = conventions_.settings(facts);
  std::string precision;
  if (find(chosen, "precision") == nullptr) {
    const auto id = base::id_called(workloads::precision_catalog(), *facts.find("table.precision"));
    precision = id.value_or("");
    facts.set("precision", precision);
    chosen = conventions_.settings(facts);
  }
  const std::tuple key{stack, precision, std::move(chosen)};
  if (const auto found = known_.find(key); found != known_.end()) {
    return found->second;
  }
  const Settings& settings_of_run = std::get<Settings>(key);
  base::Problems problems;
  base::Node document;
  document["serving"]["stack"] = base::scalar_node(stack, {});
  if (!precision.empty()) {
    document["precision"] = base::scalar_node(precision, {});
  }
  set(document, settings_of_run, problems);
  ServerSettings settings;
  settings.section = document["serving"];
  sim::load_references(document, problems);
  settings.serving = sim::read_serving(document, problems);
  if (document.find("precision") != nullptr) {
    settings.precision = sim::read_precision(document, problems);
  }
  const base::Node run = run_settings(settings_of_run, problems);
  base::Fields fields(run, "run", problems);
  read(fields, settings.run);
  fields.end();
  problems.throw_if_any();
  return known_.emplace(key, std::move(settings)).first->second;
}

}  // namespace roofcast::calibrate
