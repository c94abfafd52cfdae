// SPDX-License-Identifier: Apache-2.0
//
// What GEMMs and grouped GEMMs have in common: tile shapes, waves, and the choice of the fastest tiling.
// The formulas are in gemm.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "models/operators/anatomy.hpp"
#include "models/smooth_maximum.hpp"
#include "models/work.hpp"

namespace roofcast::models {

struct Anatomy;

inline constexpr std::array<std::int64_t, 7> kTokenTiles = {16, 24, 32, 48, 64, 128, 256};
inline constexpr std::array<std::int64_t, 3> kWeightTiles = {64, 128, 256};
static_assert(kTokenTiles.back() == kLargestTile && kWeightTiles.back() == kLargestTile);
// Kernels with less room for a tile than this one needs are not known: it is always tried.
inline constexpr bool is_smallest(std::int64_t rows, std::int64_t columns) {
  return rows == kTokenTiles.front() && columns == kWeightTiles.front();
}
// The main loop takes the depth in steps of one shared-memory stage.
inline constexpr std::int64_t kDepthStep = 64;

// The waves that `ctas` take, at least 1. `wave_tail` of the idle part of the last wave is lost.
inline double waves_of(double ctas, const Machine& machine) {
  const double waves = ctas / machine.sms;
  if (waves <= 1.0) {
    return 1.0;
  }
  auto whole = static_cast<double>(static_cast<std::int64_t>(waves));
  whole += whole < waves ? 1.0 : 0.0;
  return waves + machine.calibration.wave_tail * (whole - waves);
}

// The thread blocks of a wave that share the rate of the L2.
inline double l2_sharers(double ctas, const Machine& machine) {
  return std::max(std::min(ctas, machine.sms), machine.l2_sms);
}

// How the output and the depth are cut.
struct Tiling {
  std::int64_t rows = 0, columns = 0;  // of a tile
  double tiles = 0;
  double parts = 1;  // of the depth
};

// The time of one tiling.
struct Terms {
  base::Seconds compute;
  base::Seconds dram;
  base::Seconds l2;
  base::Seconds added;  // overlapped with nothing
};

// The fastest of the tilings it has seen: the least smooth maximum plus `added`. Each tiling is monotone in the rates
// of the machine and in the shape, so the fastest is too.
class Fastest {
 public:
  explicit Fastest(double overlap_exponent) : exponent_(overlap_exponent) {}

  void consider(const Terms& terms, const Tiling& tiling) {
    if (beatable(terms)) {
      time_ = overlapped(terms) + terms.added;
      best_ = terms;
      tiling_ = tiling;
    }
  }
  // Whether a tiling that takes at least these terms could still be the fastest. Comparing fourth powers needs no root.
  bool beatable(const Terms& t) const {
    const base::Seconds left = time_ - t.added;
    if (exponent_ != 4.0) {
      return overlapped(t) < left;
    }
    return left > base::Seconds{} &&
           fourth_power(t.compute.si()) + fourth_power(t.dram.si()) + fourth_power(t.l2.si()) <
               fourth_power(left.si());
  }
  base::Seconds time() const { return time_; }  // infinite before there is one
  const Terms& terms() const { return best_; }
  const Tiling& tiling() const { return tiling_; }

 private:
  base::Seconds overlapped(const Terms& t) const {
    return base::Seconds::from_si(
        smooth_maximum(t.compute.si(), t.dram.si(), t.l2.si(), exponent_));
  }

  double exponent_;
  base::Seconds time_ = base::Seconds::infinity();
  Terms best_;
  Tiling tiling_;
};

// Why there is no such tile, or an SM has no room for it; empty where there is.
std::string tile_fault(const Tiling& tile, double a_bytes, double w_bytes, const Machine& machine);

// The cost of one kernel with these terms.
Cost tiled_cost(const Terms& terms, const Work& work, const Machine& machine);

// What the parts of the compute and L2 terms of both kinds of GEMM have in common.
//
//   peak, rate  FLOP/s  of the tensor cores: dense, and what the kernel reaches
//   padded      FLOP    with the padding of tiles
//   l2          s       the operands of one thread block at the rate of the whole L2
void explain_tiles(Anatomy& anatomy, const Tiling& tiling, const Work& work, const Machine& machine,
                   base::FlopsPerSecond peak, base::FlopsPerSecond rate, base::Flops padded,
                   base::Seconds l2, Cause products_by = Cause::tensor);

}  // namespace roofcast::models
