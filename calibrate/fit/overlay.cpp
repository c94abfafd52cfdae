// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "calibrate/fit/fit.hpp"
#include "calibrate/fit/parameter_spread.hpp"

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

std::string group_of(const FittedParameter& p) { return p.path.substr(0, p.path.find('.')); }

// Groups in the order of their first parameters: a later stage may fit another one of a group.
std::vector<FittedParameter> by_group(std::vector<FittedParameter> parameters) {
  std::vector<std::string> groups;
  for (const FittedParameter& p : parameters) {
    if (std::ranges::find(groups, group_of(p)) == groups.end()) {
      groups.push_back(group_of(p));
    }
  }
  std::ranges::stable_sort(parameters, {}, [&](const FittedParameter& p) {
    return std::ranges::find(groups, group_of(p)) - groups.begin();
  });
  return parameters;
}

// What the fit starts from, without what it finds itself.
std::string start_of(const FittedCalibration& fitted) {
  if (fitted.start.is_null()) {
    return "# Written by `roofcast calibrate fit`: what differs from generic.\nbase: generic\n";
  }
  const std::string head =
      "# Written by `roofcast calibrate fit`: few rows, so that all else is as in the base.\n";
  if (fitted.start.is_scalar()) {
    return head + fmt::format("base: {}\n", fitted.start.text);
  }
  base::Node start = fitted.start;
  std::erase_if(start.entries, [&](const base::Entry& entry) {
    return entry.key == "provenance" || entry.key == "errors" ||
           std::any_of(fitted.parameters.begin(), fitted.parameters.end(),
                       [&](const FittedParameter& p) { return p.path == entry.key; });
  });
  return head + base::to_yaml(start);
}

std::string uncertainties(const FittedCalibration& fitted) {
  std::string text;
  for (const FittedParameter& p : fitted.parameters) {
    text += fmt::format("  - {{parameter: {}, percent: {}{}}}\n", p.path,
                        percent_text(p.uncertainty), p.fixed ? ", fixed: true" : "");
  }
  return text.empty() ? text
                      : "uncertainty:  # ± with 90 % confidence, were rows independent, of it or "
                        "of generic, what is more\n" +
                            text;
}

}  // namespace

std::string rows_text(const RowsRead& rows) {
  const std::string hash = fmt::format("FNV-1a {:016x}", rows.hash);
  return rows.own > 0 && rows.shipped > 0
             ? fmt::format("{} own and {} shipped rows, {}", rows.own, rows.shipped, hash)
             : fmt::format("{} {}, {}", rows.own + rows.shipped,
                           rows.own + rows.shipped == 1 ? "row" : "rows", hash);
}

std::string error_item(const hardware::KindError& e) {
  return fmt::format(
      "  - {{kind: {}, rows: {}, refused: {}, held_back: {}, median: {:.3f}, p90: {:.3f}, bias: "
      "{:.3f}, low: {:.3f}, high: {:.3f}}}",
      e.kind, e.rows, e.refused, e.held_back, e.median, e.p90, e.bias, e.low, e.high);
}

std::string overlay(const FittedCalibration& fitted, const std::string& source) {
  const bool few = !fitted.start.is_null();
  std::string text = start_of(fitted);
  text += fmt::format("name: {} with {}, fitted{}\n", fitted.chip_name, fitted.stack,
                      few ? " to few rows" : "");
  text += fmt::format("provenance: {}\n", few                          ? fitted.start_provenance
                                          : fitted.corrections.empty() ? "calibrated"
                                                                       : "measured-corrected");
  text += fmt::format("fitted_on: \"{}\"\n", rows_text(fitted.rows));
  std::string group;
  const auto close = [&] {
    if (!group.empty()) {
      text += fmt::format("{}.source: \"{}; see errors\"\n", group, source);
    }
  };
  for (const FittedParameter& p : by_group(fitted.parameters)) {
    const std::string own = group_of(p);
    if (own != group) {
      close();
      group = own;
    }
    text += fmt::format("{}: {}  # {} {}\n", p.path, p.text, few ? "before" : "generic", p.before);
  }
  close();
  text += uncertainties(fitted);
  text += few ? "errors:  # of each row after a fit to the others\n"
              : "errors:  # of shapes held back\n";
  for (const KindErrors& e : fitted.kinds) {
    std::int64_t refused = 0;
    for (const auto& [reason, count] : e.refused) {
      refused += static_cast<std::int64_t>(count);
    }
    text += fmt::format("{}  # {}\n",
                        error_item({e.kind, static_cast<std::int64_t>(e.given), refused,
                                    static_cast<std::int64_t>(e.after.rows), e.after.median,
                                    e.after.p90, e.after.bias, e.low, e.high}),
                        few ? fmt::format("before {:.3f}", e.before.median)
                            : fmt::format("generic median {:.3f}, without corrections {:.3f}",
                                          e.before.median, e.physical.median));
  }
  for (const hardware::KindError& e : fitted.others) {
    text += error_item(e) + (few ? "\n" : "  # generic\n");
  }
  text += grids(fitted.corrections, "");
  if (!fitted.version.empty() && !few) {
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
  if (fitted.tuned) {
    text += fmt::format(
        "tuned:  # when a server starts, and not when the table was taken\n"
        "  kernels_of: {}\n",
        fitted.tuned->version);
    text += grids(fitted.tuned->corrections, "  ");
  }
  return text;
}

}  // namespace roofcast::calibrate
