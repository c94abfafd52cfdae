// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "cli/pages/report.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/provenance/parts_folder.hpp"
#include "cli/provenance/provenance.hpp"
#include "cli/provenance/report_parts.hpp"
#include "cli/tables/result_csv.hpp"
#include "cli/tables/say.hpp"
#include "cli/text/json_answer.hpp"
#include "sim/decide/sweep_run.hpp"

namespace roofcast::cli {
namespace {

void tell_report(const std::string& output, std::size_t rows, bool json) {
  if (json) {
    print_json({{"report", output}, {"rows", rows}});
  } else {
    say("Report  {}\n", output);
  }
}

// Of shards that are not merged.
int report_parts(const std::filesystem::path& folder, const std::string& output, bool json) {
  const PartsFolder sweep(folder);
  note_question("sweep", sweep.document());
  const PartsOnDisk parts{sweep.parts(), {folder}};
  const bool whole = sweep.parts().simulates();
  sim::ResultTable table = whole ? parts.parts.read({folder}) : parts.parts.read_thin({folder});
  sim::rank_rows(sweep.points(), table);
  if (!whole) {
    fetch_rows_to_show(sweep.points(), parts, table);
  }
  write_report(table, &sweep.points(), sweep.text(), output);
  tell_report(output, table.rows(), json);
  return kDone;
}

int run_report(const std::string& results, const std::string& output, bool json) {
  if (std::error_code error; std::filesystem::is_directory(results, error)) {
    return report_parts(results, output, json);
  }
  base::CsvFile file(results);
  const sim::ResultTable table = read_results(file);
  if (table.rows() == 0) {
    throw base::InputError(
        fmt::format("error: {} has no rows: it is no result of roofcast\n", results));
  }
  tell("{}", foreign_provenance(results));
  const std::filesystem::path beside = sweep_file_beside(results);
  if (!std::filesystem::is_regular_file(beside)) {
    tell("{} is not there: the report has no operator views\n", beside.string());
    write_report(table, nullptr, "", output);
  } else {
    if (std::filesystem::is_regular_file(provenance_beside(results)) &&
        !is_as_written(beside, results)) {
      tell("{} is not what was written with {}: operators are drawn as it says\n", beside.string(),
           results);
    }
    const base::Node document = base::load_document(beside);
    note_question("sweep", document);
    const sim::SweepPoints points(sim::read_sweep(document));
    if (points.size() != table.rows()) {
      throw base::InputError(fmt::format("error: {} makes {} points, {} has {} rows\n",
                                         beside.string(), points.size(), results, table.rows()));
    }
    write_report(table, &points, document.place.source->text, output);
  }
  tell_report(output, table.rows(), json);
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
  command
      ->add_option("results", *results,
                   "a CSV written by `roofcast sweep`, or a folder of all its parts, OUT.csv.parts")
      ->type_name(kFile)
      ->required();
  command->add_option("-o,--output", *output, "the HTML file")->written()->required();
  command->add_json(*json);
  command->footer(examples({"roofcast report out.csv --output out.html",
                            "roofcast report packed.csv.gz -o packed.html"}));
  command->callback([&chosen, results, output, json] {
    chosen = [results, output, json] { return run_report(*results, *output, *json); };
  });
}

}  // namespace roofcast::cli
