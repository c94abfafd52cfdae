// SPDX-License-Identifier: Apache-2.0
#include "models/operators/grouped_gemm.hpp"

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"
#include "models/operators/anatomy.hpp"
#include "models/operators/tiling.hpp"

namespace roofcast::models {

// rate         FLOP/s  what the kernel reaches, products with zeros of sparse weights counted
// kept         –       share of the products that 2:4 sparse weights leave
// stream       B/s     what it reads weights with
// rows         –       mean of a distinct expert
// per_sm_flop  s       one FLOP on one SM
// l2_byte      s       one byte through the L2
// tiles_m      –       tiles along m of all experts
// products     –       multiply-adds with the padding of tiles
// depths       –       elements of depth that an SM works through
Cost grouped_gemm_cost(const workloads::GroupedGemm& op, const Machine& machine, Anatomy* anatomy,
                       const Tiling* cut) {
  const Work work = grouped_gemm_work(op);
  const hardware::Calibration& c = machine.calibration;
  const base::MathType math = base::math_of(op.activations, op.weights);
  const bool blocks = op.activations == base::NumberFormat::fp8_block;
  const base::FlopsPerSecond rate = machine.tensor_rate(math) * machine.speedup(op.storage, math) *
                                    c.grouped_gemm_efficiency *
                                    (blocks ? c.gemm_block_scaling_efficiency : 1.0);
  const double kept = op.storage.sparse ? 0.5 : 1.0;
  const base::BytesPerSecond stream = c.expert_stream_efficiency * machine.dram;
  const double a_bytes = base::bits(op.activations) / 8.0;
  const double w_bytes = base::bits(op.weights, op.storage) / 8.0;
  const auto n = static_cast<double>(op.n);
  const auto depth = static_cast<double>(base::ceil_div(op.k, kDepthStep) * kDepthStep);
  const double rows = op.distinct > 0.0 ? op.pairs / op.distinct : 0.0;
  const base::Seconds per_sm_flop = machine.sms * base::flop / rate;
  const base::Seconds l2_byte = base::byte / machine.l2;
  Fastest best(c.overlap_exponent);
  // Larger tiles than the smallest one with room for all rows and the lost half tile are never faster.
  std::size_t last = 1;
  while (last < kTokenTiles.size() && static_cast<double>(kTokenTiles[last - 1]) < 2.0 * rows) {
    ++last;
  }
  if (cut != nullptr) {
    last = kTokenTiles.size();
  }
  const auto tried = [&](std::int64_t tall, std::int64_t wide) {
    if (cut != nullptr) {
      return tall == cut->rows && wide == cut->columns;
    }
    return !machine.tile_room.binds || is_smallest(tall, wide) ||
           machine.tile_room.holds(static_cast<double>(tall), static_cast<double>(wide), a_bytes,
                                   w_bytes);
  };
  const auto widest = static_cast<double>(kWeightTiles.back());
  for (std::size_t i = last; i > 0; --i) {
    const auto bm = static_cast<double>(kTokenTiles[i - 1]);
    const double tiles_m =
        op.distinct * (op.even ? std::ceil(rows / bm) : std::max(1.0, rows / bm + 0.5));
    // No width can beat this bound: the widest tiles in whole waves, weights at their streaming rate.
    const double products = tiles_m * bm * n * depth;
    if (!best.beatable({2.0 * products * base::flop / rate,
                        work.bytes / stream,
                        products * (a_bytes / widest + w_bytes / bm) * l2_byte,
                        {}})) {
      continue;
    }
    for (const std::int64_t width : kWeightTiles) {
      const auto bn = static_cast<double>(width);
      if (!tried(kTokenTiles[i - 1], width)) {
        continue;
      }
      const double ctas = tiles_m * static_cast<double>(base::ceil_div(op.n, width));
      const double depths = waves_of(ctas, machine) * depth;
      best.consider({depths * 2.0 * bm * bn * per_sm_flop,
                     work.bytes / base::min(stream, machine.dram_rate(ctas)),
                     depths * (bm * a_bytes + bn * w_bytes) * l2_sharers(ctas, machine) * l2_byte,
                     {}},
                    {kTokenTiles[i - 1], width, ctas, 1.0});
    }
  }
  const Cost cost = tiled_cost(best.terms(), work, machine);
  if (anatomy != nullptr) {
    const Tiling& t = best.tiling();
    const auto bm = static_cast<double>(t.rows);
    const auto bn = static_cast<double>(t.columns);
    const double sparse = op.storage.sparse ? machine.sparsity / 2.0 : 1.0;
    explain_tiles(*anatomy, t, work, machine, sparse * machine.peak[static_cast<std::size_t>(math)],
                  kept * rate, 2.0 * kept * t.tiles * bm * bn * depth * base::flop,
                  depth * (bm * a_bytes + bn * w_bytes) * l2_byte);
    anatomy->loading = t.tiles;
    anatomy->buffer_bytes = machine.tile_room.buffers(bm, bn, a_bytes, w_bytes);
    anatomy->step_bytes = static_cast<double>(kDepthStep) * (bm * a_bytes + bn * w_bytes);
    anatomy->add(&Cost::fill, Cause::fill, "pipeline that fills and drains", cost.fill);
    anatomy->add_dram(cost, work.bytes, machine);
  }
  return cost;
}

std::string fault_of(const workloads::GroupedGemm& op, const Tiling& cut, const Machine& machine) {
  return cut.parts != 1.0 ? "kernels of experts do not cut the depth"
                          : tile_fault(cut, base::bits(op.activations) / 8.0,
                                       base::bits(op.weights, op.storage) / 8.0, machine);
}

}  // namespace roofcast::models
