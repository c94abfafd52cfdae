// SPDX-License-Identifier: Apache-2.0
#include "calibrate/accuracy/random_scenarios.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include "base/document/fields.hpp"
#include "calibrate/accuracy/data.hpp"
#include "sim/estimate.hpp"

namespace roofcast::calibrate {
namespace {

constexpr std::int64_t kGpus = 8;
constexpr double kSpread = 0.2;   // share of the scenarios
constexpr double kDrafts = 0.15;  // and of those that predict

template <class T>
const T& pick(std::span<const T> all, base::Random& random) {
  return all[static_cast<std::size_t>(
      random.integer(0, static_cast<std::int64_t>(all.size()) - 1))];
}
double pick(std::initializer_list<double> all, base::Random& random) {
  return pick(std::span(all.begin(), all.size()), random);
}
template <class T>
const T& pick(const std::vector<T>& all, base::Random& random) {
  return pick(std::span<const T>(all), random);
}

double log_uniform(double least, double most, base::Random& random) {
  return least * std::pow(most / least, random.uniform());
}

enum class Shape { fixed, uniform, lognormal };
Shape shape(base::Random& random) { return static_cast<Shape>(random.integer(0, 2)); }

std::string lengths(Shape shape, double mean, std::int64_t least, base::Random& random) {
  const std::int64_t tokens = std::llround(mean);
  if (shape == Shape::fixed) {
    return fmt::format("{}", tokens);
  }
  if (shape == Shape::uniform) {
    const double width = pick({0.2, 0.5, 0.9}, random);
    return fmt::format("{{uniform: [{}, {}]}}",
                       std::max(least, static_cast<std::int64_t>(mean * (1.0 - width))),
                       static_cast<std::int64_t>(mean * (1.0 + width)));
  }
  return fmt::format("{{lognormal: {{mean: {}, cv: {}, max: {}}}}}", tokens,
                     pick({0.3, 0.6, 1.0, 1.3}, random), std::min<std::int64_t>(6 * tokens, 16000));
}

// `vary`: at least one of the two is drawn.
std::string both_lengths(bool fixed, bool vary, base::Random& random) {
  const double input = log_uniform(128.0, 8000.0, random);
  const double output = log_uniform(16.0, 1024.0, random);
  const Shape of_input = fixed ? Shape::fixed : shape(random);
  Shape of_output = fixed ? Shape::fixed : shape(random);
  if (vary && of_input == Shape::fixed && of_output == Shape::fixed) {
    of_output = Shape::uniform;
  }
  return fmt::format("traffic:\n  input_tokens: {}\n  output_tokens: {}\n",
                     lengths(of_input, input, 1, random), lengths(of_output, output, 2, random));
}

struct Drawn {
  std::string traffic;
  double warm_up;
};

constexpr std::int64_t kOpenRequests = 24000;
constexpr double kOpenWarmUp = 0.1;

Drawn poisson(const std::string& both, double saturation, base::Random& random) {
  return {fmt::format("{}  arrivals: {{process: poisson, rate: {:.6g} /s}}\n  requests: {}\n", both,
                      random.uniform(0.1, 0.9) * saturation, kOpenRequests),
          kOpenWarmUp};
}

// The variance of the number of arrivals in a long time is cv² times that of Poisson arrivals.
Drawn gamma(const std::string& both, double saturation, base::Random& random) {
  const double rate = random.uniform(0.1, 0.9) * saturation;
  const double cv = pick({0.5, 2.0, 3.0}, random);
  return {fmt::format("{}  arrivals: {{process: gamma, cv: {}, rate: {:.6g} /s}}\n  requests: {}\n",
                      both, cv, rate, std::llround(kOpenRequests * std::max(1.0, cv * cv))),
          kOpenWarmUp};
}

Drawn two_phases(const std::string& both, double saturation, base::Random& random) {
  constexpr double kBusiest = 0.92;  // utilisation in the busier phase
  constexpr double kCycles = 100.0;  // simulated: of fewer, the share of the busier phase is chance
  constexpr double kMost = 400'000;  // requests
  const double swing = pick({0.3, 0.6, 0.75}, random);
  const double longest = pick({20.0, 60.0}, random);
  const double rate = std::min(random.uniform(0.1, 0.9), kBusiest / (1.0 + swing)) * saturation;
  const double sojourn = std::min(longest, 0.5 * kMost / (kCycles * rate));
  return {fmt::format(
              "{}  arrivals: {{process: mmpp, rates: [{:.6g} /s, {:.6g} /s], sojourns: "
              "[{:.3g} s, {:.3g} s]}}\n  requests: {}\n",
              both, rate * (1.0 - swing), rate * (1.0 + swing), sojourn, sojourn,
              std::max<std::int64_t>(kOpenRequests, std::llround(2.0 * sojourn * kCycles * rate))),
          kOpenWarmUp};
}

Drawn clients(const std::string& both, std::int64_t least, base::Random& random) {
  const std::int64_t count =
      std::max<std::int64_t>(least, std::llround(log_uniform(1.0, 512.0, random)));
  const std::int64_t requests = std::min<std::int64_t>(
      count < 200 ? std::max<std::int64_t>(20 * count, 2000) : 15 * count, 12000);
  return {fmt::format("{}  concurrency: {}\n  requests: {}\n", both, count, requests),
          std::max(0.1, 2.0 * static_cast<double>(count) / static_cast<double>(requests))};
}

Drawn agents(base::Random& random) {
  constexpr std::int64_t kTasks = 200;  // at least: of a few agents, p95 of ten each is chance
  const std::int64_t context = std::llround(log_uniform(1000.0, 12000.0, random));
  const double tools = random.uniform(0.5, 20.0);
  const std::int64_t tool_tokens = random.integer(100, 1500);
  const std::int64_t output = random.integer(50, 500);
  const std::int64_t turns = random.integer(4, 16);
  const std::int64_t count = std::llround(log_uniform(1.0, 128.0, random));
  return {fmt::format(
              "traffic:\n  agents:\n    concurrent: {}\n    tasks: {}\n    turns: {{lognormal: "
              "{{mean: {}, cv: 0.5, max: 50}}}}\n    initial_context: {}\n    shared_context: {}\n"
              "    output_tokens: {{lognormal: {{mean: {}, cv: 1, max: 4000}}}}\n    tool_tokens: "
              "{{lognormal: {{mean: {}, cv: 1.5, max: 8000}}}}\n    tools: [{{time: {:.3g} s, cv: "
              "1, timeout: 120 s}}]\n    max_context: 32768\n",
              count, std::max(kTasks, 10 * count), turns, context, context / 2, output, tool_tokens,
              tools),
          0.2};
}

struct Replicas {
  std::string deployment;
  std::int64_t count;  // of those that serve, of the larger pool
};
std::string speculation(base::Random& random) {
  if (random.uniform() >= kDrafts) {
    return {};
  }
  const std::int64_t tokens = random.integer(1, 4);
  return fmt::format(", speculative: {{method: ngram, draft_tokens: {}, acceptance: {:.2f}}}",
                     tokens, random.uniform(0.4, 0.95));
}
// Keys of a deployment.
std::string text_of(const RandomRanks& ranks) {
  std::string text = fmt::format("tensor_parallel: {}", ranks.tensor);
  if (ranks.data > 1) {
    text += fmt::format(", data_parallel: {}, expert_parallel: {}", ranks.data,
                        ranks.tensor * ranks.data);
  }
  if (ranks.pipeline > 1) {
    text += fmt::format(", pipeline_parallel: {}", ranks.pipeline);
  }
  return text;
}
Replicas one_pool(const RandomRanks& ranks, std::int64_t replicas) {
  return {fmt::format("deployment: {{{}}}\n", text_of(ranks)), replicas};
}
Replicas two_pools(const RandomRanks& ranks, base::Random& random) {
  const std::int64_t most = kGpus / ranks.count();
  const std::int64_t prefill = random.integer(1, most - 1);
  const std::int64_t decode = random.integer(1, most - prefill);
  return {fmt::format("deployment:\n  prefill: {{replicas: {}, {}}}\n  decode: "
                      "{{replicas: {}, {}}}\n",
                      prefill, text_of(ranks), decode, text_of(ranks)),
          std::max(prefill, decode)};
}

bool is(std::size_t kind, std::string_view name) { return kRandomKinds[kind].name == name; }

}  // namespace

RandomScenarios::RandomScenarios(std::uint64_t seed) : seed_(seed) {
  const base::Node document =
      base::parse_document("random_scenarios.yaml", std::string(data_random_scenarios_yaml()));
  base::Problems problems;
  base::Fields f(document, "", problems);
  f.texts("systems", systems_, base::required);
  f.texts("stacks", stacks_, base::required);
  f.each("models", [&](base::Fields& each) {
    Model& model = models_.emplace_back();
    each.text("model", model.id);
    each.text("precision", model.precision);
    each.integers("tensor_parallel", model.tensor_parallel, base::at_least_one);
    each.each(
        "spread",
        [&](base::Fields& g) {
          RandomRanks& ranks = model.spread.emplace_back();
          g.integer("tensor_parallel", ranks.tensor, base::at_least_one, base::optional);
          g.integer("data_parallel", ranks.data, base::at_least_one, base::optional);
          g.integer("pipeline_parallel", ranks.pipeline, base::at_least_one, base::optional);
          g.end();
        },
        base::optional);
    each.end();
  });
  f.end();
  problems.throw_if_any();
}

sim::StreamedScenario RandomScenarios::read(const std::string& parts,
                                            const std::string& rest) const {
  const base::Node document = base::parse_document("random scenario", parts + rest);
  const sim::Scenario* known = nullptr;
  {
    const std::lock_guard lock(reading_);
    auto& entry = known_[parts];
    if (entry == nullptr) {
      entry = std::make_unique<sim::Scenario>(sim::read_streamed_scenario(document).scenario);
    }
    known = entry.get();
  }
  base::Problems problems;
  sim::StreamedScenario s;
  s.scenario = *known;
  s.scenario.deployment = sim::read_deployment(document, problems);
  s.stream = sim::read_stream(document, problems);
  problems.throw_if_any();
  s.scenario.traffic = workloads::mean_traffic(s.stream);
  return s;
}

std::optional<RandomScenario> RandomScenarios::attempt(std::size_t kind, std::int64_t seed,
                                                       Streams& streams,
                                                       sim::Workspace& workspace) const {
  base::Random& random = streams.all;
  base::Random& spread = streams.ranks;
  const Model& model = pick(models_, random);
  RandomRanks ranks{.tensor = pick(model.tensor_parallel, random)};
  if (spread.uniform() < kSpread && !model.spread.empty()) {
    ranks = pick(model.spread, spread);
  }
  const bool pools = is(kind, "two pools");
  if (pools && 2 * ranks.count() > kGpus) {
    return {};
  }
  const auto replicas =
      std::min(static_cast<std::int64_t>(pick({1, 1, 1, 2, 4, 8}, random)), kGpus / ranks.count());
  const std::string parts = fmt::format(
      "system: {}\nmodel: {}\nprecision: {}\nserving: {{stack: {}{}{}}}\n", pick(systems_, random),
      model.id, model.precision, pick(stacks_, random),
      pools || replicas == 1 ? ""
                             : fmt::format(", replicas: {}{}", replicas,
                                           is(kind, "agents") ? ", router: session" : ""),
      speculation(streams.drafts));
  const Replicas serving = pools ? two_pools(ranks, random) : one_pool(ranks, replicas);
  const bool open = pools ? random.uniform() < 0.5 : kRandomKinds[kind].name.starts_with("open");
  const std::string both =
      both_lengths(is(kind, "closed fixed") || (pools && random.uniform() < 0.5),
                   is(kind, "closed drawn"), random);
  double saturation = 0.0;
  if (open) {
    const sim::StreamedScenario idle =
        read(parts, serving.deployment + both + "  arrivals: {process: poisson, rate: 0.01 /s}\n");
    const sim::ServingEstimate e = sim::estimate(sim::view(idle.scenario), workspace);
    saturation = e.steady.saturation;
    if (!e.fits() || !(saturation > 0.0)) {
      return {};
    }
  }
  const Drawn drawn = is(kind, "agents")           ? agents(random)
                      : is(kind, "open gamma")     ? gamma(both, saturation, random)
                      : is(kind, "open two-phase") ? two_phases(both, saturation, random)
                      : open                       ? poisson(both, saturation, random)
                                                   : clients(both, serving.count, random);
  const std::string rest = fmt::format("{}{}  seed: {}\n", serving.deployment, drawn.traffic, seed);
  RandomScenario s{kind, parts + rest, read(parts, rest), drawn.warm_up};
  if (!open && !sim::estimate(sim::view(s.streamed.scenario), workspace).fits()) {
    return {};
  }
  return s;
}

RandomScenario RandomScenarios::draw(std::size_t number, sim::Workspace& workspace) const {
  constexpr int kTries = 1000;
  Streams streams{base::Random(seed_, fmt::format("scenario {}", number)),
                  base::Random(seed_, fmt::format("ranks of scenario {}", number)),
                  base::Random(seed_, fmt::format("drafts of scenario {}", number))};
  const std::int64_t seed =
      base::Random(seed_, fmt::format("requests of scenario {}", number)).integer(1, 1'000'000);
  std::vector<double> weights;
  for (const RandomKind& kind : kRandomKinds) {
    weights.push_back(kind.weight);
  }
  const std::size_t kind = base::Discrete(weights)(streams.all);
  for (int i = 0; i < kTries; ++i) {
    if (auto drawn = attempt(kind, seed, streams, workspace)) {
      return std::move(*drawn);
    }
  }
  throw std::logic_error(
      fmt::format("the estimate refuses every scenario of kind {}", kRandomKinds[kind].name));
}

}  // namespace roofcast::calibrate
