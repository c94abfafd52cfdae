// SPDX-License-Identifier: Apache-2.0
//
// The best value of the first objective among rows that meet every constraint, while a sweep runs in parts.
#pragma once

#include <atomic>
#include <cmath>
#include <string>

#include "sim/decide/result_table.hpp"
#include "sim/decide/sweep.hpp"

namespace roofcast::cli {

class BestSoFar {
 public:
  explicit BestSoFar(const sim::Sweep& sweep);

  void take(const sim::ResultTable& rows);
  // ", best of this run: Throughput 812.4 tok/s/GPU"; empty before there is a row that meets. Another thread may ask.
  std::string text() const;

 private:
  std::string objective_;
  bool is_better_when_higher_;
  std::atomic<double> best_{std::nan("")};
};

}  // namespace roofcast::cli
