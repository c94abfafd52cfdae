// SPDX-License-Identifier: Apache-2.0
#include "models/grouped_gemm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "models/work.hpp"

namespace roofcast::models {
namespace {

using base::Seconds;

constexpr std::array<std::int64_t, 7> kTokenTiles = {16, 24, 32, 48, 64, 128, 256};
constexpr std::array<std::int64_t, 3> kWeightTiles = {64, 128, 256};
constexpr std::int64_t kDepthStep = 64;  // k is consumed in steps of one shared-memory stage

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

double waves_of(double ctas, const Machine& machine) {
  const double waves = ctas / machine.sms;
  if (waves <= 1.0) {
    return 1.0;
  }
  return waves + machine.calibration.wave_tail * (std::ceil(waves) - waves);
}

struct Terms {
  double compute = 0;
  double dram = 0;
  double l2 = 0;
};

// Orders tilings as their smooth maxima are ordered, without the root.
double power_sum(const Terms& t, double p) {
  if (p == 4.0) {
    const double c = t.compute * t.compute;
    const double d = t.dram * t.dram;
    const double l = t.l2 * t.l2;
    return c * c + d * d + l * l;
  }
  return std::pow(t.compute, p) + std::pow(t.dram, p) + std::pow(t.l2, p);
}

}  // namespace

Cost grouped_gemm_cost(const workloads::GroupedGemm& op, const Machine& machine) {
  const Work work = grouped_gemm_work(op);
  const double rate = machine.tensor_rate(base::math_of(op.activations, op.weights)).si() *
                      machine.calibration.grouped_gemm_efficiency;
  const base::BytesPerSecond stream = machine.calibration.expert_stream_efficiency * machine.dram;
  const double a_bytes = base::bits(op.activations) / 8.0;
  const double w_bytes = base::bits(op.weights) / 8.0;
  const auto depth = static_cast<double>(ceil_div(op.k, kDepthStep) * kDepthStep);
  const double rows = op.distinct > 0.0 ? op.pairs / op.distinct : 0.0;
  const double exponent = machine.calibration.overlap_exponent;
  Terms best;
  double least = std::numeric_limits<double>::infinity();
  // Up to the smallest tile that holds every row; half a tile is lost.
  std::size_t last = 1;
  while (last < kTokenTiles.size() && static_cast<double>(kTokenTiles[last - 1]) < 2.0 * rows) {
    ++last;
  }
  const auto widest = static_cast<double>(kWeightTiles.back());
  for (std::size_t i = last; i > 0; --i) {
    const auto bm = static_cast<double>(kTokenTiles[i - 1]);
    const double tiles_m = op.distinct * std::max(1.0, rows / bm + 0.5);
    // What no width can beat: whole waves of the widest tiles, weights at their streaming rate.
    const double products = tiles_m * bm * static_cast<double>(op.n) * depth;
    const Terms bound{2.0 * products / rate, work.bytes.si() / stream.si(),
                      products * (a_bytes / widest + w_bytes / bm) / machine.l2.si()};
    if (power_sum(bound, exponent) >= least) {
      continue;
    }
    for (const std::int64_t width : kWeightTiles) {
      const auto bn = static_cast<double>(width);
      const double ctas = tiles_m * static_cast<double>(ceil_div(op.n, width));
      const double waves = waves_of(ctas, machine);
      const Terms terms{
          waves * 2.0 * bm * bn * depth * machine.sms / rate,
          work.bytes.si() / base::min(stream, machine.dram_rate(ctas)).si(),
          waves * (bm * a_bytes + bn * w_bytes) * depth * machine.sms / machine.l2.si()};
      const double sum = power_sum(terms, exponent);
      if (sum < least) {
        least = sum;
        best = terms;
      }
    }
  }
  Cost cost;
  cost.launch = machine.calibration.launch;
  cost.fill = machine.calibration.gemm_fill_trips * machine.dram_latency;
  cost.compute = Seconds::from_si(best.compute);
  cost.dram = Seconds::from_si(best.dram);
  cost.l2 = Seconds::from_si(best.l2);
  cost.flop = work.flop;
  cost.dram_bytes = work.bytes;
  combine(cost, exponent);
  return cost;
}

}  // namespace roofcast::models
