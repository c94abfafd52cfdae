// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/result/condition.hpp"

namespace roofcast {

inline std::vector<sim::Condition> conditions(const std::vector<std::string>& texts) {
  std::vector<sim::Condition> all;
  base::Problems problems;
  for (const std::string& text : texts) {
    all.push_back(*sim::parse_condition(text, {}, problems));
  }
  return all;
}

}  // namespace roofcast
