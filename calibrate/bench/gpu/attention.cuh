// SPDX-License-Identifier: Apache-2.0
//
// What the suites of our own attention kernels have in common.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/bench/grids.hpp"
#include "calibrate/bench/measure.hpp"

namespace roofcast::bench {

struct AttentionKernel {
  std::string_view kind;  // of the table
  std::string name;
  // Empty, or by how much it misses a reference with the heads of a shape. Asked once for each kind of heads.
  std::function<std::string(const AttentionShape& shape)> wrong;
  std::function<Spread(const AttentionShape& shape)> time;  // s
  // The last column of the table, for seconds.
  std::function<double(const AttentionShape& shape, double seconds)> rate;
};

// A row for each shape. A kernel that misses its reference is not timed.
void run_attention(SuiteRun& run, const std::vector<AttentionShape>& shapes,
                   const AttentionKernel& kernel);

}  // namespace roofcast::bench
