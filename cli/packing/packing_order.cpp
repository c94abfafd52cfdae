// SPDX-License-Identifier: Apache-2.0
#include "cli/packing/packing_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"
#include "cli/tables/text_table.hpp"

namespace roofcast::cli {

Packed packed(std::span<const std::int64_t> sizes, std::int64_t budget, const std::string& order,
              std::size_t window) {
  Packed p;
  std::vector<std::int64_t> fitting;
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > budget) {
      p.too_large.push_back(i);
    } else {
      fitting.push_back(sizes[i]);
      positions.push_back(i);
    }
  }
  p.bins = order == "size" ? base::packed_by_size(fitting, budget)
                           : base::packed_as_they_come(fitting, budget, window);
  for (base::Bin& bin : p.bins) {
    for (std::size_t& item : bin.items) {
      item = positions[item];
    }
  }
  return p;
}

Fill fill_of(const base::Bins& bins, std::int64_t budget) {
  if (bins.empty()) {
    return {NAN, NAN};
  }
  double sum = 0.0;
  std::int64_t least = budget;
  for (const base::Bin& bin : bins) {
    sum += base::as_double(bin.size);
    least = std::min(least, bin.size);
  }
  const double space = base::as_double(budget);
  return {sum / (space * static_cast<double>(bins.size())), base::as_double(least) / space};
}

std::string share_text(double share) {
  return std::isnan(share) ? "-" : fmt::format("{:.1f} %", 100.0 * share);
}

std::string grouped(std::int64_t count) { return display(base::as_double(count), ""); }

}  // namespace roofcast::cli
