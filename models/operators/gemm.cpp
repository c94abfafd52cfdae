// SPDX-License-Identifier: Apache-2.0
#include "models/operators/gemm.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/integers.hpp"
#include "models/operators/anatomy.hpp"
#include "models/operators/fixed_tiles.hpp"
#include "models/operators/tiling.hpp"

namespace roofcast::models {
namespace {

using base::as_double;
using base::ceil_div;
using base::Seconds;
using workloads::Gemm;
using workloads::kHiddenBytes;

constexpr double kSplits[] = {2.0, 4.0, 8.0, 16.0};
constexpr double kLeastDepth = 256.0;  // the least depth of a part of k
constexpr double kPartialBytes = 8.0;  // one fp32 partial sum, written and read
constexpr double kStepBytes = 128.0;   // depth of one step of the main loop, in the wider operand
constexpr double kWidenedBits = 4.0;   // of the weights that widened_per_sm_clock counts
constexpr double kLoopShare = 0.8;     // share of the L2 that a loop may touch and still hit

// Kernels for these formats scale blocks as they go. They are not split along the depth.
bool block_scaled(base::NumberFormat format) {
  return format == base::NumberFormat::fp8_block || format == base::NumberFormat::nvfp4 ||
         format == base::NumberFormat::mxfp4;
}

// Whether the L2 holds everything that the benchmark's loop around `op` touches.
bool resident(const Gemm& op, const Work& work, const Machine& machine) {
  if (op.copies == 0) {
    return false;
  }
  const base::Bytes weights =
      base::bytes_of(as_double(op.n * op.k * op.batch), op.weights, op.storage);
  return work.bytes + as_double(op.copies - 1) * weights <= kLoopShare * machine.l2_capacity;
}

// Batches have kernels of their own.
TileRule rule_of(const Gemm& op, const Machine& machine) {
  return op.batch == 1 && op.activations == op.weights && !op.storage.sparse
             ? machine.tile_rules[static_cast<std::size_t>(op.activations)]
             : TileRule::none;
}

// Time of the loads of one operand. 1/share CTAs load different bytes of it.
struct Loads {
  Seconds full;   // when all SMs load, at most the streaming rate
  Seconds alone;  // when one CTA loads
  Seconds by(double share) const { return base::max(full, alone * share); }
};

// Searches the tile shapes and splits of one GEMM. Everything that does not depend on them is computed once:
//
//   rows_         –  m · batch
//   outputs_      –  elements of the output
//   columns_      –  tiles of the widest kind along n, an SM
//   depth_        –  k, padded
//   most_parts_   –  the most parts of k
//   flop_time_    s  one FLOP with all tensor cores
//   l2_a_, l2_w_  s  one element of the activations, of the weights, through the L2
//   partial_time_ s  the partial sums of one part through the L2
//   epilogue_     s  one output, not overlapped
//   absent_       s  one element of an absent row, of one tile
//   absent_time_  s  all absent rows of the tiling
//   step_time_    s  the least time of one element of depth of a tile (Little's law)
//   widen_time_   s  one weight that an SM widens to the format of the activations
//   kept_         –  share of the products that 2:4 sparse weights leave
//   wave_time_    s  between two waves
//   split_time_   s  the second kernel of a split
//   least_dram_   s  all bytes at the streaming rate
//   added_room_   s  by which the tiles that fit are faster than the library's own, which does not fit
//   weights_, rows_in_, rows_out_   the loads of the operands, the stores of the output
class Search {
 public:
  // `dram_bytes`: all bytes of the operator, or none where the L2 holds them.
  Search(const Gemm& op, base::Bytes dram_bytes, const Machine& machine)
      : machine_(machine), m_(op.m), n_(op.n), best_(machine.calibration.overlap_exponent) {
    const hardware::Calibration& c = machine.calibration;
    const base::MathType math = base::math_of(op.activations, op.weights);
    const double a_bytes = base::bits(op.activations) / 8.0;
    const double w_bytes = base::bits(op.weights, op.storage) / 8.0;
    const double w_bits = base::element_bits(op.weights);
    const Seconds latency = machine.dram_latency;
    const Seconds l2_time = base::byte / machine.l2;
    const bool blocks = op.activations == base::NumberFormat::fp8_block;
    const bool fp4 = math == base::MathType::fp4;
    batch_ = as_double(op.batch);
    rows_ = as_double(op.m) * batch_;
    outputs_ = rows_ * as_double(op.n);
    columns_ = as_double(ceil_div(op.n, kWeightTiles.back())) / machine.sms;
    a_bytes_ = a_bytes;
    w_bytes_ = w_bytes;
    depth_ = as_double(ceil_div(op.k, kDepthStep) * kDepthStep);
    most_parts_ = block_scaled(op.activations) ? 1.0 : depth_ / kLeastDepth;
    flop_time_ = base::flop / (machine.tensor_rate(math) * machine.speedup(op.storage, math) *
                               (blocks ? c.gemm_block_scaling_efficiency : 1.0));
    kept_ = op.storage.sparse ? 0.5 : 1.0;
    if (w_bits < base::element_bits(op.activations) && c.gemm_widened_per_sm_clock > 0.0) {
      widen_time_ = kWidenedBits / w_bits / (c.gemm_widened_per_sm_clock * machine.clock);
    }
    l2_a_ = a_bytes / c.gemm_l2_sharing * l2_time;
    l2_w_ = w_bytes / c.gemm_l2_sharing * l2_time;
    partial_time_ = kPartialBytes * outputs_ * l2_time;
    epilogue_ = c.gemm_epilogue_passes * kHiddenBytes * l2_time;
    absent_ = c.gemm_absent_row_reads * a_bytes * l2_time;
    step_time_ = (fp4 ? c.gemm_fp4_step_trips : c.gemm_step_trips) * latency *
                 (std::max(a_bytes, w_bytes) / kStepBytes);
    wave_time_ = c.gemm_wave_trips * latency;
    split_time_ = c.gemm_split_trips * latency;
    least_dram_ = dram_bytes / machine.dram;
    if (dram_bytes > base::Bytes{}) {
      const Seconds alone = latency / c.in_flight_bytes_per_sm;
      const Seconds full = base::max(base::byte / machine.dram, alone / machine.sms);
      const auto loads = [&](double bytes) { return Loads{bytes * full, bytes * alone}; };
      weights_ = loads(as_double(op.n) * as_double(op.k) * batch_ * w_bytes);
      rows_in_ = loads(rows_ * as_double(op.k) * a_bytes);
      rows_out_ = loads(outputs_ * kHiddenBytes);
    }
  }

  // The smallest tile that holds every row is at least as fast as all larger ones in every term. The search begins
  // there and ends at a quarter of the rows: smaller tiles are never fast.
  Terms fastest() {
    std::size_t next = 1;
    while (next < kTokenTiles.size() && kTokenTiles[next - 1] < m_) {
      ++next;
    }
    while (next > 0) {
      const std::int64_t bm = kTokenTiles[--next];
      if (bm < 128 && 4 * bm < m_) {
        break;
      }
      try_rows(bm);
    }
    return best_.terms();
  }

  // The tiling that the rule of a kernel takes.
  Terms fixed(const FixedTiles& fixed) {
    const Tiling& t = fixed.tiling;
    absent_time_ = fixed.absent_rows * as_double(ceil_div(n_, t.columns)) * depth_ * absent_;
    Terms all = terms(t.rows, t.columns, t.tiles, 1.0);
    all.compute += absent_time_;
    best_.consider(all, t);
    return best_.terms();
  }

  // The fastest of the tiles that an SM has room for; `whole` is the least that they may take.
  Terms fitting(Seconds whole) {
    only_fitting_ = true;
    for (std::size_t i = kTokenTiles.size(); i > 0; --i) {
      try_rows(kTokenTiles[i - 1]);
    }
    added_room_ = base::max(Seconds{}, whole - best_.time());
    Terms all = best_.terms();
    all.added += added_room_;
    return all;
  }
  // Of the compute term: steps along k that wait for each other.
  Seconds waiting() const {
    const Tiling& t = best_.tiling();
    const Seconds products = 2.0 * as_double(t.rows * t.columns) * machine_.sms * flop_time_;
    return waves_of(t.tiles * t.parts, machine_) * (depth_ / t.parts) *
           base::max(Seconds{}, step_time_ - products);
  }
  bool fits() const { return has_room(best_.tiling().rows, best_.tiling().columns); }
  Seconds time() const { return best_.time(); }

  // This tiling alone.
  Terms only(const Tiling& cut) {
    const double tiles =
        as_double(ceil_div(m_, cut.rows)) * batch_ * as_double(ceil_div(n_, cut.columns));
    best_.consider(terms(cut.rows, cut.columns, tiles, cut.parts),
                   {cut.rows, cut.columns, tiles, cut.parts});
    return best_.terms();
  }

  // How the fastest tiling runs.
  void explain(Anatomy& a, const Work& work, base::FlopsPerSecond peak, Cause products) const {
    const Tiling& t = best_.tiling();
    const auto height = as_double(t.rows);
    const auto width = as_double(t.columns);
    const double loaded = as_double(std::min(t.rows, m_));
    const double waves = waves_of(t.tiles * t.parts, machine_);
    const double depth = depth_ / t.parts;
    explain_tiles(a, t, work, machine_, peak, kept_ * base::flop / flop_time_,
                  2.0 * kept_ * t.tiles * height * width * depth_ * base::flop,
                  depth * (loaded * l2_a_ + width * l2_w_), products);
    if (waiting() > Seconds{}) {  // then products set no pace, whatever they take
      std::erase_if(a.parts, [](const Part& part) { return part.term == &Cost::compute; });
      a.add(&Cost::compute, Cause::serial_depth, "steps along k that wait for each other",
            waves * depth * step_time_);
    }
    a.add(&Cost::compute, Cause::vector, "weights that are widened",
          waves * depth * width * widen_time_);
    a.add(&Cost::compute, Cause::padding, "rows of tiles beyond the last one", absent_time_);
    a.add(&Cost::fill, Cause::fill, "pipeline that fills and drains",
          machine_.calibration.gemm_fill_trips * machine_.dram_latency);
    a.add(&Cost::fill, Cause::fill, "one tile drains, the next one fills",
          (waves - 1.0) * wave_time_);
    a.add(&Cost::fill, Cause::kernel, "no room for the library's tile", added_room_);
    a.add(&Cost::fill, Cause::l2, "outputs of tiles, not overlapped",
          waves * epilogue_ * l2_sharers(t.tiles * t.parts, machine_) * loaded * width);
    if (t.parts > 1.0) {
      a.kernels += 1.0;
      a.add(&Cost::fill, Cause::launch, "kernel that adds up the parts of k", split_time_);
      a.add(&Cost::l2, Cause::l2, "partial sums", t.parts * partial_time_);
    }
    const double wide = std::min(1.0, width / as_double(n_)) / batch_ / t.parts;
    const double tall = loaded / as_double(m_) / t.parts;
    const Seconds waiting =
        weights_.full * wide + rows_in_.full * tall + rows_out_.full * wide * tall * t.parts;
    if (waiting > Seconds{}) {
      a.loading = (weights_.full + rows_in_.full + rows_out_.full) / waiting;
    }
  }

 private:
  bool has_room(std::int64_t bm, std::int64_t bn) const {
    return machine_.tile_room.holds(as_double(bm), as_double(bn), a_bytes_, w_bytes_);
  }

  // Tries tiles of bm rows in every width. `least` is less than any of them can take: the widest tiles in whole waves,
  // and DRAM at its streaming rate. If even that is too slow, all are skipped.
  //
  // row_tiles  –  tiles along m, of all of the batch
  // loaded     –  rows of a tile without padding
  void try_rows(std::int64_t bm) {
    const double row_tiles = as_double(ceil_div(m_, bm)) * batch_;
    const double loaded = as_double(std::min(bm, m_));
    const double products = row_tiles * as_double(n_) * depth_;
    constexpr double kWidest = as_double(kWeightTiles.back());
    Terms least{2.0 * products * as_double(bm) * flop_time_, least_dram_,
                products * (loaded * l2_a_ / kWidest + l2_w_),
                std::max(0.0, row_tiles * columns_ - 1.0) * wave_time_ + epilogue_ * outputs_};
    if (!best_.beatable(least)) {
      return;
    }
    least.added += split_time_;  // from here on `least` is a bound of split tilings
    for (const std::int64_t bn : kWeightTiles) {
      if (only_fitting_ && !is_smallest(bm, bn) && !has_room(bm, bn)) {
        continue;
      }
      const double tiles = row_tiles * as_double(ceil_div(n_, bn));
      best_.consider(terms(bm, bn, tiles, 1.0), {bm, bn, tiles, 1.0});
      if (most_parts_ <= 1.0) {
        continue;
      }
      for (const double split : kSplits) {
        const double parts = std::min(split, most_parts_);
        Terms floor = least;
        floor.l2 += parts * partial_time_;
        if (tiles * parts > 2.0 * machine_.sms || !best_.beatable(floor)) {
          break;
        }
        best_.consider(terms(bm, bn, tiles, parts), {bm, bn, tiles, parts});
      }
    }
  }

  // Of `tiles` tiles, the depth in `parts`. Useful work keeps loads in flight. Padding does not, and neither do CTAs that
  // wait for the same bytes.
  //
  // loaded     –  rows of a tile without padding
  // tall, wide –  share of the rows and of the columns that one tile covers: 1/tall · 1/wide CTAs do useful work
  // share      –  of the depth that one CTA computes
  // depths     –  elements of depth that an SM works through
  Terms terms(std::int64_t bm, std::int64_t bn, double tiles, double parts) const {
    const auto width = as_double(bn);
    const double loaded = as_double(std::min(bm, m_));
    const double tall = loaded / as_double(m_);
    const double wide = std::min(1.0, width / as_double(n_)) / batch_;
    const double share = 1.0 / parts;
    const double waves = waves_of(tiles * parts, machine_);
    const double depths = waves * depth_ * share;
    const Seconds compute =
        base::max(2.0 * as_double(bm) * width * machine_.sms * flop_time_, step_time_) +
        width * widen_time_;
    const double sharers = l2_sharers(tiles * parts, machine_);
    const Seconds l2 = (loaded * l2_a_ + width * l2_w_) * sharers;
    const Seconds end = epilogue_ * sharers * loaded * width;
    const Seconds dram =
        weights_.by(wide * share) + rows_in_.by(tall * share) + rows_out_.by(wide * tall * share);
    Terms t{depths * compute, dram, depths * l2, (waves - 1.0) * wave_time_ + waves * end};
    if (parts > 1.0) {
      t.l2 += parts * partial_time_;
      t.added += split_time_;
    }
    return t;
  }

  const Machine& machine_;
  const std::int64_t m_, n_;
  Fastest best_;
  double batch_ = 1, columns_ = 0, rows_ = 0, outputs_ = 0, depth_ = 0;
  double most_parts_ = 1;
  double a_bytes_ = 0, w_bytes_ = 0;
  bool only_fitting_ = false;
  Seconds added_room_;
  double kept_ = 1;
  Seconds flop_time_, l2_a_, l2_w_, partial_time_, epilogue_, widen_time_, absent_, absent_time_;
  Seconds step_time_, wave_time_, split_time_, least_dram_;
  Loads weights_, rows_in_, rows_out_;
};

}  // namespace

std::string fault_of(const Gemm& op, const Tiling& cut, const Machine& machine) {
  std::string fault = tile_fault(cut, base::bits(op.activations) / 8.0,
                                 base::bits(op.weights, op.storage) / 8.0, machine);
  if (!fault.empty()) {
    return fault;
  }
  if (cut.parts != 1.0 &&
      std::find(std::begin(kSplits), std::end(kSplits), cut.parts) == std::end(kSplits)) {
    return fmt::format("the depth is cut in 1, {} parts", fmt::join(kSplits, ", "));
  }
  if (cut.parts > 1.0 && block_scaled(op.activations)) {
    return "kernels with block scales do not cut the depth";
  }
  return cut.parts * kLeastDepth > std::max(as_double(op.k), kLeastDepth)
             ? fmt::format("a part of the depth has at least {:.0f} elements", kLeastDepth)
             : std::string();
}

Cost gemm_cost(const Gemm& op, const Machine& machine, Anatomy* anatomy, const Tiling* cut) {
  Work work = gemm_work(op);
  if (resident(op, work, machine)) {
    work.bytes = {};
  }
  Search library(op, work.bytes, machine);
  const TileRule rule = rule_of(op, machine);
  const auto own =
      rule == TileRule::none ? std::nullopt : std::optional(fixed_tiles(rule, op, machine.sms));
  const bool as_own = cut == nullptr || (own && own->tiling.rows == cut->rows &&
                                         own->tiling.columns == cut->columns && cut->parts == 1.0);
  Terms terms = own && as_own    ? library.fixed(*own)
                : cut != nullptr ? library.only(*cut)
                                 : library.fastest();
  std::optional<Search> smaller;
  if (machine.tile_room.binds && cut == nullptr && !library.fits()) {
    smaller.emplace(op, work.bytes, machine);
    terms = smaller->fitting(library.time());
  }
  Cost cost = tiled_cost(terms, work, machine);
  cost.waiting = (smaller ? *smaller : library).waiting();
  if (anatomy != nullptr) {
    const base::MathType math = base::math_of(op.activations, op.weights);
    const double sparse = op.storage.sparse ? machine.sparsity / 2.0 : 1.0;
    (smaller ? *smaller : library)
        .explain(*anatomy, work, sparse * machine.peak[static_cast<std::size_t>(math)],
                 math == base::MathType::fp32 ? Cause::vector : Cause::tensor);
    anatomy->add_dram(cost, work.bytes, machine);
    anatomy->buffer_bytes = machine.tile_room.buffers(anatomy->tile_rows, anatomy->tile_columns,
                                                      base::bits(op.activations) / 8.0,
                                                      base::bits(op.weights, op.storage) / 8.0);
    anatomy->step_bytes = as_double(kDepthStep) *
                          (anatomy->tile_rows * base::bits(op.activations) +
                           anatomy->tile_columns * base::bits(op.weights, op.storage)) /
                          8.0;
  }
  return cost;
}

}  // namespace roofcast::models
