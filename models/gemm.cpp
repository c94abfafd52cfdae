// SPDX-License-Identifier: Apache-2.0
#include "models/gemm.hpp"

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
constexpr std::int64_t kSplits[] = {1, 2, 4, 8, 16};
constexpr std::int64_t kDepthStep = 64;  // k is consumed in steps of one shared-memory stage
constexpr double kLeastDepth = 256.0;    // a part of k is never shallower
constexpr double kPartialBytes = 8.0;    // one fp32 partial sum written and read

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

double waves_of(double ctas, const Machine& machine) {
  const double waves = ctas / machine.sms;
  if (waves <= 1.0) {
    return 1.0;
  }
  return waves + machine.calibration.wave_tail * (std::ceil(waves) - waves);
}

// The work of one CTA in the units the machine's rates turn into seconds.
struct Tile {
  double flop = 0;
  double bytes = 0;
};

struct Terms {
  double compute = 0;
  double dram = 0;
  double l2 = 0;
};

// `busy`: CTAs' worth of useful work, which keep loads in flight; padding does not.
Terms terms_of(Tile tile, double ctas, double busy, double tensor_rate, double dram_bytes,
               double partial_bytes, const Machine& machine) {
  const double waves = waves_of(ctas, machine);
  Terms terms;
  terms.compute = waves * tile.flop * machine.sms / tensor_rate;
  terms.l2 = (waves * tile.bytes * machine.sms + partial_bytes) / machine.l2.si();
  terms.dram = dram_bytes / machine.dram_rate(busy).si();
  return terms;
}

// What `rows` padded rows in tiles of bm cannot be faster than, whatever their width and split: whole
// waves of the widest tiles, DRAM at its streaming rate.
Terms least_terms(double rows, std::int64_t bm, double n, double depth, double a_bytes,
                  double w_bytes, double tensor_rate, double dram_bytes, const Machine& machine) {
  const double products = rows * n * depth;
  Terms terms;
  terms.compute = 2.0 * products / tensor_rate;
  terms.l2 =
      products *
      (a_bytes / static_cast<double>(kWeightTiles.back()) + w_bytes / static_cast<double>(bm)) /
      machine.l2.si();
  terms.dram = dram_bytes / machine.dram.si();
  return terms;
}

double useful(std::int64_t size, std::int64_t tile) {
  return std::max(1.0, static_cast<double>(size) / static_cast<double>(tile));
}

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

// The fastest of the tilings it is shown. Because each is monotone in the machine's rates and in the
// shape, so is the fastest.
class Fastest {
 public:
  explicit Fastest(double overlap_exponent) : exponent_(overlap_exponent) {}
  void consider(const Terms& terms) {
    const double sum = power_sum(terms, exponent_);
    if (sum < least_) {
      least_ = sum;
      best_ = terms;
    }
  }
  // Whether something that takes at least these terms could still be faster.
  bool beatable(const Terms& least) const { return power_sum(least, exponent_) < least_; }
  const Terms& terms() const { return best_; }

 private:
  double exponent_;
  double least_ = std::numeric_limits<double>::infinity();
  Terms best_;
};

Cost cost_of_terms(const Terms& terms, double trips, const Work& work, const Machine& machine) {
  Cost cost;
  cost.launch = machine.calibration.launch;
  cost.fill = trips * machine.dram_latency;
  cost.compute = Seconds::from_si(terms.compute);
  cost.dram = Seconds::from_si(terms.dram);
  cost.l2 = Seconds::from_si(terms.l2);
  cost.flop = work.flop;
  cost.dram_bytes = work.bytes;
  combine(cost, machine.calibration.overlap_exponent);
  return cost;
}

}  // namespace

Cost gemm_cost(const workloads::Gemm& op, const Machine& machine) {
  const Work work = gemm_work(op);
  const double rate = machine.tensor_rate(base::math_of(op.activations, op.weights)).si();
  const double a_bytes = base::bits(op.activations) / 8.0;
  const double w_bytes = base::bits(op.weights) / 8.0;
  const std::int64_t depth = ceil_div(op.k, kDepthStep) * kDepthStep;
  const double most_parts = std::max(1.0, static_cast<double>(depth) / kLeastDepth);
  Fastest best(machine.calibration.overlap_exponent);
  // From the smallest tile that holds every row, which beats all larger ones in every term, down to a
  // quarter of the rows: smaller ones are never fast.
  std::size_t next = 1;
  while (next < kTokenTiles.size() && kTokenTiles[next - 1] < op.m) {
    ++next;
  }
  while (next > 0) {
    const std::int64_t bm = kTokenTiles[--next];
    if (bm < 128 && 4 * bm < op.m) {
      break;
    }
    const double rows = static_cast<double>(ceil_div(op.m, bm) * bm * op.batch);
    if (!best.beatable(least_terms(rows, bm, static_cast<double>(op.n), static_cast<double>(depth),
                                   a_bytes, w_bytes, rate, work.bytes.si(), machine))) {
      continue;
    }
    for (const std::int64_t bn : kWeightTiles) {
      const std::int64_t tiles = ceil_div(op.m, bm) * ceil_div(op.n, bn) * op.batch;
      for (const std::int64_t split : kSplits) {
        const double parts = std::min(static_cast<double>(split), most_parts);
        const double ctas = static_cast<double>(tiles) * parts;
        if (split > 1 && (ctas > 2.0 * machine.sms || parts <= 1.0)) {
          break;
        }
        const double part = static_cast<double>(depth) / parts;
        const Tile tile{
            2.0 * static_cast<double>(bm * bn) * part,
            (static_cast<double>(bm) * a_bytes + static_cast<double>(bn) * w_bytes) * part};
        const double partial =
            split == 1 ? 0.0 : kPartialBytes * static_cast<double>(op.m * op.n * op.batch) * parts;
        const double busy =
            useful(op.m, bm) * useful(op.n, bn) * static_cast<double>(op.batch) * parts;
        best.consider(terms_of(tile, ctas, busy, rate, work.bytes.si(), partial, machine));
      }
    }
  }
  return cost_of_terms(best.terms(), machine.calibration.gemm_fill_trips, work, machine);
}

Cost grouped_gemm_cost(const workloads::GroupedGemm& op, const Machine& machine) {
  const Work work = grouped_gemm_work(op);
  const double rate = machine.tensor_rate(base::math_of(op.activations, op.weights)).si() *
                      machine.calibration.grouped_gemm_efficiency;
  const double a_bytes = base::bits(op.activations) / 8.0;
  const double w_bytes = base::bits(op.weights) / 8.0;
  const auto depth = static_cast<double>(ceil_div(op.k, kDepthStep) * kDepthStep);
  const double rows = op.distinct > 0.0 ? op.pairs / op.distinct : 0.0;
  Fastest best(machine.calibration.overlap_exponent);
  std::size_t next = 1;  // as above; half a tile is lost
  while (next < kTokenTiles.size() && static_cast<double>(kTokenTiles[next - 1]) < 2.0 * rows) {
    ++next;
  }
  while (next > 0) {
    const std::int64_t bm = kTokenTiles[--next];
    const double fit = rows / static_cast<double>(bm);
    const double tiles_m = op.distinct * std::max(1.0, fit + 0.5);
    if (!best.beatable(least_terms(tiles_m * static_cast<double>(bm), bm, static_cast<double>(op.n),
                                   depth, a_bytes, w_bytes, rate, work.bytes.si(), machine))) {
      continue;
    }
    for (const std::int64_t bn : kWeightTiles) {
      const double ctas = tiles_m * static_cast<double>(ceil_div(op.n, bn));
      const Tile tile{
          2.0 * static_cast<double>(bm * bn) * depth,
          (static_cast<double>(bm) * a_bytes + static_cast<double>(bn) * w_bytes) * depth};
      best.consider(terms_of(tile, ctas, ctas, rate, work.bytes.si(), 0.0, machine));
    }
  }
  return cost_of_terms(best.terms(), machine.calibration.gemm_fill_trips, work, machine);
}

}  // namespace roofcast::models
