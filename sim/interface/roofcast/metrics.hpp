// SPDX-License-Identifier: Apache-2.0
//
// The numbers of an estimate. Each has a name that says its unit, such as tpot_mean_s or power_w_per_gpu. A name
// stays what it is; new ones may come.
#pragma once

#include <span>
#include <string_view>

namespace roofcast {

enum class Better { none, higher, lower };

struct Metric {
  std::string_view name;
  std::string_view label;  // for people
  std::string_view unit;   // SI: "s", "tok/s/GPU", "B"; empty for shares and counts without one
  std::string_view description;
  Better better = Better::none;
};

// All of them, in the order of the columns of a CSV.
std::span<const Metric> metrics();

// Throws InputError, with the nearest name, when there is no such metric.
const Metric& metric(std::string_view name);

}  // namespace roofcast
