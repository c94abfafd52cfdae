// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/drawn_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/document/problems.hpp"
#include "cli/pages/report.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kCurvePoints = 200;

// What differs from run to run: their time, or with `run.days` what they train in it.
struct Measure {
  const char* metric;
  double (*value)(const DrawnRuns&, const sim::RunOutcome&);
  double scale;  // of the unit of the curve
  const char* unit;
};

constexpr Measure kTime = {"run_s",
                           [](const DrawnRuns&, const sim::RunOutcome& f) { return f.time.si(); },
                           86400.0, "days"};
constexpr Measure kTokens = {"run_tokens",
                             [](const DrawnRuns& answer, const sim::RunOutcome& f) {
                               return answer.tokens_per_second * f.shares.useful * f.time.si();
                             },
                             1e9, "billion tokens"};

sim::ResultTable table_of(const DrawnRuns& answer, const Measure& measure) {
  sim::ResultTable table("the drawn runs",
                         {"point", "fits", "meets", measure.metric, "interruptions"});
  table.resize(answer.drawn.size());
  for (std::size_t row = 0; row < answer.drawn.size(); ++row) {
    const sim::RunOutcome& f = answer.drawn[row];
    table.column("point").set(row, static_cast<double>(row));
    for (const char* yes : {"fits", "meets"}) {
      table.column(yes).set_code(row, table.column(yes).code_of("true"));
    }
    table.column(measure.metric).set(row, measure.value(answer, f));
    table.column("interruptions").set(row, f.interruptions);
  }
  return table;
}

// The share of the runs that are done within a time, or that train so much.
ReportCurves distribution(const DrawnRuns& answer, const Measure& measure) {
  std::vector<double> values;
  for (const sim::RunOutcome& f : answer.drawn) {
    values.push_back(measure.value(answer, f) / measure.scale);
  }
  std::sort(values.begin(), values.end());
  const bool by_days = answer.tokens_per_second > 0.0;
  ReportCurves curves;
  curves.heading = by_days ? "Runs that train so much" : "Runs that are done";
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  curves.caption =
      fmt::format("{} drawn runs; on average {:.4g}, by the closed form {:.4g} {}.", values.size(),
                  mean, measure.value(answer, answer.closed) / measure.scale, measure.unit);
  curves.x_label = measure.unit;
  curves.y_label = "Share of the runs";
  curves.doubles = false;
  ReportCurves::Line line{"drawn", {}};
  const std::size_t count = std::min(values.size(), kCurvePoints);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = (2 * i + 1) * values.size() / (2 * count);
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    curves.x.push_back(values[at]);
    line.values.push_back(by_days ? 1.0 - share : share);
  }
  curves.lines.push_back(std::move(line));
  return curves;
}

}  // namespace

void write_report(const DrawnRuns& answer, const std::string& scenario,
                  const std::filesystem::path& file) {
  if (!answer.reason.empty()) {
    throw base::InputError(fmt::format("error: --report: it does not run: {}\n", answer.reason));
  }
  const bool by_days = answer.tokens_per_second > 0.0;
  const Measure& measure = by_days ? kTokens : kTime;
  ReportHead head;
  head.question = fmt::format("{}: {} runs drawn", answer.title.substr(0, answer.title.find('\n')),
                              answer.drawn.size());
  head.scenario = scenario;
  (by_days ? head.goal.maximize : head.goal.minimize) = {measure.metric};
  head.goal.minimize.emplace_back("interruptions");
  write_report(table_of(answer, measure), head, file, {distribution(answer, measure)});
}

}  // namespace roofcast::cli
