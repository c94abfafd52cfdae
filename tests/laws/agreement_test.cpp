// SPDX-License-Identifier: Apache-2.0
//
// The steady state beside the simulation of the same scenario: random systems, models, precisions, mappings of
// tensor and expert parallelism, stacks and lengths, at 5 to 85 % of the saturation.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "sim/simulation_summary.hpp"
#include "tests/catch.hpp"
#include "tests/laws/serving_cases.hpp"
#include "workloads/request_stream.hpp"

namespace roofcast::laws {
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
  void add(base::Seconds predicted, double simulated) {
    values.push_back(std::abs(predicted.si() / simulated - 1.0));
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

// A scenario whose traffic is next to none; empty when the draw does not fit.
struct Draw {
  sim::Scenario scenario;
  workloads::RequestStream stream;
  double saturation = 0;
};
std::optional<Draw> draw(base::Random& random, sim::Workspace& workspace) {
  Draw d;
  const sim::Platform& system = pick(platforms(), random);
  const workloads::Architecture& model = pick(models(), random);
  const workloads::Precision& precision = pick(precisions(), random);
  const workloads::Mapping mapping = pick(mappings(model), random);
  const workloads::Serving& serving = pick(servings(), random);
  d.stream.input = random_lengths(random, 100, 8000);
  d.stream.output = random_lengths(random, 20, 1000);
  d.stream.seed = random.integer(1, 1'000'000);
  d.stream.arrivals.emplace().rate = 1e-6 * base::hertz;
  d.scenario = {system, model, precision, mapping, serving, workloads::mean_traffic(d.stream), {}};
  const workloads::Traffic& t = d.scenario.traffic;
  if (!natural(model, precision) || mapping.data_parallel > 1 || mapping.pipeline_parallel > 1 ||
      5 * (t.input_tokens + t.output_tokens) > model.max_context) {
    return {};
  }
  const sim::ServingEstimate e = sim::estimate(sim::view(d.scenario), workspace);
  d.saturation = e.steady.saturation;
  return e.fits() && e.max_running >= 8.0 ? std::optional(d) : std::nullopt;
}

void compare(const Draw& d, const sim::ServingEstimate& e, Agreement& agreement) {
  workloads::RequestStream stream = d.stream;
  const double house = e.steady.requests_per_second * e.steady.end_to_end.si();
  stream.requests = std::max<std::int64_t>(4000, std::llround(20.0 * house));
  const auto simulation =
      sim::simulate(sim::view(d.scenario), workloads::draw_requests(stream), stream.concurrency);
  const auto s = sim::summarise(simulation, static_cast<std::size_t>(*stream.requests / 5), {});
  agreement.ttft.add(e.steady.ttft_mean, s.ttft.mean);
  agreement.tpot.add(e.steady.tpot, s.tpot.mean);
  agreement.within +=
      agreement.ttft.values.back() <= 0.1 && agreement.tpot.values.back() <= 0.1 ? 1U : 0U;
}

}  // namespace

TEST_CASE("Closed forms of an open loop are those of its simulation", "[laws]") {
  constexpr std::size_t kScenarios = 150;
  base::Random random(2, "agreement");
  sim::Workspace workspace;
  Agreement agreement;
  while (agreement.ttft.values.size() < kScenarios) {
    auto d = draw(random, workspace);
    if (!d) {
      continue;
    }
    d->stream.arrivals->rate = random.uniform(0.05, 0.85) * d->saturation * base::hertz;
    d->scenario.traffic = workloads::mean_traffic(d->stream);
    compare(*d, sim::estimate(sim::view(d->scenario), workspace), agreement);
  }
  INFO(agreement.text());
  CHECK(agreement.within >= kScenarios * 70 / 100);
  CHECK(agreement.ttft.quantile(0.5) < 0.025);
  CHECK(agreement.tpot.quantile(0.5) < 0.035);
}

TEST_CASE("Closed forms of clients whose lengths vary are those of their simulation", "[laws]") {
  constexpr std::size_t kScenarios = 60;
  base::Random random(3, "agreement");
  sim::Workspace workspace;
  Agreement agreement;
  while (agreement.ttft.values.size() < kScenarios) {
    auto d = draw(random, workspace);
    if (!d) {
      continue;
    }
    d->stream.arrivals.reset();
    d->stream.concurrency = std::llround(std::pow(256.0, random.uniform()));
    d->scenario.traffic = workloads::mean_traffic(d->stream);
    // Passes that clients meet are not slowed by launches in an estimate of clients.
    d->scenario.serving.stack.eager_operator = {};
    const auto e = sim::estimate(sim::view(d->scenario), workspace);
    if (e.steady.requests_per_second < 0.85 * d->saturation) {
      compare(*d, e, agreement);
    }
  }
  INFO(agreement.text());
  CHECK(agreement.within >= kScenarios * 60 / 100);
  CHECK(agreement.ttft.quantile(0.5) < 0.07);
  CHECK(agreement.tpot.quantile(0.5) < 0.03);
}

}  // namespace roofcast::laws
