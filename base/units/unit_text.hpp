// SPDX-License-Identifier: Apache-2.0
//
// Quantities as people write and read them: "3.35 TB/s", "80 GiB", "1.2 us". The one unit table of
// the program.
//
//   text   = number [blanks] unit          a dimensionless text is a bare number
//   number = decimal, with optional sign and exponent; no hex, octal, digit separators, inf or nan
//   unit   = [factor] {"/" factor}         everything after the first "/" divides; "/s" is 1/s
//   factor = [prefix] symbol
//
//   symbol           is                         prefixes allowed
//   B                byte                       k M G T P E, Ki Mi Gi Ti Pi
//   b                bit = 1/8 B                k M G T P E, Ki Mi Gi Ti Pi
//   FLOP, OP         one operation              k M G T P E
//   FLOPS, OPS       one operation per second   k M G T P E
//   s                second                     n u m
//   min, h           60 s, 3600 s
//   J                joule                      n u m k M G T P E
//   Wh               3600 J                     k M G T
//   W                J/s                        n u m k M G T
//   Hz               1/s                        k M G T
//   USD, $           US dollar                  k M G
//
// Upper and lower case matter, as in the SI: "mW" is not "MW", "Gb" is not "GB", and there is no "KB". An operation on
// integers counts like one on floating-point numbers, so OP = FLOP.
#pragma once

#include <string>
#include <string_view>

#include "base/units/dimension.hpp"
#include "base/units/quantity.hpp"

namespace roofcast::base {

struct ParsedQuantity {
  double si = 0.0;    // in SI base units; always finite
  std::string error;  // one sentence without a full stop that says how to mend the text

  bool ok() const { return error.empty(); }
};

// Reads `text`, which must have the expected dimension. Blanks around it are ignored. Never throws.
ParsedQuantity parse_quantity(std::string_view text, Dimension expected);

// What a quantity of any dimension that has a name is in base units, the same for every text that means it: "4.8 TB/s"
// and "4800 GB/s" are "4.8e+12 B/s". Empty where the text is no quantity.
std::string in_base_units(std::string_view text);

// What people call a quantity of this dimension, with its article ("a bandwidth"), and a text that
// parse_quantity accepts for it ("3.35 TB/s").
std::string dimension_noun(Dimension dimension);
std::string dimension_example(Dimension dimension);

// A regular expression (ECMAScript) for the texts that parse_quantity reads as this dimension, with at
// most one "/" in the unit; empty when no such unit has the dimension.
std::string quantity_pattern(Dimension dimension);

// `si` scaled for people, with at most four significant digits and decimal prefixes: "3.35 TB/s",
// "12.3 ms", "141 GB", "3.59 USD/h". Times from two minutes on are in min or h, energies from 3.6
// MJ on in kWh. parse_quantity reads a finite value back, to the digits shown, when its grammar has
// a unit for the dimension ("1/B" and "B·s" have none). Infinity and NaN read "inf" and "nan" with
// the base unit.
std::string format_quantity(double si, Dimension dimension);

template <int T, int D, int W, int E, int M>
std::string format_quantity(QuantityOf<T, D, W, E, M> quantity) {
  return format_quantity(quantity.si(), dimension_of(quantity));
}

}  // namespace roofcast::base
