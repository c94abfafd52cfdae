// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/pages/report.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/tables/result_csv.hpp"
#include "cli/tables/say.hpp"
#include "cli/text/json_answer.hpp"

namespace roofcast::cli {
namespace {

int run_report(const std::string& results, const std::string& output, bool json) {
  base::CsvFile file(results);
  const sim::ResultTable table = read_results(file);
  if (table.rows() == 0) {
    throw base::InputError(
        fmt::format("error: {} has no rows: it is no result of roofcast\n", results));
  }
  const std::filesystem::path beside = sweep_file_beside(results);
  if (!std::filesystem::exists(beside)) {
    tell("{} is not there: the report has no operator views\n", beside.string());
    write_report(table, nullptr, "", output);
  } else {
    const base::Node document = base::load_document(beside);
    note_question("sweep", document);
    const sim::SweepPoints points(sim::read_sweep(document));
    if (points.size() != table.rows()) {
      throw base::InputError(fmt::format("error: {} makes {} points, {} has {} rows\n",
                                         beside.string(), points.size(), results, table.rows()));
    }
    write_report(table, &points, document.place.source->text, output);
  }
  if (json) {
    print_json({{"report", output}, {"rows", table.rows()}});
  } else {
    say("Report  {}\n", output);
  }
  return kDone;
}

}  // namespace

void add_report(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "report",
      "Writes an HTML report of a result CSV, in one file\n"
      "The charts of operators need OUT.sweep.yaml, which `roofcast sweep` writes beside "
      "OUT.csv.");
  auto results = std::make_shared<std::string>();
  auto output = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("results", *results, "a CSV written by `roofcast sweep`")
      ->type_name(kFile)
      ->required();
  command->add_option("-o,--output", *output, "the HTML file")->written()->required();
  command->add_json(*json);
  command->footer(examples(
      {"roofcast report out.csv --output out.html", "roofcast report hbm.csv.gz -o hbm.html"}));
  command->callback([&chosen, results, output, json] {
    chosen = [results, output, json] { return run_report(*results, *output, *json); };
  });
}

}  // namespace roofcast::cli
