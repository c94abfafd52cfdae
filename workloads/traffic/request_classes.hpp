// SPDX-License-Identifier: Apache-2.0
//
// What requests are promised, in all or by class. Keys of `traffic:`
//
//   objectives: {ttft: 2 s, tpot: 50 ms}
//   classes:
//     - {name: interactive, priority: 1, weight: 9, objectives: {ttft: 500 ms}}
//     - {name: batch, priority: 0, weight: 1, objectives: {end_to_end: 60 s}}
//
// The class of each request is drawn with these weights. A class without objectives has those of the traffic. The older
// `priorities: {values: [0, 1], weights: [1, 9]}` is short for classes that have a priority and a weight alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/document/fields.hpp"
#include "base/units/quantity.hpp"

namespace roofcast::workloads {

// The objectives that a good request meets. An absent objective is always met.
struct Objectives {
  std::optional<base::Seconds> ttft = {};
  std::optional<base::Seconds> tpot = {};
  std::optional<base::Seconds> end_to_end = {};
  bool any() const { return ttft || tpot || end_to_end; }
};

// Requests that are promised the same. A request is of the class that has its priority.
struct RequestClass {
  std::string name = {};  // empty where the traffic names no class
  std::int64_t priority = 0;
  double share = 1.0;  // of the requests
  Objectives objectives = {};
};

// None where requests have neither objectives nor classes. Else their shares add up to 1. A single class has every
// request, whatever its priority.
using RequestClasses = std::vector<RequestClass>;

bool any_objective(const RequestClasses& classes);

// The place in `classes` of the class of requests of this priority. 0 where there is at most one class. InputError
// where none of several has it: the priorities of a trace are its own.
std::size_t class_of(const RequestClasses& classes, std::int64_t priority);

// Of the keys above, objectives alone: one class, or none.
RequestClasses read_objectives(base::Fields& f);
// All of the keys above.
RequestClasses read_classes(base::Fields& f);

}  // namespace roofcast::workloads
