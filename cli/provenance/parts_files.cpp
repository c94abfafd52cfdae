// SPDX-License-Identifier: Apache-2.0
#include "cli/provenance/parts_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/document/notes.hpp"
#include "base/document/output_file.hpp"
#include "cli/provenance/parts_identity.hpp"

namespace roofcast::cli {
namespace {

namespace fs = std::filesystem;

bool is_of_sweep(const fs::path& file, std::size_t parts) {
  const std::string name = base::finished_name(file.filename().string());
  const std::size_t part = std::strtoul(name.c_str(), nullptr, 10);
  return name == kSweep || name == kIdentity || name == kFinishing ||
         (part < parts && (name == part_name(part) || name == check_name(part)));
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const fs::directory_entry& file : fs::directory_iterator(folder, error)) {
    files.push_back(file.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void note_others(const fs::path& folder, const std::vector<fs::path>& files) {
  constexpr std::size_t kNamed = 5;
  if (files.empty()) {
    return;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kNamed, files.size()); ++i) {
    names.push_back(files[i].filename().string());
  }
  if (files.size() > kNamed) {
    names.push_back(fmt::format("{} more", files.size() - kNamed));
  }
  base::add_note(fmt::format("note: not of this sweep, and left alone in {}: {}", folder.string(),
                             fmt::join(names, ", ")));
}

}  // namespace

std::string part_name(std::size_t part) { return fmt::format("{:05}.csv", part); }
std::string check_name(std::size_t part) { return fmt::format("{:05}.check", part); }

void note_other_files(const fs::path& folder, std::size_t parts) {
  std::vector<fs::path> others = files_in(folder);
  std::erase_if(others, [&](const fs::path& file) { return is_of_sweep(file, parts); });
  note_others(folder, others);
}

void remove_parts(const fs::path& folder, std::size_t parts) {
  std::error_code error;
  std::vector<fs::path> files = files_in(folder);
  std::stable_partition(files.begin(), files.end(), [](const fs::path& file) {
    return file.filename() != kFinishing;  // goes last
  });
  for (const fs::path& file : files) {
    if (is_of_sweep(file, parts) && fs::is_regular_file(fs::symlink_status(file, error))) {
      fs::remove(file, error);
    }
  }
  if (!fs::remove(folder, error)) {
    note_others(folder, files_in(folder));
  }
}

}  // namespace roofcast::cli
