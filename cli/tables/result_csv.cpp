// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/result_csv.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <optional>
#include <vector>

#include "base/threads.hpp"
#include "base/trimmed.hpp"
#include "sim/decide/shown_columns.hpp"
#include "sim/scenario/named_files.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kBlock = 256;  // rows that a thread formats and then writes

void write_rows(const ShownColumns& columns, std::size_t from, std::size_t to,
                base::CsvWriter& csv) {
  for (std::size_t row = from; row < to; ++row) {
    for (const sim::ResultColumn* each : columns) {
      append_cell(*each, row, csv);
    }
    csv.end_row();
  }
}

// Values that are files become bundles, whose names are what the CSV says.
void make_paths_absolute(base::Entry& axis, const std::vector<sim::AxisValue>& labelled) {
  if (axis.value.is_map()) {
    for (base::Entry& bundle : axis.value.entries) {
      for (base::Entry& setting : bundle.value.entries) {
        sim::make_paths_absolute(setting.value, setting.key);
      }
    }
    return;
  }
  const std::vector<base::Node>& values = axis.value.items;
  if (std::none_of(values.begin(), values.end(),
                   [&](const base::Node& v) { return sim::has_relative_paths(v, axis.key); })) {
    return;
  }
  base::Node bundles = axis.value;
  bundles.kind = base::Node::Kind::map;
  bundles.items.clear();
  for (std::size_t i = 0; i < values.size(); ++i) {
    base::Node value = values[i];
    sim::make_paths_absolute(value, axis.key);
    bundles[labelled[i].label][axis.key] = std::move(value);
  }
  if (bundles.entries.size() == values.size()) {  // else some labels are alike
    axis.value = std::move(bundles);
  }
}

bool is_verdict(const sim::ResultColumn& column) {
  return column.name() == "fits" || column.name() == "meets";
}

void set_flag(sim::ResultColumn& column, std::size_t row, std::optional<bool> flag) {
  column.set_code(row, column.code_of(!flag ? "" : *flag ? "true" : "false"));
}

}  // namespace

void append_cell(const sim::ResultColumn& column, std::size_t row, base::CsvWriter& csv) {
  if (column.is_blank()) {
    csv.append(std::string_view());
  } else if (!column.has_numbers()) {
    csv.append(column.text(row));
  } else if (column.is_whole() && !column.is_empty(row)) {
    csv.append(static_cast<std::uint64_t>(column.number(row)));
  } else {
    csv.append(column.number(row));
  }
}

void set_cell(sim::ResultColumn& column, std::size_t row, std::string_view cell) {
  if (column.has_numbers()) {
    column.set(row, base::parse_number(base::trimmed(cell)).value_or(std::nan("")));
  } else if (is_verdict(column)) {
    set_flag(column, row, base::parse_flag(base::trimmed(cell)));
  } else {
    column.set_code(row, column.code_of(cell));
  }
}

ShownColumns every_column(const sim::ResultTable& table) {
  ShownColumns columns;
  for (const sim::ResultColumn& column : table.columns()) {
    columns.push_back(&column);
  }
  return columns;
}

ShownColumns shown(const sim::ResultTable& table, const sim::Sweep& sweep) {
  ShownColumns columns;
  for (const std::string& name : sim::shown_columns(sweep, table.names())) {
    columns.push_back(table.find(name));
  }
  return columns;
}

void write_results(const sim::ResultTable& table, unsigned threads, base::CsvWriter& csv) {
  write_results(table, every_column(table), threads, csv);
}

void write_results(const sim::ResultTable& table, const ShownColumns& columns, unsigned threads,
                   base::CsvWriter& csv) {
  // A thread writes, and hashes, a block while others format the next ones.
  std::atomic<std::size_t> next{0};  // block that no thread has taken
  std::mutex turns;
  std::condition_variable turn;
  std::size_t due = 0;  // block to be written
  bool failed = false;
  const auto work = [&] {
    base::CsvWriter apart = csv.apart();
    for (std::size_t block = next++; block * kBlock < table.rows(); block = next++) {
      write_rows(columns, block * kBlock, std::min(table.rows(), (block + 1) * kBlock), apart);
      std::unique_lock<std::mutex> lock(turns);
      turn.wait(lock, [&] { return due == block || failed; });
      if (failed) {
        return;
      }
      csv.add_rows(apart);
      ++due;
      turn.notify_all();
    }
  };
  base::on_threads(base::thread_count(threads), [&](unsigned) {
    try {
      work();
    } catch (...) {
      const std::lock_guard<std::mutex> lock(turns);
      failed = true;  // nobody waits for its block
      turn.notify_all();
      throw;
    }
  });
  csv.close();
}

sim::ResultTable read_results(base::CsvFile& file) {
  sim::ResultTable table(file.name(), file.columns());
  std::vector<std::size_t> columns(file.columns().size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  file.read(columns, [&](std::span<const std::string_view> cells) {
    const std::size_t row = table.rows();
    table.resize(row + 1);
    for (std::size_t c = 0; c < cells.size(); ++c) {
      sim::ResultColumn& column = table.columns()[c];
      if (column.has_numbers()) {
        column.set(row, file.number(cells[c], c));
      } else if (is_verdict(column)) {
        set_flag(column, row, file.flag(cells[c], c));
      } else {
        set_cell(column, row, cells[c]);
      }
    }
  });
  return table;
}

sim::ResultTable read_results(const base::CsvTable& rows) {
  sim::ResultTable table(rows.name(), rows.columns());
  table.resize(rows.rows());
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    for (std::size_t c = 0; c < rows.columns().size(); ++c) {
      set_cell(table.columns()[c], row, rows.cell(row, c));
    }
  }
  return table;
}

std::string sweep_text(const base::Node& document, const sim::Sweep& sweep) {
  base::Node whole = document;
  whole["base"] = sweep.base;
  sim::make_paths_absolute(whole["base"], "");
  if (base::Node* axes = whole.find("axes"); axes != nullptr) {
    for (std::size_t i = 0; i < axes->entries.size(); ++i) {
      make_paths_absolute(axes->entries[i], sweep.axes[i].values);
    }
  }
  return base::to_yaml(whole);
}

std::filesystem::path sweep_file_beside(const std::filesystem::path& csv) {
  return base::unpacked_name(csv).replace_extension(".sweep.yaml");
}

}  // namespace roofcast::cli
