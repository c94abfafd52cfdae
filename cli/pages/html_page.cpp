// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/html_page.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "base/document/text_file.hpp"
#include "cli/assets/asset.hpp"
#include "cli/provenance/made_by.hpp"

namespace roofcast::cli {

namespace {
using nlohmann::ordered_json;
}  // namespace

std::string fill(std::string_view page,
                 const std::vector<std::pair<std::string_view, std::string_view>>& tokens) {
  std::string out;
  for (const auto& [token, text] : tokens) {
    const auto at = page.find(token);
    if (at == std::string_view::npos) {
      throw std::logic_error(fmt::format("page lacks {}", token));
    }
    out += page.substr(0, at);
    out += text;
    page.remove_prefix(at + token.size());
  }
  return out += page;
}

void write_page(std::string_view page, const std::vector<std::string_view>& scripts,
                const ordered_json& data, const std::filesystem::path& file) {
  const std::string json = without_tags(json_text(data));
  std::vector<std::string_view> all = {asset_echarts_min_js(), asset_report_page_js(),
                                       asset_download_js(), asset_report_charts_js(),
                                       asset_chart_keys_js()};
  all.insert(all.end(), scripts.begin(), scripts.end());
  std::string elements = provenance_element(file.string());
  for (const std::string_view script : all) {
    elements += "<script>";
    elements += script;
    elements += "</script>\n";
  }
  constexpr std::string_view kLicence = "<!-- SPDX-License-Identifier: Apache-2.0 -->\n";
  const std::string head = fill(asset_page_head_html(), {{"/*{{css}}*/", asset_report_css()}});
  const std::string foot =
      fill(asset_page_foot_html(),
           {{kLicence, ""}, {"{{data}}", json}, {"<!--{{scripts}}-->\n", elements}});
  base::write_text(
      file, fill(page, {{"<!-- SPDX-License-Identifier: Apache-2.0 --><!--{{head}}-->\n", head},
                        {"<!--{{foot}}-->\n", foot}}));
}

}  // namespace roofcast::cli
