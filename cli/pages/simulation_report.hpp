// SPDX-License-Identifier: Apache-2.0
//
// One self-contained HTML file of served requests: distributions of TTFT and TPOT, what runs and waits,
// KV cache and throughput second by second, tables, CSV to save. Simulated ones alone (`simulate`), or
// beside measured ones (`calibrate validate requests`).
//
// The page, its data contract and its drawings are cli/assets/simulation.*.
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/csv/csv.hpp"
#include "cli/tables/text_table.hpp"
#include "sim/replay/simulate.hpp"

namespace roofcast::cli {

// One side of a comparison. What was not recorded is an empty list.
struct ServedSide {
  std::string name;                 // "simulated"
  std::vector<base::Seconds> ttft;  // of requests in any order
  std::vector<base::Seconds> tpot;
  // Of the seconds from the start on; NaN where a second was not recorded.
  std::vector<double> running, waiting;
  std::vector<double> cache;   // share
  std::vector<double> output;  // tokens
  std::vector<double> busy;    // share
};

// A table that the reader can save.
struct ReportFile {
  std::string name;
  std::string text;
};

struct ServedRun {
  std::string name;
  std::string text;   // what it is, in a sentence
  std::string start;  // what its start does to its times; empty: nothing
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<TextTable> tables;
  std::vector<ServedSide> sides;
  std::vector<ReportFile> files;
  // Objectives of a request.
  std::optional<base::Seconds> ttft_limit;
  std::optional<base::Seconds> tpot_limit;
  // Served requests a second; NaN for none.
  double requests_per_s = std::numeric_limits<double>::quiet_NaN();
};

struct ServedReport {
  std::string question;  // below the title
  std::string scenario;  // YAML; empty for none
  std::vector<std::string> notes;
  std::vector<ServedRun> runs;
};

ServedSide simulated_side(const std::vector<base::Seconds>& ttft,
                          const std::vector<base::Seconds>& tpot,
                          const std::vector<sim::SimulatedSecond>& seconds);

// What `write` appends as a file called `name`; a note where it has more than a page should hold.
void add_file(ServedReport& report, ServedRun& run, const std::string& name, std::size_t rows,
              const std::vector<std::string>& columns,
              const std::function<void(base::CsvWriter&)>& write);

void write_report(const ServedReport& report, const std::filesystem::path& file);

}  // namespace roofcast::cli
