// SPDX-License-Identifier: Apache-2.0
//
// The orders in which `roofcast pack` packs (base/packing.hpp), and how full the bins are.
//
//   kept   next fit in the order of the input; with a window above 1, a few places earlier or later
//   size   first fit, the largest first
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/packing.hpp"

namespace roofcast::cli {

inline const std::vector<std::string> kOrders = {"kept", "size"};

struct Packed {
  base::Bins bins;
  std::vector<std::size_t> too_large;  // positions of sizes beyond the budget, which are in no bin
};
Packed packed(std::span<const std::int64_t> sizes, std::int64_t budget, const std::string& order,
              std::size_t window);

// Shares of the budget. NaN without bins.
struct Fill {
  double mean = 0.0;
  double least = 0.0;
};
Fill fill_of(const base::Bins& bins, std::int64_t budget);

std::string share_text(double share);     // "97.5 %"; "-" for NaN
std::string grouped(std::int64_t count);  // "12,345"

}  // namespace roofcast::cli
