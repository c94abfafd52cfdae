// SPDX-License-Identifier: Apache-2.0
//
// A result (sim/decide/result_table.hpp) as a CSV, one row a point: what feeds spreadsheets, `pareto` and `report`.
//
// Beside OUT.csv stands OUT.sweep.yaml, the sweep that made it with its base scenario written out.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv/csv_file.hpp"
#include "sim/decide/result_table.hpp"
#include "sim/decide/sweep.hpp"

namespace roofcast::cli {

// `threads` 0 = all cores; the same bytes whatever their number.
void write_results(const sim::ResultTable& table, unsigned threads, base::CsvWriter& csv);
// Some of its columns.
using ShownColumns = std::vector<const sim::ResultColumn*>;
void write_results(const sim::ResultTable& table, const ShownColumns& columns, unsigned threads,
                   base::CsvWriter& csv);

// The columns of a table that its sweep asks for (sim/decide/shown_columns.hpp).
ShownColumns shown(const sim::ResultTable& table, const sim::Sweep& sweep);
ShownColumns every_column(const sim::ResultTable& table);

// All rows of a file, or some by growing number. Throws CsvError for a cell of a file that is neither empty nor what its
// column has: a number, or true or false; without a file, such a cell is left out.
sim::ResultTable read_results(base::CsvFile& file);
sim::ResultTable read_results(const base::CsvTable& rows);
void set_cell(sim::ResultColumn& column, std::size_t row, std::string_view cell);
void append_cell(const sim::ResultColumn& column, std::size_t row, base::CsvWriter& csv);

// The sweep as one document that means the same in any folder: its base scenario inline, paths of files absolute.
std::string sweep_text(const base::Node& document, const sim::Sweep& sweep);

// OUT.csv, OUT.csv.gz or OUT.csv.zst → OUT.sweep.yaml
std::filesystem::path sweep_file_beside(const std::filesystem::path& csv);

}  // namespace roofcast::cli
