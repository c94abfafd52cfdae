// SPDX-License-Identifier: Apache-2.0
#include "calibrate/imports/foreign_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/csv/csv.hpp"
#include "base/document/problems.hpp"
#include "base/nearest.hpp"

namespace roofcast::calibrate {
namespace {

constexpr std::string_view kLatency = "latency_ms";

std::optional<std::size_t> find(const ForeignTable& table, std::string_view column) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), column);
  return found == table.columns.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(found - table.columns.begin()));
}

void scale(ForeignTable& table, std::size_t column, double factor) {
  for (std::vector<std::string>& row : table.rows) {
    const auto value = base::parse_number(row[column]);
    row[column] = value ? fmt::format("{:.9g}", *value * factor) : "";
  }
}

// Milliseconds of a unit of time; none for a column that is no time.
std::optional<double> milliseconds(std::string_view column) {
  constexpr std::pair<std::string_view, double> kTimes[] = {
      {"time_s", 1e3}, {"time_ms", 1.0}, {"time_us", 1e-3}, {"time_ns", 1e-6}};
  for (const auto& [name, factor] : kTimes) {
    if (name == column) {
      return factor;
    }
  }
  return std::nullopt;
}

std::optional<int> bytes_of(std::string_view dtype) {
  if (dtype == "half" || dtype == "float16" || dtype == "bfloat16") {
    return 2;
  }
  if (dtype == "int8" || dtype == "fp8") {
    return 1;
  }
  return dtype == "float" || dtype == "float32" ? std::optional(4) : std::nullopt;
}

// message_size elements of the column `dtype`.
void add_message(ForeignTable& table, std::string_view dtype) {
  const auto elements = find(table, "message_size");
  const auto format = find(table, dtype);
  if (!elements || !format) {
    return;
  }
  table.columns[*elements] = "message_elements";
  table.columns.emplace_back("message_bytes");
  for (std::vector<std::string>& row : table.rows) {
    const auto count = base::parse_number(row[*elements]);
    const auto bytes = bytes_of(row[*format]);
    row.push_back(count && bytes ? fmt::format("{:.0f}", *count * *bytes) : "");
  }
}

std::string kind_of_operator(std::string_view name, const ForeignTable& table) {
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"gemm", "gemm"},
      {"context_attention", "attention_context"},
      {"generation_attention", "attention_generation"},
      {"context_mla", "mla_context"},
      {"mla_context", "mla_context"},
      {"generation_mla", "mla_generation"},
      {"mla_generation", "mla_generation"},
      {"moe", "moe"},
  };
  for (const auto& [theirs, ours] : kKinds) {
    if (theirs == name) {
      return std::string(ours);
    }
  }
  return find(table, "nccl_dtype")        ? "nccl"
         : find(table, "allreduce_dtype") ? "custom_allreduce"
                                          : "";
}

}  // namespace

std::string did_you_mean(const std::string& wrong, const std::vector<std::string>& columns) {
  const auto nearest = base::nearest_name(wrong, columns);
  return nearest ? base::did_you_mean(std::vector{*nearest}) : std::string();
}

void rename(ForeignTable& table, const Pairs& map, const std::string& place) {
  for (const auto& [ours, theirs] : map) {
    const auto column = find(table, theirs);
    if (!column) {
      throw base::InputError(
          fmt::format("{}: error: --map {}={}: no column {}{}; it has {}\n", place, ours, theirs,
                      theirs, did_you_mean(theirs, table.columns), fmt::join(table.columns, ", ")));
    }
    const auto factor = milliseconds(ours);
    table.columns[*column] = factor ? std::string(kLatency) : ours;
    if (factor && *factor != 1.0) {
      scale(table, *column, *factor);
    }
  }
}

std::string read_collector(ForeignTable& table, const std::string& kind) {
  const auto name = find(table, "op_name");
  const std::string told = kind.empty() && name && !table.rows.empty()
                               ? kind_of_operator(table.rows.front()[*name], table)
                               : kind;
  const std::pair<std::string_view, std::string_view> columns[] = {
      {"framework", "fw"},
      {"version", "fw_version"},
      {"device", "system"},
      {"latency", kLatency},
      {"power", "power_w"},
      {"step", told == "attention_context"      ? "prefix_len"
               : told == "attention_generation" ? "kv_len_minus_isl"
                                                : "step"}};
  for (const auto& [theirs, ours] : columns) {
    if (const auto column = find(table, theirs); column && !find(table, ours)) {
      table.columns[*column] = ours;
    }
  }
  add_message(table, told == "nccl" ? "nccl_dtype" : "allreduce_dtype");
  return told;
}

Pairs collector_defaults() { return {{"prefix_len", "0"}, {"window_size", "0"}}; }

}  // namespace roofcast::calibrate
