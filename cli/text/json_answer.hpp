// SPDX-License-Identifier: Apache-2.0
//
// What every JSON answer begins with: the program's version, and the units of its figures.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace roofcast::cli {

// {"roofcast": "0.1.0 (commit)", "units": "SI; the end of a key's name is its unit"}; the answer's own keys follow.
nlohmann::ordered_json json_answer();

// {"ttft_mean_s": "s", ...}: the unit of every metric that has one.
nlohmann::ordered_json metric_units();

void print_json(const nlohmann::ordered_json& answer);

}  // namespace roofcast::cli
