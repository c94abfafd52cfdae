// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/sequence_lengths.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/csv/csv_column.hpp"
#include "base/document/problems.hpp"
#include "workloads/traffic/request_traces.hpp"

namespace roofcast::workloads {
namespace {

std::vector<std::int64_t> lengths_of(const base::CsvTable& table) {
  const base::CsvColumn tokens(table, "tokens");
  std::vector<std::int64_t> lengths;
  lengths.reserve(table.rows());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    lengths.push_back(tokens.count(row, 1, kMostTokens));
  }
  if (lengths.empty()) {
    throw base::InputError(fmt::format("{}: error: a table without a sequence", table.name()));
  }
  return lengths;
}

}  // namespace

std::vector<std::int64_t> read_lengths(const std::filesystem::path& file, SequencePart part) {
  std::string text = base::read_text(file);
  if (!text.starts_with('{')) {
    const base::CsvTable table = base::parse_csv(text, file.string());
    if (!table.find_column("TIMESTAMP") && !table.find_column("arrival_s")) {
      return lengths_of(table);
    }
  }
  std::vector<std::int64_t> lengths;
  for (const Request& request : parse_requests(std::move(text), file.string()).requests) {
    lengths.push_back((part == SequencePart::output ? 0 : request.input_tokens) +
                      (part == SequencePart::input ? 0 : request.output_tokens));
  }
  return lengths;
}

}  // namespace roofcast::workloads
