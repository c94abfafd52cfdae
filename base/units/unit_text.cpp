// SPDX-License-Identifier: Apache-2.0
#include "base/units/unit_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/nearest.hpp"
#include "base/trimmed.hpp"
#include "base/units/unit_table.hpp"

namespace roofcast::base {
namespace {

// Whether a blank-separated list names the prefix.
bool allows(std::string_view list, std::string_view prefix) {
  while (!prefix.empty() && !list.empty()) {
    const std::size_t blank = std::min(list.find(' '), list.size());
    if (list.substr(0, blank) == prefix) {
      return true;
    }
    list.remove_prefix(std::min(blank + 1, list.size()));
  }
  return prefix.empty();
}

const DimensionText* text_of(Dimension dimension) {
  const auto* found = std::find_if(kDimensionTexts.begin(), kDimensionTexts.end(),
                                   [&](const auto& text) { return text.dimension == dimension; });
  return found == kDimensionTexts.end() ? nullptr : found;
}

// Any dimension in base units: "FLOP/s/s". A dimension that only divides starts with "1".
std::string base_unit(Dimension dimension) {
  if (dimension == kFrequency) {
    return "Hz";
  }
  if (dimension == kPower) {
    return "W";
  }
  const std::array<std::pair<std::string_view, int>, 5> exponents{{
      {"USD", dimension.money},
      {"J", dimension.energy},
      {"FLOP", dimension.work},
      {"B", dimension.data},
      {"s", dimension.time},
  }};
  std::string above;
  std::string below;
  for (const auto& [name, exponent] : exponents) {
    for (int i = 0; i < exponent; ++i) {
      above += fmt::format("{}{}", above.empty() ? "" : "·", name);
    }
    for (int i = 0; i > exponent; --i) {
      below += fmt::format("/{}", name);
    }
  }
  return (above.empty() && !below.empty() ? "1" : above) + below;
}

// ---- Reading ------------------------------------------------------------------------------------

struct Unit {
  std::string name;
  Dimension dimension;
  double factor;
};

// Every prefix and symbol that may stand together, spelled out.
const std::vector<Unit>& all_units() {
  static const std::vector<Unit> units = [] {
    std::vector<Unit> made;
    for (const Symbol& symbol : kSymbols) {
      for (const Prefix& prefix : kPrefixes) {
        if (allows(symbol.prefixes, prefix.name)) {
          made.push_back({fmt::format("{}{}", prefix.name, symbol.name), symbol.dimension,
                          prefix.factor * symbol.factor});
        }
      }
    }
    return made;
  }();
  return units;
}

const Unit* find_unit(std::string_view name) {
  const auto& units = all_units();
  const auto found =
      std::find_if(units.begin(), units.end(), [&](const Unit& unit) { return unit.name == name; });
  return found == units.end() ? nullptr : &*found;
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// For a message: quoted, on one line, and cut when long.
std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  const bool cut = text.size() > kLongest;
  if (cut) {
    std::size_t end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
      --end;  // not inside a UTF-8 character
    }
    text = text.substr(0, end);
  }
  std::string printable(text);
  std::replace_if(
      printable.begin(), printable.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20U || c == 0x7F; }, '?');
  return fmt::format("\"{}{}\"", printable, cut ? "…" : "");
}

bool equal_but_for_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

// "did you mean" for a factor that is no unit; may be empty.
std::string hint_for(std::string_view wrong) {
  constexpr std::array<std::string_view, 2> kMicroSigns{"\u00B5", "\u03BC"};
  for (const std::string_view sign : kMicroSigns) {
    if (wrong.starts_with(sign)) {
      const std::string mended = fmt::format("u{}", wrong.substr(sign.size()));
      if (find_unit(mended) != nullptr) {
        return fmt::format("; did you mean \"{}\"?", mended);
      }
    }
  }
  if (wrong.ends_with("ps") && find_unit(wrong.substr(0, wrong.size() - 2)) != nullptr) {
    return fmt::format("; did you mean \"{}/s\"?", wrong.substr(0, wrong.size() - 2));
  }
  std::vector<std::string> names;
  std::string spelled_otherwise;
  for (const Unit& unit : all_units()) {
    names.push_back(unit.name);
    if (equal_but_for_case(unit.name, wrong)) {
      spelled_otherwise +=
          fmt::format("{}\"{}\"", spelled_otherwise.empty() ? "" : " or ", unit.name);
    }
  }
  if (!spelled_otherwise.empty()) {
    const bool big_k = wrong.starts_with('K') && !wrong.starts_with("Ki");
    return fmt::format("; did you mean {}?{}", spelled_otherwise,
                       big_k ? " (the prefix for 1000 is \"k\")" : "");
  }
  const auto near = nearest_name(wrong, names);
  return near ? fmt::format("; did you mean \"{}\"?", *near) : "";
}

std::string unknown_unit(std::string_view wrong, std::string_view text, Dimension expected) {
  for (const Symbol& symbol : kSymbols) {
    for (const Prefix& prefix : kPrefixes) {
      if (wrong == fmt::format("{}{}", prefix.name, symbol.name)) {
        const std::string hint = hint_for(wrong);
        const bool useful = hint.find(fmt::format("\"{}\"", wrong)) == std::string::npos;
        return fmt::format("{} in {} is a {}-{}, which is not a unit in use{}", in_quotes(wrong),
                           in_quotes(text), prefix.word, symbol.word, useful ? hint : "");
      }
    }
  }
  const std::string hint = hint_for(wrong);
  if (!hint.empty()) {
    return fmt::format("unknown unit {} in {}{}", in_quotes(wrong), in_quotes(text), hint);
  }
  return fmt::format("unknown unit {} in {}: {} is expected, for example \"{}\"", in_quotes(wrong),
                     in_quotes(text), dimension_noun(expected), dimension_example(expected));
}

ParsedQuantity failure(std::string error) { return {.si = 0.0, .error = std::move(error)}; }

// Nothing is near the ends of the range: such a figure is a mistake, and what follows from it no number.
ParsedQuantity in_range(double si, std::string_view text, Dimension dimension) {
  const DimensionText* known = text_of(dimension);
  const double least = known != nullptr ? known->least : kLeastFigure;
  const double most = known != nullptr ? known->most : kMostFigure;
  if (si == 0.0 || (std::abs(si) >= least && std::abs(si) <= most)) {
    return {.si = si, .error = {}};
  }
  const std::string unit = dimension == kNone ? "" : fmt::format(" {}", base_unit(dimension));
  return failure(fmt::format("{} is too {}: {} is from {:g}{} to {:g}{}", in_quotes(text),
                             std::abs(si) < least ? "small" : "large", dimension_noun(dimension),
                             least, unit, most, unit));
}

std::string missing_unit(std::string_view text, Dimension expected) {
  const DimensionText* known = text_of(expected);
  // The fix shows the user's own number in the example's unit.
  const std::string example = dimension_example(expected);
  const std::string unit = example.substr(example.find(' ') + 1);
  const std::string units = known == nullptr ? "" : fmt::format(" ({})", known->units);
  const std::string events =
      expected == kFrequency
          ? fmt::format(" of a clock, {} of arrivals", in_quotes(fmt::format("{} /s", text)))
          : "";
  return fmt::format("{} has no unit: append one, for example {}{}{}", in_quotes(text),
                     in_quotes(fmt::format("{} {}", text, unit)), events, units);
}

}  // namespace

std::string dimension_noun(Dimension dimension) {
  const DimensionText* known = text_of(dimension);
  return known != nullptr ? std::string(known->noun)
                          : fmt::format("a quantity in {}", base_unit(dimension));
}

std::string dimension_example(Dimension dimension) {
  const DimensionText* known = text_of(dimension);
  return known != nullptr ? std::string(known->example) : fmt::format("1 {}", base_unit(dimension));
}

ParsedQuantity parse_quantity(std::string_view text, Dimension expected) {
  text = trimmed(text);
  const auto not_a_number = [&] {
    return failure(fmt::format("{} is not a number{}, for example \"{}\"", in_quotes(text),
                               expected == kNone ? "" : " with a unit",
                               dimension_example(expected)));
  };
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) {
    digits.remove_prefix(1);
  }
  // from_chars would take "inf", "nan" and a second "-".
  if (digits.empty() || !(is_digit(digits.front()) || digits.front() == '.')) {
    return not_a_number();
  }
  double number = 0.0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (status == std::errc::invalid_argument) {
    return not_a_number();
  }
  std::string_view rest = digits.substr(static_cast<std::size_t>(end - digits.data()));
  if (status == std::errc::result_out_of_range) {
    return failure(fmt::format("{} is too large or too small for a number", in_quotes(text)));
  }
  constexpr std::string_view kNotAfterDigits = ".,_'xX+-";
  if (!rest.empty() && kNotAfterDigits.find(rest.front()) != std::string_view::npos) {
    return failure(
        fmt::format("{} is not a number: write it in plain decimal digits, for example {}",
                    in_quotes(text), in_quotes(dimension_example(expected))));
  }
  if (negative) {
    number = -number;
  }
  const std::string_view number_text = trimmed(text.substr(0, text.size() - rest.size()));
  rest = trimmed(rest);

  if (rest.empty()) {
    if (expected == kNone) {
      return in_range(number, text, expected);
    }
    return failure(missing_unit(text, expected));
  }
  if (expected == kNone) {
    return failure(fmt::format("{} has a unit, but a bare number is expected, for example {}",
                               in_quotes(text), in_quotes(number_text)));
  }
  if (std::any_of(rest.begin(), rest.end(), is_blank)) {
    std::string mended(rest);
    std::erase_if(mended, is_blank);
    return failure(
        fmt::format("{} has blanks inside its unit: write {}", in_quotes(text), in_quotes(mended)));
  }

  Dimension found;
  double above = 1.0;
  double below = 1.0;
  for (int sign = 1;; sign = -1) {
    const std::size_t slash = rest.find('/');
    const std::string_view factor = rest.substr(0, slash);
    if (factor.empty() && sign < 0) {
      return failure(fmt::format("{} lacks a unit after the \"/\"", in_quotes(text)));
    }
    if (!factor.empty()) {
      const Unit* unit = find_unit(factor);
      if (unit == nullptr) {
        return failure(unknown_unit(factor, text, expected));
      }
      found.time += sign * unit->dimension.time;
      found.data += sign * unit->dimension.data;
      found.work += sign * unit->dimension.work;
      found.energy += sign * unit->dimension.energy;
      found.money += sign * unit->dimension.money;
      (sign > 0 ? above : below) *= unit->factor;
    }
    if (slash == std::string_view::npos) {
      break;
    }
    rest.remove_prefix(slash + 1);
  }
  if (found != expected) {
    return failure(fmt::format("{} is {}, but {} is expected, for example \"{}\"", in_quotes(text),
                               dimension_noun(found), dimension_noun(expected),
                               dimension_example(expected)));
  }
  return in_range(number * above / below, text, expected);
}

std::string in_base_units(std::string_view text) {
  for (const DimensionText& known : kDimensionTexts) {
    if (const ParsedQuantity parsed = parse_quantity(text, known.dimension); parsed.ok()) {
      return fmt::format("{:.14g} {}", parsed.si + 0.0, base_unit(known.dimension));
    }
  }
  return {};
}

// ---- Writing ------------------------------------------------------------------------------------

namespace {

// A unit to show values of a dimension in, alone or with the prefixes named.
struct Scale {
  Dimension dimension;
  std::string_view unit;
  double factor;
  std::string_view prefixes;
  double least = 1.0;  // in the scaled unit: a smaller value reads better in the scale before
};

// Of each dimension in ascending order; a dimension that is not here is shown in base units.
constexpr std::array kScales{
    Scale{kTime, "s", 1.0, "n u m"},
    Scale{kTime, "min", 60.0, "", 2.0},
    Scale{kTime, "h", 3600.0, "", 2.0},
    Scale{kTime, "d", 86400.0, "", 3.0},
    Scale{kData, "B", 1.0, kLarge},
    Scale{kWork, "FLOP", 1.0, kLarge},
    Scale{kEnergy, "J", 1.0, "n u m k M"},
    Scale{kEnergy, "kWh", 3.6e6, ""},
    Scale{kEnergy, "MWh", 3.6e9, ""},
    Scale{kEnergy, "GWh", 3.6e12, ""},
    Scale{kMoney, "USD", 1.0, ""},
    Scale{kMoney, "USD", 1.0, "k M G", 10.0},
    Scale{kFrequency, "Hz", 1.0, "k M G T"},
    Scale{kBandwidth, "B/s", 1.0, kLarge},
    Scale{kComputeRate, "FLOP/s", 1.0, kLarge},
    Scale{kPower, "W", 1.0, "n u m k M G"},
    Scale{kPriceRate, "USD/h", 1.0 / 3600.0, ""},
    Scale{kPriceRate, "USD/h", 1.0 / 3600.0, "k M G", 10.0},
    Scale{kEnergyPrice, "USD/kWh", 1.0 / 3.6e6, ""},
    Scale{kIntensity, "FLOP/B", 1.0, kLarge},
    Scale{kEnergyPerByte, "J/B", 1.0, "p n u m"},
    Scale{kEnergyPerOperation, "J/TFLOP", 1e-12, ""},
    Scale{kEnergyPerOperation, "J/FLOP", 1.0, "p n u m"},
    Scale{kPricePerSize, "USD/GB", 1e-9, ""},
};

// To the four digits that will be shown, so that 999.96 ms becomes 1 s and not 1000 ms.
double rounded(double value) {
  if (value == 0.0 || !std::isfinite(value)) {
    return value;
  }
  const std::string digits = fmt::format("{:.3e}", value);
  double result = value;
  std::from_chars(digits.data(), digits.data() + digits.size(), result);
  return result;
}

std::string with_digits(double value) {
  const double magnitude = std::abs(rounded(value));
  return magnitude >= 1e4 && magnitude < 1e15 ? fmt::format("{:.0f}", value)
                                              : fmt::format("{:.4g}", value);
}

}  // namespace

std::string format_quantity(double si, Dimension dimension) {
  if (dimension == kNone) {
    return with_digits(si);
  }
  std::string unit = base_unit(dimension);
  double factor = 1.0;
  bool first = true;
  for (const Scale& scale : kScales) {
    if (scale.dimension != dimension || !std::isfinite(si)) {
      continue;
    }
    for (const Prefix& prefix : kPrefixes) {
      const bool fits = rounded(std::abs(si) / (prefix.factor * scale.factor)) >= scale.least;
      // Zero is best shown without a prefix, a value below the smallest scale in that scale.
      const bool chosen = si == 0.0 ? first && prefix.name.empty() : first || fits;
      if (allows(scale.prefixes, prefix.name) && chosen) {
        unit = fmt::format("{}{}", prefix.name, scale.unit);
        factor = prefix.factor * scale.factor;
        first = false;
      }
    }
  }
  return fmt::format("{} {}", with_digits(si / factor), unit);
}

}  // namespace roofcast::base
