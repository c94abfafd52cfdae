// SPDX-License-Identifier: Apache-2.0
#include "calibrate/imports/sources.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/csv/csv.hpp"
#include "base/document/problems.hpp"
#include "base/nearest.hpp"
#include "calibrate/imports/foreign_columns.hpp"
#include "calibrate/logs/collective_log.hpp"
#include "calibrate/logs/kernel_profile.hpp"
#include "calibrate/logs/refuse.hpp"
#include "calibrate/operators/kind_columns.hpp"
#include "calibrate/operators/operator_rows.hpp"

namespace roofcast::calibrate {
namespace {

constexpr std::size_t kNamed = 5;  // kernels in a message

std::optional<std::string> format_of_log(LogFormat format) {
  switch (format) {
    case LogFormat::nccl_tests:
      return "nccl-tests";
    case LogFormat::kernel_summary:
    case LogFormat::kernel_list:
      return "nsys";
    case LogFormat::kernel_counters:
      return "ncu";
    case LogFormat::kernel_trace:
      return "pytorch";
    case LogFormat::training:
    case LogFormat::client_json:
    case LogFormat::client_text:
    case LogFormat::trtllm_bench:
      break;
  }
  return std::nullopt;
}

bool is_csv(std::string_view format) {
  return format == "aiconfigurator" || format == "roofcast" || format == "csv";
}

std::string format_of_csv(const base::CsvTable& table) {
  const auto has = [&](std::string_view column) { return table.find_column(column).has_value(); };
  if (has("framework") && has("device")) {
    return "aiconfigurator";
  }
  return has("system") && has("fw") ? "roofcast" : "csv";
}

ForeignTable of_collectives(const std::filesystem::path& file) {
  const CollectiveLog log = read_collective_log(file);
  if (log.hosts > 1) {
    refuse(log.name, fmt::format("{} hosts: rows of nccl are of one server", log.hosts));
  }
  ForeignTable table{{"fw", "op_name", "num_gpus", "message_bytes", "latency_ms"}, {}};
  if (!log.gpu.empty()) {
    table.columns.emplace_back("system");
  }
  for (const CollectiveTime& time : log.times) {
    table.rows.push_back({"nccl", std::string(collective_name(log.kind)),
                          fmt::format("{}", log.ranks), fmt::format("{:.0f}", time.bytes),
                          fmt::format("{:.9g}", 1e3 * time.seconds)});
    if (!log.gpu.empty()) {
      table.rows.back().push_back(log.gpu);
    }
  }
  return table;
}

std::string listed(const std::vector<KernelTime>& kernels) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kNamed, kernels.size()); ++i) {
    names.push_back(fmt::format("{} × {}", kernels[i].runs, kernels[i].name));
  }
  return fmt::format("{}{}", fmt::join(names, ", "), kernels.size() > kNamed ? ", …" : "");
}

// One row: the time of the chosen kernels, for each run of the operator.
ForeignTable of_profile(const std::filesystem::path& file, LogFormat format,
                        const ImportOptions& options) {
  const KernelProfile profile = read_kernel_profile(file, format);
  std::vector<KernelTime> chosen;
  for (const KernelTime& kernel : profile.kernels) {
    const bool wanted = std::any_of(
        options.kernels.begin(), options.kernels.end(),
        [&](const std::string& part) { return kernel.name.find(part) != std::string::npos; });
    if (wanted || (options.kernels.empty() && profile.kernels.size() == 1)) {
      chosen.push_back(kernel);
    }
  }
  if (chosen.empty()) {
    refuse(profile.name,
           fmt::format("{}: {}",
                       options.kernels.empty()
                           ? "several kernels; --kernel says which ones are the operator's"
                           : "no kernel has a name with that of --kernel",
                       listed(profile.kernels)));
  }
  std::int64_t runs = options.runs;
  if (runs == 0) {
    runs = chosen.front().runs;
    for (const KernelTime& kernel : chosen) {
      if (kernel.runs != runs) {
        refuse(profile.name,
               fmt::format("its kernels did not run equally often; --runs says how often the "
                           "operator ran: {}",
                           listed(chosen)));
      }
    }
  }
  double seconds = 0.0;
  for (const KernelTime& kernel : chosen) {
    seconds += kernel.seconds;
  }
  return {{"latency_ms"}, {{fmt::format("{:.9g}", 1e3 * seconds / static_cast<double>(runs))}}};
}

ForeignTable of_csv(const base::CsvTable& csv) {
  ForeignTable table{csv.columns(), {}};
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (std::size_t column = 0; column < csv.columns().size(); ++column) {
      cells.emplace_back(csv.cell(row, column));
    }
  }
  return table;
}

// The columns of its kind that the source or the caller has, in the order of the kind.
ImportSource of_kind(const ForeignTable& table, std::string kind, std::string format,
                     const ImportOptions& options, const std::string& place) {
  const KindColumns& known = columns_of(kind);
  Pairs fill = options.fill;
  const Pairs defaults = format == "aiconfigurator" ? collector_defaults() : Pairs{};
  fill.insert(fill.end(), defaults.begin(), defaults.end());
  const auto filled = [&](std::string_view column) {
    return std::find_if(fill.begin(), fill.end(), [&](const auto& f) { return f.first == column; });
  };
  const std::vector<std::string> all = known.all();
  for (const auto& [column, value] : options.fill) {
    if (std::find(all.begin(), all.end(), column) == all.end()) {
      throw base::InputError(
          fmt::format("error: --fill {}={}: a table of {} has no column {}{}; it has {}\n", column,
                      value, kind, column, did_you_mean(column, all), fmt::join(all, ", ")));
    }
  }
  const Pairs chosen = {
      {"system", options.chip}, {"fw", options.stack}, {"fw_version", options.version}};
  const auto chosen_for = [&](std::string_view column) {
    const auto found = std::find_if(chosen.begin(), chosen.end(),
                                    [&](const auto& c) { return c.first == column; });
    return found == chosen.end() ? std::string() : found->second;
  };
  const std::vector<std::string> required = known.required();
  ImportSource source{std::move(format), std::move(kind), {}, {}};
  struct Cell {
    std::size_t column;  // of the table; its size: `text`
    std::string text;
  };
  std::vector<Cell> cells;
  for (const std::string& column : all) {
    const auto found = std::find(table.columns.begin(), table.columns.end(), column);
    const std::string text = chosen_for(column);
    if (!text.empty()) {
      cells.push_back({table.columns.size(), text});
    } else if (found != table.columns.end()) {
      cells.push_back({static_cast<std::size_t>(found - table.columns.begin()), ""});
    } else if (filled(column) != fill.end()) {
      cells.push_back({table.columns.size(), filled(column)->second});
    } else if (std::find(required.begin(), required.end(), column) != required.end()) {
      const std::string_view option = column == "system" ? "--chip"
                                      : column == "fw"   ? "--stack"
                                                         : "";
      refuse(place, fmt::format("a table of {} needs the column {}; {} gives it; the source has {}",
                                source.kind, column,
                                option.empty()
                                    ? fmt::format("--map {0}=COLUMN or --fill {0}=VALUE", column)
                                    : std::string(option),
                                fmt::join(table.columns, ", ")));
    } else {
      continue;
    }
    source.columns.push_back(column);
  }
  for (const std::vector<std::string>& row : table.rows) {
    std::vector<std::string>& out = source.rows.emplace_back();
    for (const Cell& cell : cells) {
      out.push_back(cell.column < row.size() ? row[cell.column] : cell.text);
    }
  }
  return source;
}

}  // namespace

std::vector<std::string> import_formats() {
  return {"aiconfigurator", "nccl-tests", "nsys", "ncu", "pytorch", "roofcast", "csv"};
}

ImportSource read_source(const std::filesystem::path& file, const ImportOptions& options) {
  const std::string place = file.string();
  std::string format = options.format;
  std::optional<LogFormat> log;
  if (!is_csv(format)) {
    log = known_format(file);
    const auto its = log ? format_of_log(*log) : std::nullopt;
    if (log && !its) {
      refuse(place, fmt::format("{}: `roofcast compare` reads it; operators are imported",
                                calibrate::name(*log)));
    }
    if (!format.empty() && format != its.value_or("csv")) {
      refuse(place, fmt::format("is not of {}", format));
    }
    format = its.value_or("");
  }
  ForeignTable table;
  if (!log) {
    const base::CsvTable csv = base::read_csv(file);
    format = format.empty() ? format_of_csv(csv) : format;
    table = of_csv(csv);
  } else {
    table = format == "nccl-tests" ? of_collectives(file) : of_profile(file, *log, options);
  }
  rename(table, options.map, place);
  std::string kind = options.kind;
  if (format == "aiconfigurator") {
    kind = read_collector(table, kind);
  }
  if (format == "nccl-tests" && kind.empty()) {
    kind = "nccl";
  }
  if (kind.empty()) {
    std::vector<std::string> columns = table.columns;
    for (const auto& [column, value] : options.fill) {
      columns.push_back(column);
    }
    kind = kind_with(columns, place);
  }
  return of_kind(table, std::move(kind), std::move(format), options, place);
}

}  // namespace roofcast::calibrate
