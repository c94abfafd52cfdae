// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/brief.hpp"

#include <fmt/format.h>

#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/assets/asset.hpp"
#include "cli/pages/html_page.hpp"
#include "cli/text/json_answer.hpp"

namespace roofcast::cli {

namespace {

struct Section {
  const char* heading;
  const std::vector<std::string>* lines;
};
std::vector<Section> sections_of(const Brief& brief) {
  std::vector<Section> all = {{"Assumptions", &brief.assumptions},
                              {"Confidence", &brief.confidence},
                              {"What would change the answer", &brief.changes}};
  std::erase_if(all, [](const Section& section) { return section.lines->empty(); });
  return all;
}

// "_" within a word is no mark.
std::string for_markdown(const std::string& text) {
  const auto in_word = [&](std::size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool mark = c == '_' ? i == 0 || !in_word(i - 1) || !in_word(i + 1)
                               : std::string_view("|*<>`").find(c) != std::string_view::npos;
    out += mark ? fmt::format("\\{}", c) : std::string(1, c);
  }
  return out;
}
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

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row("|");
  for (const std::string& cell : cells) {
    row += fmt::format(" {} |", for_markdown(cell));
  }
  return row + "\n";
}

std::string html_row(const std::vector<std::string>& cells, const char* tag) {
  std::string row("<tr>");
  for (const std::string& cell : cells) {
    row += fmt::format("<{0}>{1}</{0}>", tag, for_html(cell));
  }
  return row + "</tr>\n";
}

}  // namespace

std::string markdown(const Brief& brief) {
  std::string page = fmt::format("# {}\n\n", for_markdown(brief.question));
  for (const std::string& sentence : brief.answer) {
    page += fmt::format("{}\n", for_markdown(sentence));
  }
  for (const Brief::Evidence& evidence : brief.evidence) {
    const auto& rows = evidence.table.rows();
    page +=
        fmt::format("\n## {}\n\n{}", for_markdown(evidence.heading), markdown_row(rows.front()));
    page += markdown_row(std::vector<std::string>(rows.front().size(), "---"));
    for (std::size_t i = 1; i < rows.size(); ++i) {
      page += markdown_row(rows[i]);
    }
  }
  for (const Section& section : sections_of(brief)) {
    page += fmt::format("\n## {}\n\n", section.heading);
    for (const std::string& line : *section.lines) {
      page += fmt::format("- {}\n", for_markdown(line));
    }
  }
  return page;
}

nlohmann::ordered_json json_of(const Brief& brief) {
  nlohmann::ordered_json evidence = nlohmann::ordered_json::array();
  for (const Brief::Evidence& each : brief.evidence) {
    evidence.push_back({{"heading", each.heading}, {"rows", json_rows(each.table)}});
  }
  return {{"question", brief.question},       {"answer", brief.answer},
          {"evidence", std::move(evidence)},  {"assumptions", brief.assumptions},
          {"confidence", brief.confidence},   {"changes", brief.changes}};
}

std::string html(const Brief& brief) {
  std::string body = fmt::format("<h1>{}</h1>\n<p class=\"answer\">", for_html(brief.question));
  for (const std::string& sentence : brief.answer) {
    body += fmt::format("{}\n", for_html(sentence));
  }
  body += "</p>\n";
  for (const Brief::Evidence& evidence : brief.evidence) {
    const auto& rows = evidence.table.rows();
    body += fmt::format(
        "<section><h2>{0}</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"{0}\"><table>\n<thead>{1}</thead>\n<tbody>\n",
        for_html(evidence.heading), html_row(rows.front(), "th"));
    for (std::size_t i = 1; i < rows.size(); ++i) {
      body += html_row(rows[i], "td");
    }
    body += "</tbody></table></div></section>\n";
  }
  for (const Section& section : sections_of(brief)) {
    body += fmt::format("<section><h2>{}</h2>\n<ul>\n", section.heading);
    for (const std::string& line : *section.lines) {
      body += fmt::format("<li>{}</li>\n", for_html(line));
    }
    body += "</ul></section>\n";
  }
  return fill(asset_brief_html(), {{"{{title}}", for_html(brief.question)},
                                   {"/*{{css}}*/", asset_report_css()},
                                   {"<!--{{body}}-->", body}});
}

}  // namespace roofcast::cli
