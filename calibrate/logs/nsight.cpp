// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/nsight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/csv/csv.hpp"
#include "base/document/problems.hpp"
#include "calibrate/logs/refuse.hpp"

namespace roofcast::calibrate {
namespace {

constexpr double kNano = 1e-9;
constexpr std::string_view kDuration = "gpu__time_duration.sum";

// From the line with `header` to the first empty one, without what ncu says between.
base::CsvTable table_below(const std::string& text, std::string_view header,
                           const std::string& name) {
  std::size_t begin = text.find(header);
  begin = begin == std::string::npos ? 0 : text.rfind('\n', begin) + 1;
  const std::size_t blank = std::min(text.find("\n\n", begin), text.find("\n\r\n", begin));
  std::string lines =
      text.substr(begin, blank == std::string::npos ? std::string::npos : blank + 1 - begin);
  for (std::size_t said = lines.find("\n=="); said != std::string::npos;
       said = lines.find("\n==", said)) {
    lines.erase(said + 1, std::min(lines.find('\n', said + 1), lines.size() - 1) - said);
  }
  return base::parse_csv(std::move(lines), name);
}

KernelProfile read_summary(const base::CsvTable& table) {
  KernelProfile profile;
  profile.name = table.name();
  const std::size_t time = table.column("Total Time (ns)");
  const std::size_t runs = table.column("Instances");
  const std::size_t name = table.column("Name");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto nanoseconds = base::parse_number(table.cell(row, time));
    const auto instances = base::parse_number(table.cell(row, runs));
    if (!nanoseconds || !instances || *nanoseconds < 0.0 || !std::isfinite(*nanoseconds) ||
        *instances < 1.0 || *instances > 1e15) {
      refuse(profile.name,
             fmt::format("kernel {}: Total Time (ns) or Instances is no number", row + 1));
    }
    profile.kernels.push_back({std::string(table.cell(row, name)),
                               static_cast<std::int64_t>(*instances), kNano * *nanoseconds});
  }
  finish(profile);
  return profile;
}

KernelProfile read_list(const base::CsvTable& table) {
  const std::size_t start = table.column("Start (ns)");
  const std::size_t duration = table.column("Duration (ns)");
  const std::size_t name = table.column("Name");
  const auto device = table.find_column("Device");
  KernelRuns<std::string> runs(kNano);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto begin = base::parse_number(table.cell(row, start));
    const auto length = base::parse_number(table.cell(row, duration));
    if (!begin || !length || !std::isfinite(*begin) || !(*length >= 0.0) ||
        !std::isfinite(*length)) {
      refuse(table.name(),
             fmt::format("kernel {}: Start (ns) or Duration (ns) is no number", row + 1));
    }
    runs.add(device ? std::string(table.cell(row, *device)) : std::string(),
             std::string(table.cell(row, name)), *begin, *length);
  }
  return runs.profile(table.name());
}

// Seconds of a unit as ncu writes it, now or in older versions.
std::optional<double> unit(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1e-9}, {"nsecond", 1e-9}, {"us", 1e-6}, {"usecond", 1e-6},
      {"ms", 1e-3}, {"msecond", 1e-3}, {"s", 1.0},   {"second", 1.0},
  };
  for (const auto& [known, seconds] : kUnits) {
    if (known == text) {
      return seconds;
    }
  }
  return std::nullopt;
}

double duration_s(std::string_view value, std::string_view its_unit, const std::string& place) {
  std::string digits(value);
  std::erase(digits, ',');  // of thousands
  const auto number = base::parse_number(digits);
  const auto scale = unit(its_unit);
  if (!number || !scale || !(*number >= 0.0) || !std::isfinite(*number)) {
    refuse(place, fmt::format("expects a duration, in ns, us, ms or s; it is \"{}\" in \"{}\"",
                              value, its_unit));
  }
  return *number * *scale;
}

// A line for each kernel; the first line has the units.
void read_wide(const base::CsvTable& table, std::size_t kernel, std::size_t duration,
               std::map<std::string, KernelTime>& kernels) {
  for (std::size_t row = 1; row < table.rows(); ++row) {
    KernelTime& time = kernels[std::string(table.cell(row, kernel))];
    ++time.runs;
    time.seconds += duration_s(table.cell(row, duration), table.cell(0, duration), table.name());
  }
}

// A line for each metric of each run of a kernel; some sections have the duration under both names.
void read_long(const base::CsvTable& table, std::size_t kernel,
               std::map<std::string, KernelTime>& kernels) {
  const std::size_t run = table.column("ID");
  const std::size_t metric = table.column("Metric Name");
  const std::size_t its_unit = table.column("Metric Unit");
  const std::size_t value = table.column("Metric Value");
  std::set<std::string, std::less<>> seen;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string_view name = table.cell(row, metric);
    if ((name == kDuration || name == "Duration") && seen.emplace(table.cell(row, run)).second) {
      KernelTime& time = kernels[std::string(table.cell(row, kernel))];
      ++time.runs;
      time.seconds += duration_s(table.cell(row, value), table.cell(row, its_unit), table.name());
    }
  }
}

KernelProfile read_counters(const base::CsvTable& table) {
  const std::size_t kernel = table.column("Kernel Name");
  std::map<std::string, KernelTime> kernels;
  if (const auto duration = table.find_column(kDuration)) {
    read_wide(table, kernel, *duration, kernels);
  } else {
    read_long(table, kernel, kernels);
  }
  if (kernels.empty()) {
    refuse(table.name(),
           "no kernel has a duration: `ncu --metrics gpu__time_duration.sum` adds it");
  }
  KernelProfile profile;
  profile.name = table.name();
  for (auto& [name, time] : kernels) {
    profile.kernels.push_back({name, time.runs, time.seconds});
  }
  finish(profile);
  return profile;
}

}  // namespace

KernelProfile read_nsight(const std::filesystem::path& file, LogFormat format) {
  const std::string text = base::read_text(file);
  const std::string name = file.string();
  if (format == LogFormat::kernel_counters) {
    return read_counters(table_below(text, "\"Kernel Name\"", name));
  }
  return format == LogFormat::kernel_list
             ? read_list(table_below(text, "Start (ns)", name))
             : read_summary(table_below(text, "Total Time (ns)", name));
}

}  // namespace roofcast::calibrate
