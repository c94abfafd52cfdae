// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "calibrate/fit/fit.hpp"

namespace roofcast::calibrate {
namespace {

std::string indented(const std::string& text, const std::string& margin) {
  std::string out = margin;
  for (const char c : text) {
    out += c;
    if (c == '\n') {
      out += margin;
    }
  }
  return out;
}

std::string grids(const std::vector<hardware::CorrectionGrid>& all, const std::string& margin) {
  std::string text = all.empty() ? "" : margin + "corrections:\n";
  for (const hardware::CorrectionGrid& grid : all) {
    text += fmt::format(
        "{0}  - operator: {1}\n{0}    of: {2}\n{0}    axes: {3}\n{0}    log_percent: |\n{4}\n",
        margin, grid.op, grid.of, hardware::axes_text(grid),
        indented(hardware::values_text(grid), margin + "      "));
  }
  return text;
}

}  // namespace

std::string error_item(const hardware::KindError& e) {
  return fmt::format(
      "  - {{kind: {}, rows: {}, refused: {}, held_back: {}, median: {:.3f}, p90: {:.3f}, bias: "
      "{:.3f}, low: {:.3f}, high: {:.3f}}}",
      e.kind, e.rows, e.refused, e.held_back, e.median, e.p90, e.bias, e.low, e.high);
}

std::string overlay(const FittedCalibration& fitted, const std::string& source) {
  std::string text = fmt::format(
      "# Written by `roofcast calibrate fit`: what differs from generic.\n"
      "base: generic\n"
      "name: {} with {}, fitted\n"
      "provenance: {}\n",
      fitted.chip_name, fitted.stack,
      fitted.corrections.empty() ? "calibrated" : "measured-corrected");
  std::string group;
  const auto close = [&] {
    if (!group.empty()) {
      text += fmt::format("{}.source: \"{}; see errors\"\n", group, source);
    }
  };
  for (const FittedParameter& p : fitted.parameters) {
    const std::string own = p.path.substr(0, p.path.find('.'));
    if (own != group) {
      close();
      group = own;
    }
    text += fmt::format("{}: {}  # ± {:.2g} %, generic {}\n", p.path, p.text,
                        100.0 * std::expm1(p.uncertainty), p.before);
  }
  close();
  text += "errors:  # of shapes held back\n";
  for (const KindErrors& e : fitted.kinds) {
    std::int64_t refused = 0;
    for (const auto& [reason, count] : e.refused) {
      refused += static_cast<std::int64_t>(count);
    }
    text += fmt::format("{}  # generic median {:.3f}, without corrections {:.3f}\n",
                        error_item({e.kind, static_cast<std::int64_t>(e.given), refused,
                                    static_cast<std::int64_t>(e.after.rows), e.after.median,
                                    e.after.p90, e.after.bias, e.low, e.high}),
                        e.before.median, e.physical.median);
  }
  for (const hardware::KindError& e : fitted.others) {
    text += error_item(e) + "  # generic\n";
  }
  text += grids(fitted.corrections, "");
  if (!fitted.version.empty()) {
    text += fmt::format("stack: {}\nversion: {}\n", fitted.stack, fitted.version);
  }
  if (!fitted.older.empty()) {
    text += "older_versions:  # what was different\n";
  }
  for (const FittedVersion& older : fitted.older) {
    text += fmt::format("  - version: {}\n    measured: {}\n", older.version,
                        fmt::join(older.kinds, ", "));
    text += grids(older.corrections, "    ");
  }
  return text;
}

}  // namespace roofcast::calibrate
