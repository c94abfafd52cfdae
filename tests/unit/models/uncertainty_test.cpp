// SPDX-License-Identifier: Apache-2.0
#include "models/uncertainty.hpp"

#include <cmath>

#include "sim/estimate.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::models::unit_models_uncertainty {
namespace {

const Spread kWide{0.2, 0.5};

Uncertainty of_kinds(double chip_share, double kind_share) {
  Uncertainty u;
  u.kinds.fill(kWide);
  u.chip_share = chip_share;
  u.kind_share = kind_share;
  return u;
}

double above(const UncertainSum& sum, const Uncertainty& u) {
  return sum.half_widths(u).above.si();
}

UncertainSum sum_of(std::initializer_list<std::pair<ErrorKind, double>> operators) {
  UncertainSum sum;
  for (const auto& [kind, seconds] : operators) {
    sum.add(kind, base::Seconds::from_si(seconds));
  }
  return sum;
}

sim::ServingEstimate estimate(const std::string& text) {
  const sim::Scenario scenario = sim::read_scenario(base::parse_document("scenario", text));
  sim::Workspace workspace;
  return sim::estimate(sim::view(scenario), workspace);
}

const std::string kServed =
    "model: llama-3.1-70b\nprecision: fp8\ndeployment: {tensor_parallel: 8}\nserving: {stack: "
    "vllm}\n"
    "traffic: {input_tokens: 1024, output_tokens: 1024, concurrency: 16}\n";

}  // namespace

TEST_CASE("One operator alone is as uncertain as its kind", "[unit]") {
  const UncertainSum::HalfWidths half =
      sum_of({{ErrorKind::moe, 2.0}}).half_widths(of_kinds(0.2, 0.3));
  CHECK(half.below.si() == Approx(0.4));
  CHECK(half.above.si() == Approx(1.0));
}

TEST_CASE("Errors that operators have in common add up, those of their own cancel in part",
          "[unit]") {
  const UncertainSum four = sum_of({{ErrorKind::gemm, 1.0},
                                    {ErrorKind::gemm, 1.0},
                                    {ErrorKind::nccl, 1.0},
                                    {ErrorKind::nccl, 1.0}});
  CHECK(above(four, of_kinds(1.0, 0.0)) == Approx(4 * 0.5));
  CHECK(above(four, of_kinds(0.0, 0.0)) == Approx(2 * 0.5));  // √4
  CHECK(above(four, of_kinds(0.0, 1.0)) == Approx(std::sqrt(2.0 * 2.0 + 2.0 * 2.0) * 0.5));
  CHECK(above(four, of_kinds(0.2, 0.3)) > above(four, of_kinds(0.0, 0.3)));
}

TEST_CASE("Exact operators make an exact sum", "[unit]") {
  CHECK(above(sum_of({{ErrorKind::gemm, 3.0}}), Uncertainty{}) == 0.0);
}

TEST_CASE("Two independent sources are wider together than each, and narrower than their product",
          "[unit]") {
  const Spread other{0.1, 0.3};
  const Spread both = together(kWide, other);
  CHECK(both.above > kWide.above);
  CHECK(both.below > kWide.below);
  CHECK(1.0 + both.above < (1.0 + kWide.above) * (1.0 + other.above));
  CHECK(1.0 - both.below > (1.0 - kWide.below) * (1.0 - other.below));
  const Spread alone = together(kWide, Spread{});
  CHECK(alone.above == Approx(kWide.above));
  CHECK(alone.below == Approx(kWide.below));
}

TEST_CASE("The interval of the inverse ends at the inverse of the ends", "[unit]") {
  const Spread inverted = inverse(kWide);
  CHECK(1.0 - inverted.below == Approx(1.0 / 1.5));
  CHECK(1.0 + inverted.above == Approx(1.0 / 0.8));
}

// One kind that falls to 1/1.2 of its time. It may take 1.5 times its forecast or 0.8 times: 1/1.5 or 1/0.8 of ln 1.2 is felt.
TEST_CASE("What a kernel takes beyond its forecast does not change", "[unit]") {
  const Uncertainty u = of_kinds(0.0, 0.0);
  const auto second = base::Seconds::from_si(1.0);
  const Spread gain = ratio_spread(sum_of({{ErrorKind::moe, 1.0}}), second, u,
                                   sum_of({{ErrorKind::moe, 1.0 / 1.2}}), second / 1.2, u);
  CHECK(1.2 * (1.0 - gain.below) == Approx(std::pow(1.2, 1.0 / 1.5)));
  CHECK(1.2 * (1.0 + gain.above) == Approx(std::pow(1.2, 1.0 / 0.8)));
}

TEST_CASE("The smaller a change, the smaller the error of its gain, down to none", "[unit]") {
  const Uncertainty u = of_kinds(0.0, 0.0);
  double last = 1.0;
  for (const double faster : {2.0, 1.2, 1.05, 1.001, 1.0}) {
    const UncertainSum before = sum_of({{ErrorKind::moe, 1.0}, {ErrorKind::gemm, 1.0}});
    const UncertainSum after = sum_of({{ErrorKind::moe, 1.0 / faster}, {ErrorKind::gemm, 1.0}});
    const Spread gain = ratio_spread(before, base::Seconds::from_si(2.0), u, after,
                                     base::Seconds::from_si(1.0 + 1.0 / faster), u);
    CHECK(gain.below < last);
    CHECK(gain.below < faster - 1.0 + 1e-12);
    last = gain.below;
  }
  CHECK(last == 0.0);
}

TEST_CASE("A kind that appears has all of its error in the gain", "[unit]") {
  const Uncertainty u = of_kinds(0.0, 0.0);
  const auto second = base::Seconds::from_si(1.0);
  const Spread gain =
      ratio_spread(UncertainSum{}, second, u, sum_of({{ErrorKind::nccl, 0.1}}), second, u);
  CHECK(gain.below == Approx(1.0 - std::exp(-0.1 * 0.5)));
  CHECK(gain.above == Approx(std::exp(0.1 * 0.2) - 1.0));
}

TEST_CASE("Operators err like the kind that was measured of them", "[unit]") {
  using namespace workloads;
  PrefillAttention latent;
  latent.heads.qk_dim = 192;
  latent.heads.value_dim = 128;
  CHECK(error_kind(latent, 8) == ErrorKind::mla_context);
  Collective reduce;
  CHECK(error_kind(reduce, 8) == ErrorKind::nccl);
  reduce.ranks = 16;
  CHECK(error_kind(reduce, 8) == ErrorKind::nccl_hosts);
  CHECK(error_kind(reduce, 72) == ErrorKind::nccl);
  reduce.ranks = 4;
  reduce.stride = 4;  // two in each domain
  CHECK(error_kind(reduce, 8) == ErrorKind::nccl_hosts);
  reduce = {};
  reduce.custom = AllReduceKernels::barriers;
  CHECK(error_kind(reduce, 8) == ErrorKind::custom_allreduce);
  Collective exchange;
  exchange.kind = CollectiveKind::all_to_all;
  exchange.copies = 8;
  CHECK(error_kind(exchange, 8) == ErrorKind::deepep_ll);
  exchange.deduplicated = true;
  CHECK(error_kind(exchange, 8) == ErrorKind::deepep_normal);
  exchange.custom = AllReduceKernels::flags;
  CHECK(error_kind(exchange, 8) == ErrorKind::trtllm_alltoall);
  RecurrentHeads delta;
  delta.kind = Recurrence::delta;
  CHECK(error_kind(StateUpdate{delta, 1, 1}, 8) == ErrorKind::gdn);
}

TEST_CASE("Every kind of operators has an error in the generic calibration", "[unit]") {
  const sim::Scenario scenario = sim::read_scenario(base::parse_document(
      "scenario", "system: {base: hgx_h200, calibration: generic}\n" + kServed));
  const Uncertainty& u = scenario.platform.machine.uncertainty;
  for (std::size_t k = 0; k < kErrorKinds; ++k) {
    INFO(name(static_cast<ErrorKind>(k)));
    CHECK(u.kinds[k].above > 0.0);
    CHECK(u.kinds[k].below > 0.0);
  }
}

TEST_CASE("A changed chip is less certain than the measured one", "[unit]") {
  const auto own = estimate("system: hgx_h200\n" + kServed);
  const auto changed = estimate("system: {base: hgx_h200, chip.hbm.bandwidth: x8}\n" + kServed);
  CHECK(changed.steady.tpot_spread.above > 1.2 * own.steady.tpot_spread.above);
  CHECK(changed.steady.ttft_spread.below > 1.2 * own.steady.ttft_spread.below);
  CHECK(changed.spreads.rate.below > own.spreads.rate.below);
}

TEST_CASE("A metric lies inside its 90 % interval", "[unit]") {
  const auto e = estimate("system: hgx_b200\n" + kServed);
  int with_interval = 0;
  for (const sim::Metric& metric : sim::metrics()) {
    const auto [low, high] = sim::interval90(metric, e);
    if (!std::isnan(low)) {
      INFO(metric.name);
      CHECK(low < metric.value(e));
      CHECK(metric.value(e) < high);
      CHECK(low > 0.0);
      ++with_interval;
    }
  }
  CHECK(with_interval == 6);
}

}  // namespace roofcast::models::unit_models_uncertainty
