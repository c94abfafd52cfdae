// SPDX-License-Identifier: Apache-2.0
#include "calibrate/platforms/measurements.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/document/problems.hpp"

namespace roofcast::calibrate {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> above(const fs::path& start) {
  std::error_code error;
  for (fs::path folder = start; !folder.empty(); folder = folder.parent_path()) {
    for (const char* below : {"share/roofcast/measurements", "calibrate/measurements"}) {
      if (fs::is_directory(folder / below, error)) {
        return folder / below;
      }
    }
    if (folder == folder.parent_path()) {
      break;
    }
  }
  return std::nullopt;
}

// Tables that are not called as their kind, as folder/name; operators are ops/KIND.
struct Named {
  std::string_view kind;
  std::vector<std::string> tables;
};
const std::vector<Named>& named() {
  static const std::vector<Named> all = {
      {"serving", {"e2e/serving_silicon"}},
      {"training",
       {"e2e/korthikanti2022_iteration_time", "e2e/megatron_a100_weak_scaling",
        "e2e/megatron_h100_weak_scaling", "published/training_validation_megatron_bridge",
        "published/validation_training_simumax_b200", "training/mpt_fsdp"}},
      {"rl", {"e2e/nemo_rl"}},
  };
  return all;
}

}  // namespace

fs::path measurements() {
  if (const char* chosen = std::getenv("ROOFCAST_DATA"); chosen != nullptr && *chosen != '\0') {
    if (!fs::is_directory(chosen)) {
      throw base::InputError(fmt::format("error: ROOFCAST_DATA: no folder {}\n", chosen));
    }
    return chosen;
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  for (const fs::path& start : {program.parent_path(), fs::current_path(error)}) {
    if (const auto found = above(start)) {
      return *found;
    }
  }
  throw base::InputError(
      "error: no measured tables: neither share/roofcast/measurements nor calibrate/measurements "
      "is above the program or the working directory; name a table, or set ROOFCAST_DATA to the "
      "folder\n");
}

std::optional<fs::path> find_table(const fs::path& folder, std::string_view name) {
  for (const char* ending : {".csv", ".csv.gz", ".csv.zst", ".columns.gz", ".columns.zst"}) {
    const fs::path file = folder / (std::string(name) + ending);
    if (fs::exists(file)) {
      return file;
    }
  }
  return std::nullopt;
}

std::vector<fs::path> tables_of(std::string_view kind) {
  const fs::path all = measurements();
  if (kind == "requests") {
    return {all / "requests"};
  }
  Named wanted{kind, {fmt::format("ops/{}", kind)}};
  for (const Named& each : named()) {
    wanted = each.kind == kind ? each : wanted;
  }
  std::vector<fs::path> tables;
  for (const std::string& text : wanted.tables) {
    const fs::path name = text;
    const fs::path folder = all / name.parent_path();
    const auto table = find_table(folder, name.filename().string());
    if (!table) {
      throw base::InputError(
          fmt::format("error: {} has no table {}\n", folder.string(), name.filename().string()));
    }
    tables.push_back(*table);
  }
  return tables;
}

}  // namespace roofcast::calibrate
