// SPDX-License-Identifier: Apache-2.0
//
// The steady state beside the simulation of the same scenario: random systems, models, precisions, mappings of
// tensor and expert parallelism, stacks and lengths, at 5 to 85 % of the saturation.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <optional>
#include <vector>

#include "sim/replay/simulation_summary.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/serving_cases.hpp"
#include "workloads/traffic/request_stream.hpp"

namespace roofcast::laws::laws_agreement {
namespace {

template <class T>
const T& pick(const std::vector<T>& all, base::Random& random) {
  return all[static_cast<std::size_t>(
      random.integer(0, static_cast<std::int64_t>(all.size()) - 1))];
}

workloads::Lengths random_lengths(base::Random& random, double least, double most) {
  const double mean = std::round(least * std::pow(most / least, random.uniform()));
  workloads::Lengths lengths;
  if (random.uniform() < 0.5) {
    lengths.shape = workloads::Lengths::Shape::uniform;
    lengths.least = std::max<std::int64_t>(1, std::llround(mean * random.uniform(0.1, 1.0)));
    lengths.most = 2 * std::llround(mean) - lengths.least;
  } else {
    lengths.shape = workloads::Lengths::Shape::lognormal;
    lengths.mean = mean;
    lengths.cv = random.uniform(0.1, 1.2);
    lengths.most = std::llround(5.0 * mean);
  }
  return lengths;
}

struct Errors {
  std::vector<double> values;
  void add(base::Seconds predicted, base::Seconds simulated) {
    values.push_back(std::abs(predicted / simulated - 1.0));
  }
  double quantile(double share) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  }
};

struct Agreement {
  Errors ttft;
  Errors tpot;
  std::size_t within = 0;  // 10 % in both means

  std::string text() {
    return fmt::format(
        "{} within 10 %; TTFT median {:.4f}, 90 % {:.3f}, worst {:.2f}; TPOT median {:.4f}, 90 % "
        "{:.3f}, worst {:.2f}",
        within, ttft.quantile(0.5), ttft.quantile(0.9), ttft.quantile(1.0), tpot.quantile(0.5),
        tpot.quantile(0.9), tpot.quantile(1.0));
  }
};

// Without those that answer in one pass, or see images.
const std::vector<workloads::Architecture>& decoders() {
  static const auto all = [] {
    std::vector<workloads::Architecture> some;
    std::copy_if(
        models().begin(), models().end(), std::back_inserter(some),
        [](const workloads::Architecture& m) { return m.autoregressive && m.vision.empty(); });
    return some;
  }();
  return all;
}

// A scenario whose traffic is next to none; empty when the draw does not fit.
struct Draw {
  sim::Scenario scenario;
  workloads::RequestStream stream;
  double saturation = 0;
};
std::optional<Draw> draw(base::Random& random, sim::Workspace& workspace) {
  Draw d;
  const sim::Platform& system = pick(platforms(), random);
  const workloads::Architecture& model = pick(decoders(), random);
  const workloads::Precision& precision = pick(precisions(), random);
  const workloads::Mapping mapping = pick(mappings(model), random);
  const workloads::Serving& serving = pick(servings(), random);
  d.stream.input = random_lengths(random, 100, 8000);
  d.stream.output = random_lengths(random, 20, 1000);
  d.stream.seed = random.integer(1, 1'000'000);
  d.stream.arrivals.emplace().rate = 1e-6 * base::hertz;
  d.scenario = {
      system, model, precision, {{mapping, {}}, {}}, serving, workloads::mean_traffic(d.stream),
      {}};
  const workloads::Traffic& t = d.scenario.traffic;
  if (!natural(model, precision) || 5 * (t.input_tokens + t.output_tokens) > model.max_context) {
    return {};
  }
  const sim::ServingEstimate e = sim::estimate(sim::view(d.scenario), workspace);
  d.saturation = e.steady.saturation;
  return e.fits() && e.max_running >= 8.0 ? std::optional(d) : std::nullopt;
}

enum class Loop { open, closed };

// A draw under load, at 5 to 85 % of its saturation; empty when the clients are too many for that.
std::optional<sim::ServingEstimate> loaded(Draw& d, Loop loop, base::Random& random,
                                           sim::Workspace& workspace) {
  if (loop == Loop::open) {
    d.stream.arrivals->rate = random.uniform(0.05, 0.85) * d.saturation * base::hertz;
  } else {
    d.stream.arrivals.reset();
    d.stream.concurrency = std::llround(std::pow(256.0, random.uniform()));
  }
  d.scenario.traffic = workloads::mean_traffic(d.stream);
  const auto e = sim::estimate(sim::view(d.scenario), workspace);
  const bool light = e.steady.requests_per_second < 0.85 * d.saturation;
  return loop == Loop::open || light ? std::optional(e) : std::nullopt;
}

sim::SimulationSummary simulated(const Draw& d, const sim::ServingEstimate& e) {
  workloads::RequestStream stream = d.stream;
  const double house = e.steady.requests_per_second * e.steady.end_to_end.si();
  stream.requests = std::max<std::int64_t>(4000, std::llround(20.0 * house));
  const auto simulation =
      sim::simulate(sim::view(d.scenario), workloads::draw_requests(stream), stream.concurrency);
  return sim::summarise(simulation, static_cast<std::size_t>(*stream.requests / 5), {});
}

std::string line(const Draw& d, const sim::ServingEstimate& e, const sim::SimulationSummary& s) {
  const workloads::Traffic& t = d.scenario.traffic;
  const auto cv = [](const workloads::Lengths& lengths) {
    return std::sqrt(workloads::squared_variation(lengths));
  };
  return fmt::format(
      "TTFT {:+.3f} of {:.4g} s, TPOT {:+.3f} of {:.4g} s: {} {} {} {} {}, in {} ({:.2f}), out {} "
      "({:.2f}), {} clients, load {:.2f}\n",
      e.steady.ttft_mean / s.ttft.mean - 1.0, s.ttft.mean.si(), e.steady.tpot / s.tpot.mean - 1.0,
      s.tpot.mean.si(), d.scenario.platform.system.id, d.scenario.model.id, d.scenario.precision.id,
      describe(d.scenario.deployment.mapping), d.scenario.serving.stack.id, t.input_tokens,
      cv(t.input), t.output_tokens, cv(t.output), t.concurrency,
      e.steady.requests_per_second / d.saturation);
}

// Errors over so many random scenarios; every one of them is printed if `out` is a file.
Agreement agreement_of(Loop loop, std::uint64_t seed, std::size_t scenarios,
                       std::FILE* out = nullptr) {
  base::Random random(seed, "agreement");
  sim::Workspace workspace;
  Agreement agreement;
  while (agreement.ttft.values.size() < scenarios) {
    auto d = draw(random, workspace);
    if (!d) {
      continue;
    }
    const auto e = loaded(*d, loop, random, workspace);
    if (!e) {
      continue;
    }
    const sim::SimulationSummary s = simulated(*d, *e);
    agreement.ttft.add(e->steady.ttft_mean, s.ttft.mean);
    agreement.tpot.add(e->steady.tpot, s.tpot.mean);
    agreement.within +=
        agreement.ttft.values.back() <= 0.1 && agreement.tpot.values.back() <= 0.1 ? 1U : 0U;
    if (out != nullptr) {
      fmt::print(out, "{}", line(*d, *e, s));
    }
  }
  return agreement;
}

// A new system or model in the catalog draws other scenarios: the limits leave the scatter of so many, two standard
// deviations, below the shares of thousands of draws.
constexpr std::size_t kScenarios = 200;

}  // namespace

TEST_CASE("Closed forms of an open loop are those of its simulation", "[laws][long]") {
  Agreement agreement = agreement_of(Loop::open, 2, kScenarios);
  INFO(agreement.text());
  CHECK(agreement.within >= kScenarios * 84 / 100);
  CHECK(agreement.ttft.quantile(0.5) < 0.015);
  CHECK(agreement.tpot.quantile(0.5) < 0.03);
}

TEST_CASE("Closed forms of clients whose lengths vary are those of their simulation",
          "[laws][long]") {
  Agreement agreement = agreement_of(Loop::closed, 3, kScenarios);
  INFO(agreement.text());
  CHECK(agreement.within >= kScenarios * 79 / 100);
  CHECK(agreement.ttft.quantile(0.5) < 0.035);
  CHECK(agreement.tpot.quantile(0.5) < 0.02);
  CHECK(agreement.ttft.quantile(0.98) < 1.0);
  CHECK(agreement.tpot.quantile(0.98) < 1.0);
}

// Which scenarios are far off, for who works on the closed forms.
TEST_CASE("Closed forms beside simulations, scenario by scenario", "[.agreement]") {
  for (const std::uint64_t seed : {21U, 22U}) {
    for (const Loop loop : {Loop::open, Loop::closed}) {
      Agreement agreement = agreement_of(loop, seed, kScenarios, stdout);
      fmt::print("{}\n", agreement.text());
    }
  }
}

}  // namespace roofcast::laws::laws_agreement
