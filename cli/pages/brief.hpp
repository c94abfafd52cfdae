// SPDX-License-Identifier: Apache-2.0
//
// One page for people who decide: the question, the answer, and what it rests on. The numbers in [brackets] are rows
// of the CSV beside it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/tables/text_table.hpp"
#include "sim/decide/result_table.hpp"
#include "sim/decide/sweep_points.hpp"
#include "sim/roadmap/roadmap_result.hpp"

namespace roofcast::cli {

struct Brief {
  std::string question;
  std::vector<std::string> answer;  // sentences
  struct Evidence {
    std::string heading;
    TextTable table;
  };
  std::vector<Evidence> evidence;
  std::vector<std::string> assumptions;
  std::vector<std::string> confidence;
  std::vector<std::string> changes;  // what would change the answer
  // Of the HTML alone:
  struct Chart {
    std::string heading;
    std::string svg;
  };
  std::vector<Chart> charts;
  std::optional<TextTable> cited;  // the rows of the CSV that the page names, their number first
};

// The rows that the page names.
std::set<std::size_t> cited_by(const Brief& brief);

Brief brief_of(const sim::Roadmap& roadmap, const sim::RoadmapResult& result);
// The best point of each group of a sweep by a metric (rows of sim/decide/result_table.hpp), and what would put another first:
// bounds of conditions, and a price where the metric is a cost.
Brief brief_of(const sim::SweepPoints& points, const sim::ResultTable& result,
               const sim::Metric& metric);

// The sentences of that answer, and where there are several groups the best of each, the best first: its interval, what
// limits it, what its replay says.
struct Answer {
  std::vector<std::string> sentences;
  std::vector<std::string> best;
  std::vector<std::string> changes;  // what would change it; of a sweep its brief says that
};
Answer answer_of(const sim::SweepPoints& points, const sim::ResultTable& result,
                 const sim::Metric& metric);

// For a page that no CSV is beside.
Brief without_citations(Brief brief);

std::string text(const Brief& brief);  // for a terminal
std::string markdown(const Brief& brief);
nlohmann::ordered_json json_of(const Brief& brief);
// `head` stands before the answer: an element that nobody sees.
std::string html(
    const Brief& brief,
    const std::string& head = {});  // self-contained, without scripts but for the theme

}  // namespace roofcast::cli
