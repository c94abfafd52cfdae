// SPDX-License-Identifier: Apache-2.0
//
// JSON Schema (draft 2020-12) of every kind of document, for editors, from what the readers tell of
// themselves (base/document/schema.hpp). It is never stricter than the reader, but for numbers and flags in
// quotes and for units with two "/"; what only the reader knows (ids and files that do not exist, a
// number that must divide another) it does not refuse.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::cli {

// chip, system, calibration, model, precision, stack, scenario, sweep.
std::vector<std::string> schema_kinds();
nlohmann::ordered_json json_schema(std::string_view kind);  // one of them

}  // namespace roofcast::cli
