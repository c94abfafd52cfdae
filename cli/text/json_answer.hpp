// SPDX-License-Identifier: Apache-2.0
//
// What every JSON answer begins with: the version of the program and the units of its figures.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace roofcast::cli {

class TextTable;

// {"roofcast": "0.1.0 (commit)", "units": "SI; the end of a key's name is its unit"}; the answer's own keys follow.
nlohmann::ordered_json json_answer();

// {"ttft_mean_s": "s", ...}: the unit of every metric that has one.
nlohmann::ordered_json metric_units();

// [{"metric": "TTFT", ...}, ...]: a table as people see it, by its headings.
nlohmann::ordered_json json_rows(const TextTable& table);

// null where there is no number.
nlohmann::ordered_json json_number(double value);

// The answer behind what all begin with: {"roofcast": ..., "units": ...}. That to a question ends with what made it
// (cli/provenance/made_by.hpp).
void print_json(const nlohmann::ordered_json& answer);

}  // namespace roofcast::cli
