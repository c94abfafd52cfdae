// SPDX-License-Identifier: Apache-2.0
#include "models/operators/fixed_tiles.hpp"

#include <algorithm>

#include "base/integers.hpp"

namespace roofcast::models {
namespace {

using base::as_double;
using base::ceil_div;

// `end`: the rows of all tiles end at a multiple of it.
FixedTiles tiles_of(const workloads::Gemm& op, std::int64_t rows, std::int64_t columns,
                    std::int64_t end) {
  const std::int64_t reached = ceil_div(op.m, end) * end;
  const std::int64_t tiles = ceil_div(reached, rows) * ceil_div(op.n, columns);
  return {{rows, columns, as_double(tiles), 1.0}, as_double(reached - op.m)};
}

FixedTiles by_rows(const workloads::Gemm& op) {
  constexpr std::int64_t kNarrow = 1280;
  if (op.m <= 16) {
    return tiles_of(op, 16, 64, 16);
  }
  if (op.m <= 64) {
    return tiles_of(op, op.n <= kNarrow ? 16 : 64, 64, 64);
  }
  return op.m <= 128 ? tiles_of(op, 64, 128, 128) : tiles_of(op, 128, 128, 256);
}

// The extent of a tile along `length`, beside `others` tiles along the other one.
std::int64_t by_waves(std::int64_t length, std::int64_t others, std::int64_t sms) {
  std::int64_t best = 0;
  std::int64_t fewest = 0;
  std::int64_t fullest = 0;
  for (std::int64_t extent = 16; extent <= 128; extent += 8) {
    const std::int64_t tiles = others * ceil_div(length, extent);
    const std::int64_t waves = ceil_div(tiles, sms);
    const std::int64_t last = tiles - (waves - 1) * sms;
    if (best == 0 || waves < fewest || (waves == fewest && last > fullest)) {
      best = extent;
      fewest = waves;
      fullest = last;
    }
  }
  return best;
}

FixedTiles by_waves(const workloads::Gemm& op, std::int64_t sms) {
  constexpr std::int64_t kWide = 128;
  if (op.m < 32) {
    const std::int64_t rows = by_waves(op.m, ceil_div(op.n, kWide), sms);
    return tiles_of(op, rows, kWide, rows);
  }
  const std::int64_t rows = op.m <= 64 ? 64 : 128;
  return tiles_of(op, rows, by_waves(op.n, ceil_div(op.m, rows), sms), rows);
}

}  // namespace

TileRule tile_rule(std::string_view stack, std::string_view tensor_instruction,
                   base::NumberFormat format) {
  if (tensor_instruction != "wgmma") {
    return TileRule::none;
  }
  if (stack == "vllm" && format == base::NumberFormat::fp8) {
    return TileRule::by_rows;
  }
  return stack == "trtllm" && format == base::NumberFormat::fp8_block ? TileRule::by_waves
                                                                      : TileRule::none;
}

FixedTiles fixed_tiles(TileRule rule, const workloads::Gemm& op, double sms) {
  return rule == TileRule::by_rows
             ? by_rows(op)
             : by_waves(op, std::max<std::int64_t>(1, static_cast<std::int64_t>(sms)));
}

}  // namespace roofcast::models
