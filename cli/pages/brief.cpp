// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/brief.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/assets/asset.hpp"
#include "cli/pages/brief_parts.hpp"
#include "cli/pages/cited_rows.hpp"
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
// Escaped, each number of a row a link to it.
std::string linked(const std::string& text, const std::set<std::size_t>& rows) {
  std::string out;
  std::size_t done = 0;
  for (const Citation& at : citations(text)) {
    if (rows.contains(at.row)) {
      out += fmt::format("{}<a href=\"#row-{}\">[{}]</a>",
                         for_html(text.substr(done, at.begin - done)), at.row, at.row);
      done = at.end;
    }
  }
  return out + for_html(text.substr(done));
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row("|");
  for (const std::string& cell : cells) {
    row += fmt::format(" {} |", for_markdown(cell));
  }
  return row + "\n";
}

std::string html_row(const std::vector<std::string>& cells, const char* tag,
                     const std::set<std::size_t>& rows, const std::string& id = "") {
  std::string row = id.empty() ? "<tr>" : fmt::format("<tr id=\"row-{}\">", id);
  for (const std::string& cell : cells) {
    row += fmt::format("<{0}>{1}</{0}>", tag, linked(cell, rows));
  }
  return row + "</tr>\n";
}

// `named`: the first cell of a row is what links call it.
std::string html_table(const std::string& heading, const TextTable& table,
                       const std::set<std::size_t>& cited, bool named = false) {
  const auto& rows = table.rows();
  std::string body = fmt::format(
      "<section><h2>{0}</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"{0}\"><table>\n<thead>{1}</thead>\n<tbody>\n",
      for_html(heading), html_row(rows.front(), "th", cited));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    body += html_row(rows[i], "td", cited, named ? rows[i].front() : "");
  }
  return body + "</tbody></table></div></section>\n";
}

std::string without_citations(const std::string& text) {
  std::string plain;
  std::size_t done = 0;
  for (const Citation& at : citations(text)) {
    const bool spaced = at.begin > done && text[at.begin - 1] == ' ';
    plain += text.substr(done, at.begin - (spaced ? 1 : 0) - done);
    done = at.end;
  }
  return plain + text.substr(done);
}

// Without the columns that have only citations, too.
TextTable without_citations(const TextTable& table) {
  std::vector<std::vector<std::string>> rows(table.rows().size());
  for (std::size_t column = 0; column < table.rows().front().size(); ++column) {
    bool any = false;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const std::string& cell = table.rows()[row][column];
      rows[row].push_back(row == 0 ? cell : without_citations(cell));
      any = any || (row > 0 && (cell.empty() || !rows[row].back().empty()));
    }
    if (!any) {
      for (auto& row : rows) {
        row.pop_back();
      }
    }
  }
  TextTable plain(rows.front());
  for (std::size_t row = 1; row < rows.size(); ++row) {
    plain.add(std::move(rows[row]));
  }
  return plain;
}

}  // namespace

Brief without_citations(Brief brief) {
  for (auto* lines : {&brief.answer, &brief.assumptions, &brief.confidence, &brief.changes}) {
    for (std::string& line : *lines) {
      line = without_citations(line);
    }
  }
  for (Brief::Evidence& evidence : brief.evidence) {
    evidence.table = without_citations(evidence.table);
  }
  return brief;
}

std::string text(const Brief& brief) {
  std::string page = brief.question + "\n\n";
  for (const std::string& sentence : brief.answer) {
    page += sentence + "\n";
  }
  for (const Brief::Evidence& evidence : brief.evidence) {
    page += fmt::format("\n{}:\n{}", evidence.heading, evidence.table.text());
  }
  for (const Section& section : sections_of(brief)) {
    page += fmt::format("\n{}:\n", section.heading);
    for (const std::string& line : *section.lines) {
      page += fmt::format("- {}\n", line);
    }
  }
  return page;
}

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

std::set<std::size_t> cited_by(const Brief& brief) {
  std::set<std::size_t> rows;
  const auto add = [&rows](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      for (const Citation& at : citations(text)) {
        rows.insert(at.row);
      }
    }
  };
  add(brief.answer);
  for (const Brief::Evidence& evidence : brief.evidence) {
    std::for_each(evidence.table.rows().begin(), evidence.table.rows().end(), add);
  }
  for (const Section& section : sections_of(brief)) {
    add(*section.lines);
  }
  return rows;
}

nlohmann::ordered_json json_of(const Brief& brief) {
  nlohmann::ordered_json evidence = nlohmann::ordered_json::array();
  for (const Brief::Evidence& each : brief.evidence) {
    evidence.push_back({{"heading", each.heading}, {"rows", json_rows(each.table)}});
  }
  return {{"question", brief.question},      {"answer", brief.answer},
          {"evidence", std::move(evidence)}, {"assumptions", brief.assumptions},
          {"confidence", brief.confidence},  {"changes", brief.changes}};
}

std::string html(const Brief& brief, const std::string& head) {
  std::set<std::size_t> cited;
  for (std::size_t i = 1; brief.cited && i < brief.cited->rows().size(); ++i) {
    cited.insert(std::stoul(brief.cited->rows()[i].front()));
  }
  std::string body =
      fmt::format("{}<h1>{}</h1>\n<p class=\"answer\">", head, for_html(brief.question));
  for (const std::string& sentence : brief.answer) {
    body += fmt::format("{}\n", linked(sentence, cited));
  }
  body += "</p>\n";
  for (const Brief::Chart& chart : brief.charts) {
    body += fmt::format("<section><h2>{}</h2>\n{}</section>\n", for_html(chart.heading), chart.svg);
  }
  for (const Brief::Evidence& evidence : brief.evidence) {
    body += html_table(evidence.heading, evidence.table, cited);
  }
  for (const Section& section : sections_of(brief)) {
    body += fmt::format("<section><h2>{}</h2>\n<ul>\n", section.heading);
    for (const std::string& line : *section.lines) {
      body += fmt::format("<li>{}</li>\n", linked(line, cited));
    }
    body += "</ul></section>\n";
  }
  if (!cited.empty()) {
    body += html_table("Rows of the CSV beside this page", *brief.cited, {}, true);
  }
  return fill(asset_brief_html(), {{"{{title}}", for_html(brief.question)},
                                   {"/*{{css}}*/", asset_report_css()},
                                   {"<!--{{body}}-->", body}});
}

}  // namespace roofcast::cli
