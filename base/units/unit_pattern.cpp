// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/units/unit_table.hpp"
#include "base/units/unit_text.hpp"

namespace roofcast::base {
namespace {

// Every unit of one dimension; empty when it has none.
std::string alternatives(Dimension dimension) {
  std::string units;
  for (const Symbol& symbol : kSymbols) {
    if (symbol.dimension == dimension) {
      std::string prefixes(symbol.prefixes);
      std::replace(prefixes.begin(), prefixes.end(), ' ', '|');
      units += fmt::format("{}{}{}", units.empty() ? "" : "|",
                           prefixes.empty() ? "" : fmt::format("({})?", prefixes),
                           symbol.name == "$" ? "[$]" : symbol.name);
    }
  }
  return units;
}

bool is_quotient(Dimension whole, Dimension above, Dimension below) {
  return whole == Dimension{above.time - below.time, above.data - below.data,
                            above.work - below.work, above.energy - below.energy,
                            above.money - below.money};
}

}  // namespace

std::string quantity_pattern(Dimension dimension) {
  std::string units = alternatives(dimension);
  for (const DimensionText& above : kDimensionTexts) {
    for (const DimensionText& below : kDimensionTexts) {
      const std::string upper = alternatives(above.dimension);
      const std::string lower = alternatives(below.dimension);
      if ((!upper.empty() || above.dimension == kNone) && !lower.empty() &&
          is_quotient(dimension, above.dimension, below.dimension)) {
        units += fmt::format("{}({})/({})", units.empty() ? "" : "|", upper, lower);
      }
    }
  }
  if (units.empty()) {
    return "";
  }
  return fmt::format(
      R"(^[ \t]*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?[ \t]*({})[ \t]*$)", units);
}

}  // namespace roofcast::base
