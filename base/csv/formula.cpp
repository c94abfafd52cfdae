// SPDX-License-Identifier: Apache-2.0
#include "base/csv/formula.hpp"

#include <algorithm>
#include <charconv>

namespace roofcast::base {
namespace {

bool is_number(std::string_view text) {
  double value = 0.0;
  const char* end = text.data() + text.size();
  return std::from_chars(text.data(), end, value).ptr == end;
}

}  // namespace

bool is_formula(std::string_view text) {
  constexpr std::string_view kStarts = "=+-@\t\r";
  text.remove_prefix(std::min(text.find_first_not_of('\''), text.size()));
  return text.size() > 1 && kStarts.find(text.front()) != std::string_view::npos &&
         !is_number(text);
}

}  // namespace roofcast::base
