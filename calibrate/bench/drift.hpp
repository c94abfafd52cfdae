// SPDX-License-Identifier: Apache-2.0
//
// A GPU beside its chip in the catalog: a wrong figure there, or a GPU that is throttled, shows here.
#pragma once

#include <string>
#include <vector>

#include "hardware/chip.hpp"

namespace roofcast::bench {

struct Observed {
  base::BytesPerSecond copy_bandwidth;  // DRAM, read and written together
  base::BytesPerSecond l2_bandwidth;    // reads that hit
  base::Seconds dram_latency;           // pointer chase
  base::FlopsPerSecond bf16;            // largest GEMM
};

// observed / expected must lie in [least, most].
struct Comparison {
  std::string figure;
  double observed = 0.0, expected = 0.0;  // in `unit`
  std::string unit;
  double least = 0.0, most = 0.0;
  double ratio() const { return observed / expected; }
  bool agrees() const { return ratio() >= least && ratio() <= most; }
};

// No datasheet's peak is passed (by 3 %: clocks may lie above the one it was computed with), at least 70 % of a
// bandwidth and 55 % of a tensor peak is reached. Figures measured elsewhere, by other programs, are met within 30 %, a
// latency within 30 % below and 50 % above. What the catalog does not have is not compared.
std::vector<Comparison> compare(const Observed& observed, const hardware::Chip& chip);

// From the catalog, the user's own included; InputError with the nearest id when there is none.
hardware::Chip catalog_chip(const std::string& id);

std::string line(
    const Comparison& comparison);  // "ok    DRAM copy: 4.1 of 4.8 TB/s, 0.85 (0.70 to 1.03)"

}  // namespace roofcast::bench
