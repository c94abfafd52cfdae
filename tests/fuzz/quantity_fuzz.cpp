// SPDX-License-Identifier: Apache-2.0
//
// Any text is a finite quantity of the dimension asked for or one sentence of what is wrong, and the
// pattern of the dimension tells which. The first byte chooses the dimension.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "base/document/fields.hpp"
#include "base/units/unit_table.hpp"
#include "base/units/unit_text.hpp"
#include "tests/fuzz/fault.hpp"

namespace {

using namespace roofcast;
using fuzz::require;

const std::regex& pattern_of(std::size_t index) {
  static const std::vector<std::regex> patterns = [] {
    std::vector<std::regex> made;
    for (const base::DimensionText& known : base::kDimensionTexts) {
      made.emplace_back(base::quantity_pattern(known.dimension));
    }
    return made;
  }();
  return patterns[index];
}

void check_quantity(const std::string& text, std::size_t index) {
  const base::Dimension dimension = base::kDimensionTexts[index].dimension;
  const base::ParsedQuantity parsed = base::parse_quantity(text, dimension);
  require(std::isfinite(parsed.si), "a quantity is finite");
  require(parsed.error.find('\n') == std::string::npos, "an error is one line");
  if (parsed.ok()) {
    const std::string written = base::format_quantity(parsed.si, dimension);
    const base::ParsedQuantity again = base::parse_quantity(written, dimension);
    const double tolerance = 1e-3 * std::abs(parsed.si);
    require(again.ok() ? std::abs(again.si - parsed.si) <= tolerance
                       : std::abs(parsed.si) < 1e-300 || std::abs(parsed.si) > 1e300,
            "what is shown can be read: " + written);
  }
  if (dimension == base::kNone) {
    return;
  }
  const bool matches = std::regex_search(text, pattern_of(index));
  const bool out_of_range = parsed.error.find("is too ") != std::string::npos;
  if (matches) {
    require(parsed.ok() || out_of_range, "what the pattern matches is read");
  } else if (std::count(text.begin(), text.end(), '/') < 2) {
    require(!parsed.ok(), "what the pattern does not match is not read");
  }
}

// The same text where a number, a whole number or a truth value is expected.
void check_scalars(const std::string& text) {
  base::Node document;
  for (const char* key : {"number", "integer", "flag"}) {
    document[key] = base::scalar_node(text, {});
  }
  document.place.source = std::make_shared<const base::Source>(base::Source{"fuzz", text, ""});
  for (base::Entry& entry : document.entries) {
    entry.value.place = document.place;
  }
  base::Problems problems;
  base::Fields fields(document, "", problems);
  double number = 0.0;
  std::int64_t integer = 0;
  bool flag = false;
  fields.number("number", number, base::any_value);
  fields.integer("integer", integer, base::any_value);
  fields.flag("flag", flag);
  fields.end();
  require(std::isfinite(number), "a number is finite");
  require(std::abs(static_cast<double>(integer)) <= 1e15, "a whole number is exact");
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_quantity(text, data[0] % std::size(base::kDimensionTexts));
  check_scalars(text);
  return 0;
}
