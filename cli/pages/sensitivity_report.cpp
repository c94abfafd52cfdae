// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/sensitivity_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/assets/asset.hpp"
#include "cli/pages/html_page.hpp"
#include "cli/provenance/version.hpp"
#include "cli/tables/metric_cells.hpp"

namespace roofcast::cli {

namespace {

using nlohmann::ordered_json;

ordered_json page_json(const std::string& question, const std::string& text,
                       const std::filesystem::path& file) {
  return {{"title", file.stem().string()},  {"generated_by", "roofcast " + version()},
          {"question", question},           {"scenario", text},
          {"notes", ordered_json::array()}, {"metrics", ordered_json::array()}};
}

void write(const ordered_json& data, const std::filesystem::path& file) {
  write_page(asset_sensitivity_html(), {asset_row_charts_js(), asset_sensitivity_js()}, data, file);
}

}  // namespace

void write_report(const SensitivityAnswer& answer, const std::string& text,
                  const std::filesystem::path& file) {
  std::vector<std::string_view> labels;
  for (const sim::Metric* metric : answer.metrics) {
    labels.push_back(metric->label);
  }
  ordered_json data =
      page_json(fmt::format("What {} {} of {} depend on?", labels.size() == 1 ? "does" : "do",
                            fmt::join(labels, ", "), answer.title),
                text, file);
  for (const sim::Metric* metric : answer.metrics) {
    const sim::Interval90 interval = sim::interval90(*metric, answer.estimate);
    data["metrics"].push_back({{"name", metric->name},
                               {"label", metric->label},
                               {"unit", metric->unit},
                               {"better", metric->better == sim::Better::higher  ? ordered_json(1)
                                          : metric->better == sim::Better::lower ? ordered_json(-1)
                                                                                 : ordered_json(0)},
                               {"limited_by", limit_text(answer.estimate, metric->name)},
                               {"low90", interval.low},
                               {"high90", interval.high}});
  }
  data["answer"] = sensitivity_json(answer);
  write(data, file);
}

void write_report_of_misfit(const std::string& title, const std::string& reason,
                            const std::string& text, const std::filesystem::path& file) {
  ordered_json data = page_json(title, text, file);
  data["notes"].push_back("Does not run: " + reason);
  write(data, file);
}

}  // namespace roofcast::cli
