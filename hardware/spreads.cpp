// SPDX-License-Identifier: Apache-2.0
#include "hardware/spreads.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace roofcast::hardware {

std::span<const base::CatalogEntry> embedded_spreads();

base::Catalog spread_catalog() { return {"spreads", "spread", embedded_spreads()}; }

void read(base::Fields& f, Spreads& spreads) {
  f.each("repeated", [&](base::Fields& g) {
    RepeatedSpread& s = spreads.repeated.emplace_back();
    g.text("kind", s.kind);
    g.number("half_width", s.half_width, base::not_negative);
  });
  f.each("architectures", [&](base::Fields& g) {
    ArchitectureSpread& s = spreads.architectures.emplace_back();
    g.text("unmeasured", s.unmeasured);
    g.text("kind", s.kind);
    g.number("below", s.below, base::not_negative);
    g.number("above", s.above, base::not_negative);
  });
}

const Spreads& spreads() {
  static const Spreads all = [] {
    const base::Node document = base::load_entry(spread_catalog(), "operators");
    base::Problems problems;
    base::Fields fields(document, "", problems);
    Spreads read_ones;
    read(fields, read_ones);
    problems.throw_if_any();
    return read_ones;
  }();
  return all;
}

Ends interval(const KindError& error) {
  const std::vector<RepeatedSpread>& repeated = spreads().repeated;
  const auto found = std::find_if(repeated.begin(), repeated.end(),
                                  [&](const RepeatedSpread& s) { return s.kind == error.kind; });
  const double other = found == repeated.end() ? 0.0 : found->half_width;
  const double below = std::hypot(std::max(0.0, -std::log(error.low)), other);
  const double above = std::hypot(std::max(0.0, std::log(error.high)), other);
  return {std::exp(-below), std::exp(above)};
}

}  // namespace roofcast::hardware
