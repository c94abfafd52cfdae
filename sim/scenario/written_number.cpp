// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/written_number.hpp"

#include <charconv>
#include <cmath>
#include <map>

#include "base/units/unit_text.hpp"
#include "sim/scenario/dotted_path.hpp"

namespace roofcast::sim {

WrittenNumber written_number(std::string_view text) {
  WrittenNumber n;
  const auto trim = [](std::string_view s) {
    const auto first = s.find_first_not_of(' ');
    return first == std::string_view::npos ? std::string_view()
                                           : s.substr(first, s.find_last_not_of(' ') - first + 1);
  };
  text = trim(text);
  if (text.starts_with('x')) {
    n.before.push_back('x');
    text = trim(text.substr(1));
  }
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), n.value);
  n.ok = parsed.ec == std::errc() && std::isfinite(n.value);
  const auto digits = static_cast<std::size_t>(parsed.ptr - text.data());
  n.after = text.substr(digits);
  n.whole = n.ok && n.before.empty() && n.after.empty() &&
            text.substr(0, digits).find_first_of(".eE") == std::string::npos;
  return n;
}

std::optional<std::pair<std::string, std::string>> same_twice(std::span<const std::string> values,
                                                              bool names) {
  std::map<std::string, std::string> written;
  for (const std::string& value : values) {
    const bool factor = is_factor(base::scalar_node(value, {}));
    const std::string amount =
        names ? "" : base::in_base_units(std::string_view(value).substr(factor ? 1 : 0));
    const auto [before, is_new] =
        written.emplace(amount.empty() ? value : (factor ? "x" : "") + amount, value);
    if (!is_new) {
      return std::pair(before->second, value);
    }
  }
  return std::nullopt;
}

}  // namespace roofcast::sim
