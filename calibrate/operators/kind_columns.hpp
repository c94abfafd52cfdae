// SPDX-License-Identifier: Apache-2.0
//
// The columns of a table of each kind of operators, beside system, fw and fw_version.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roofcast::calibrate {

struct KindColumns {
  std::string_view kind;
  std::string_view format;              // groups errors
  std::vector<std::string_view> shape;  // in the order of its reader
  std::vector<std::string_view> layer;  // what a model's layer has whatever it is asked
  std::vector<std::string_view> latencies = {"latency_ms"};  // their sum is measured
  std::vector<std::string_view> named = {};                  // of the shape too, read by their name
  std::vector<std::string_view> told = {"kernel_source"};    // may be missing

  // All that a row needs, and all that one may have.
  std::vector<std::string> required() const;
  std::vector<std::string> all() const;
};

const std::vector<KindColumns>& kind_columns();
const KindColumns& columns_of(std::string_view kind);

// The kind whose tables have these columns; system and fw may be missing. InputError, which begins with `place`, where none
// has them, or several have.
std::string kind_with(const std::vector<std::string>& columns, const std::string& place);

}  // namespace roofcast::calibrate
