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
constexpr double kOutputBytes = 2.0;     // bf16
constexpr double kPartialBytes = 8.0;    // one fp32 partial sum written and read
constexpr double kStepBytes = 128.0;     // depth of one step of the main loop, in the wider operand
constexpr double kResidentShare = 0.8;   // of the L2, what a loop may touch and still hit

// Kernels that scale blocks as they go are not split along the depth.
bool block_scaled(base::NumberFormat format) {
  return format == base::NumberFormat::fp8_block || format == base::NumberFormat::nvfp4 ||
         format == base::NumberFormat::mxfp4;
}

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
  double least_time = 0;  // its steps of depth one after the other
};

struct Terms {
  double compute = 0;
  double dram = 0;
  double l2 = 0;
  double added = 0;  // what overlaps with nothing
};

Terms terms_of(Tile tile, double waves, double tensor_rate, double dram_time, double partial_bytes,
               const Machine& machine) {
  Terms terms;
  terms.compute = waves * std::max(tile.flop * machine.sms / tensor_rate, tile.least_time);
  terms.l2 = (waves * tile.bytes * machine.sms + partial_bytes) / machine.l2.si();
  terms.dram = dram_time;
  return terms;
}

// What `rows` padded rows in tiles of bm cannot be faster than, whatever their width and split: whole
// waves of the widest tiles, DRAM at its streaming rate. An operand's bytes are those of an element
// on its way through the L2.
Terms least_terms(double rows, double bm, double n, double depth, double a_bytes, double w_bytes,
                  double tensor_rate, double dram_bytes, const Machine& machine) {
  const double products = rows * n * depth;
  Terms terms;
  terms.compute = 2.0 * products / tensor_rate;
  terms.l2 = products * (a_bytes / static_cast<double>(kWeightTiles.back()) + w_bytes / bm) /
             machine.l2.si();
  terms.dram = dram_bytes / machine.dram.si();
  return terms;
}

double useful(std::int64_t size, std::int64_t tile) {
  return std::max(1.0, static_cast<double>(size) / static_cast<double>(tile));
}

double time_of(const Terms& t, double p) {
  if (p == 4.0) {
    const double c = t.compute * t.compute;
    const double d = t.dram * t.dram;
    const double l = t.l2 * t.l2;
    return std::sqrt(std::sqrt(c * c + d * d + l * l)) + t.added;
  }
  const double sum = std::pow(t.compute, p) + std::pow(t.dram, p) + std::pow(t.l2, p);
  return std::pow(sum, 1.0 / p) + t.added;
}

// The fastest of the tilings it is shown. Because each is monotone in the machine's rates and in the
// shape, so is the fastest.
class Fastest {
 public:
  explicit Fastest(double overlap_exponent) : exponent_(overlap_exponent) {}
  void consider(const Terms& terms) {
    if (std::max({terms.compute, terms.dram, terms.l2}) + terms.added >= least_) {
      return;
    }
    const double time = time_of(terms, exponent_);
    if (time < least_) {
      least_ = time;
      best_ = terms;
    }
  }
  // Whether something that takes at least these terms could still be faster.
  bool beatable(const Terms& least) const { return time_of(least, exponent_) < least_; }
  double time() const { return least_; }
  const Terms& terms() const { return best_; }

 private:
  double exponent_;
  double least_ = std::numeric_limits<double>::infinity();
  Terms best_;
};

Cost cost_of_terms(const Terms& terms, double trips, const Work& work, const Machine& machine) {
  Cost cost;
  cost.launch = machine.calibration.launch;
  cost.fill = trips * machine.dram_latency + Seconds::from_si(terms.added);
  cost.compute = Seconds::from_si(terms.compute);
  cost.dram = Seconds::from_si(terms.dram);
  cost.l2 = Seconds::from_si(terms.l2);
  cost.flop = work.flop;
  cost.dram_bytes = work.bytes;
  combine(cost, machine.calibration.overlap_exponent);
  return cost;
}

// Whether the whole loop that `op` is part of runs out of the L2.
bool resident(const workloads::Gemm& op, const Work& work, const Machine& machine) {
  if (op.copies == 0) {
    return false;
  }
  const base::Bytes weights =
      base::bytes_of(static_cast<double>(op.n * op.k * op.batch), op.weights);
  return work.bytes + static_cast<double>(op.copies - 1) * weights <=
         kResidentShare * machine.l2_capacity;
}

}  // namespace

Cost gemm_cost(const workloads::Gemm& op, const Machine& machine) {
  const hardware::Calibration& c = machine.calibration;
  Work work = gemm_work(op);
  const auto count = [&](std::int64_t i, std::int64_t j) {
    return static_cast<double>(i * j * op.batch);
  };
  double weights = base::bytes_of(count(op.n, op.k), op.weights).si();
  double rows_in = base::bytes_of(count(op.m, op.k), op.activations).si();
  double rows_out = count(op.m, op.n) * kOutputBytes;
  if (resident(op, work, machine)) {
    work.bytes = {};
    weights = rows_in = rows_out = 0.0;
  }
  const bool blocks = op.activations == base::NumberFormat::fp8_block;
  const double rate = machine.tensor_rate(base::math_of(op.activations, op.weights)).si() *
                      (blocks ? c.gemm_block_scaling_efficiency : 1.0);
  const double a_bytes = base::bits(op.activations) / 8.0;
  const double w_bytes = base::bits(op.weights) / 8.0;
  const double latency = machine.dram_latency.si();
  const bool fp4 = base::math_of(op.activations, op.weights) == base::MathType::fp4;
  const double step_time = (fp4 ? c.gemm_fp4_step_trips : c.gemm_step_trips) * latency *
                           std::max(a_bytes, w_bytes) / kStepBytes;
  const double epilogue = c.gemm_epilogue_passes * kOutputBytes * machine.sms / machine.l2.si();
  const double split_time = c.gemm_split_trips * latency;
  const bool may_split = !block_scaled(op.activations);
  const double streaming = 1.0 / machine.dram.si();
  const double waiting = latency / c.in_flight_bytes_per_sm;
  const double l2_a = a_bytes / c.gemm_l2_sharing;
  const double l2_w = w_bytes / c.gemm_l2_sharing;
  const std::int64_t depth = ceil_div(op.k, kDepthStep) * kDepthStep;
  const double most_parts = std::max(1.0, static_cast<double>(depth) / kLeastDepth);
  Fastest best(c.overlap_exponent);
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
    const auto loaded_rows = static_cast<double>(std::min(bm, op.m));
    const double rows = static_cast<double>(ceil_div(op.m, bm) * bm * op.batch);
    Terms least = least_terms(
        rows, static_cast<double>(bm), static_cast<double>(op.n), static_cast<double>(depth),
        l2_a * loaded_rows / static_cast<double>(bm), l2_w, rate, work.bytes.si(), machine);
    least.added =
        epilogue * static_cast<double>(op.m * op.batch) * static_cast<double>(op.n) / machine.sms;
    if (!best.beatable(least)) {
      continue;
    }
    const double least_split = split_time + least.added + std::max(least.compute, least.dram);
    const double tall = useful(op.m, bm);
    for (const std::int64_t bn : kWeightTiles) {
      const std::int64_t tiles = ceil_div(op.m, bm) * ceil_div(op.n, bn) * op.batch;
      const double wide = useful(op.n, bn) * static_cast<double>(op.batch);
      for (const std::int64_t split : kSplits) {
        const double parts = std::min(static_cast<double>(split), most_parts);
        const double ctas = static_cast<double>(tiles) * parts;
        if (split > 1 && (ctas > 2.0 * machine.sms || parts <= 1.0 || !may_split ||
                          least_split >= best.time())) {
          break;
        }
        const double part = static_cast<double>(depth) / parts;
        const Tile tile{2.0 * static_cast<double>(bm * bn) * part,
                        (loaded_rows * l2_a + static_cast<double>(bn) * l2_w) * part,
                        step_time * part};
        const double partial =
            split == 1 ? 0.0 : kPartialBytes * static_cast<double>(op.m * op.n * op.batch) * parts;
        // CTAs' worth of useful work keep loads in flight; padding does not, nor do those that wait for
        // the same bytes.
        const auto dram_time = [&](double bytes, double active) {
          return bytes * std::max(streaming, waiting / std::min(active * parts, machine.sms));
        };
        const double dram =
            dram_time(weights, wide) + dram_time(rows_in, tall) + dram_time(rows_out, wide * tall);
        const double waves = waves_of(ctas, machine);
        Terms terms = terms_of(tile, waves, rate, dram, partial, machine);
        terms.added = (waves - 1.0) * c.gemm_wave_trips * latency +
                      waves * epilogue * loaded_rows * static_cast<double>(bn) +
                      (split == 1 ? 0.0 : split_time);
        best.consider(terms);
      }
    }
  }
  return cost_of_terms(best.terms(), c.gemm_fill_trips, work, machine);
}

}  // namespace roofcast::models
