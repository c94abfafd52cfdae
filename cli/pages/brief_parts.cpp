// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/brief_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "cli/tables/metric_cells.hpp"
#include "cli/tables/text_table.hpp"
#include "sim/result/parent_figures.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {
namespace {

// Of a source; "U.S. Energy" is no end of one.
std::string first_sentence(const std::string& text) {
  constexpr std::size_t kShortest = 30;
  return text.substr(0, text.find(". ", kShortest));
}

// "electricity: price 0.0861 USD/kWh (2025-12-31; EIA …)"; empty where there are no figures.
std::string figures_line(const std::string& name, const base::Node* group) {
  std::string figures;
  std::string origin;
  for (const base::Entry& entry : group->entries) {
    if (entry.key == "date") {
      origin = entry.value.text + (origin.empty() ? "" : "; ") + origin;
    } else if (entry.key == "source") {
      origin += (origin.empty() ? "" : "; ") + first_sentence(entry.value.text);
    } else if (entry.value.is_scalar()) {
      figures += fmt::format("{}{} {}", figures.empty() ? "" : ", ", entry.key, entry.value.text);
    }
  }
  return fmt::format("{}: {} ({}).", name, figures, origin);
}

}  // namespace

const char* const kIntervals =
    "Intervals are of 90 %, from the measured errors of operators and servers; errors that both "
    "sides of a ratio share cancel.";

std::string for_html(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '&'   ? "&amp;"
           : c == '<' ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  }
  return out;
}

std::string cite(std::size_t row) { return fmt::format("[{}]", row); }

std::string interval_text(sim::Interval90 interval, std::string_view unit) {
  if (std::isnan(interval.low)) {
    return "-";
  }
  std::string low = display(interval.low, unit);
  const std::string high = display(interval.high, unit);
  if (const auto blank = low.find(' '); blank < low.size() && high.ends_with(low.substr(blank))) {
    low.resize(blank);
  }
  return fmt::format("{} to {}", low, high);
}

std::string limit_or_throughput(const sim::ServingEstimate& estimate, std::string_view metric) {
  const std::string own = limit_text(estimate, metric);
  return own.empty() ? limit_text(estimate, "throughput_tok_per_s_per_gpu") : own;
}

std::vector<std::string> price_lines(const base::Node& document, const sim::Scenario& scenario,
                                     bool costs) {
  std::vector<std::string> lines;
  const std::string& system = scenario.platform.system.name;
  const bool owned = scenario.prices.pay == hardware::Pay::ownership;
  const char* key = owned ? "system.purchase" : "system.price";
  if (const base::Node* price = costs ? document.find_path(key) : nullptr) {
    lines.push_back(
        figures_line(fmt::format("{}, {}", system, owned ? "bought" : "rented"), price));
  }
  const base::Node* site = document.find("prices");
  for (std::size_t i = 0; costs && owned && site != nullptr && i < site->entries.size(); ++i) {
    if (const base::Entry& entry = site->entries[i];
        entry.value.is_map() && entry.key != "grid") {  // which costs nothing
      lines.push_back(figures_line(entry.key, &entry.value));
    }
  }
  for (const std::string& sentence : sim::parent_sentences(sim::view(scenario))) {
    lines.push_back(sentence + ".");
  }
  return lines;
}

std::string parameters_text(std::string_view calibration, hardware::Provenance provenance) {
  return fmt::format("{} ({})", calibration, hardware::name(provenance));
}

}  // namespace roofcast::cli
