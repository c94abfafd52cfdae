// SPDX-License-Identifier: Apache-2.0
#include "base/document/kept_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <utility>

#include "base/document/problems.hpp"

namespace roofcast::base {
namespace {

namespace fs = std::filesystem;

struct KeptFiles {
  std::mutex mutex;
  bool protects = false;
  std::string remedy;  // of those who want to replace what exists; empty: it is replaced
  std::vector<fs::path> unfinished;  // may be replaced: an earlier run of the command wrote them
  std::vector<fs::path> read;
  std::vector<fs::path> parts;     // of what was written, where they lie until they are named
  std::vector<fs::path> guarded;   // belong to what was read
  std::vector<fs::path> declared;  // will be written
  std::vector<fs::path> written;
  std::vector<fs::path> waiting;                     // those of them that have no name yet
  std::map<fs::path, Contents> contents;             // of those that were hashed
  std::map<fs::path, std::vector<fs::path>> beside;  // what is written with a file
};
KeptFiles& kept_files() {
  static KeptFiles files;
  return files;
}

fs::path& redirected_to() {
  static fs::path folder;
  return folder;
}

// Before protect_inputs() nothing is kept.
void keep(std::vector<fs::path>& files, const fs::path& file) {
  const std::scoped_lock lock(kept_files().mutex);
  if (kept_files().protects && std::find(files.begin(), files.end(), file) == files.end()) {
    files.push_back(file);
  }
}

bool names(const std::vector<fs::path>& files, const fs::path& target) {
  return std::any_of(files.begin(), files.end(), [&](const fs::path& file) {
    std::error_code error;
    return fs::equivalent(file, target, error);
  });
}

[[noreturn]] void refuse_loss(const fs::path& target) {
  throw InputError(
      fmt::format("error: {} is an input or another output of this command, and would be lost: "
                  "choose another name\n",
                  target.string()));
}

// What is a device is no file that could be lost.
void declare(const fs::path& target) {
  const fs::path file = output_path(target);
  if (is_regular_or_new(file)) {
    keep(kept_files().declared, file);
  }
}

void refuse_declared(const fs::path& file) {
  const std::scoped_lock lock(kept_files().mutex);
  if (kept_files().protects && names(kept_files().declared, file)) {
    refuse_loss(file);
  }
}

bool is_own_part(const fs::path& file) {
  const std::scoped_lock lock(kept_files().mutex);
  const std::vector<fs::path>& parts = kept_files().parts;
  return std::find(parts.begin(), parts.end(), file) != parts.end();
}

}  // namespace

bool is_regular(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error);
}

void refuse_irregular(const fs::path& file) {
  throw InputError(fmt::format("error: {} is no regular file: remove it\n", file.string()));
}

fs::path real_path(const fs::path& file) {
  std::error_code error;
  fs::path real = fs::weakly_canonical(fs::absolute(output_path(file)), error);
  return error ? fs::absolute(output_path(file)).lexically_normal() : real;
}

bool is_regular_or_new(const fs::path& file) {
  std::error_code error;
  const fs::file_type type = fs::status(file, error).type();
  return type == fs::file_type::regular || type == fs::file_type::not_found;
}

bool keeps(const fs::path& target) {
  const std::scoped_lock lock(kept_files().mutex);
  const std::vector<fs::path>& all = kept_files().unfinished;
  return !kept_files().remedy.empty() &&
         std::find(all.begin(), all.end(), real_path(target)) == all.end();
}

void protect_inputs() {
  const std::scoped_lock lock(kept_files().mutex);
  kept_files().protects = true;
}

void note_read(const fs::path& file, std::optional<Contents> contents) {
  if (is_own_part(file)) {
    return;
  }
  refuse_declared(file);
  keep(kept_files().read, file);
  const std::scoped_lock lock(kept_files().mutex);
  if (kept_files().protects && contents) {
    kept_files().contents.emplace(file, *contents);
  }
}

void guard(const fs::path& file) {
  refuse_declared(file);
  keep(kept_files().guarded, file);
}

void note_written(const fs::path& file, std::optional<Contents> contents) {
  keep(kept_files().written, file);
  keep(kept_files().waiting, file);
  const std::scoped_lock lock(kept_files().mutex);
  kept_files().contents.erase(file);
  if (contents) {
    kept_files().contents.emplace(file, *contents);
  }
}

void note_part(const fs::path& part) { keep(kept_files().parts, part); }

void note_named(const fs::path& file) {
  const std::scoped_lock lock(kept_files().mutex);
  std::erase(kept_files().waiting, file);
}

bool wants_contents(const fs::path& file) {
  const std::scoped_lock lock(kept_files().mutex);
  return kept_files().protects && !kept_files().contents.contains(file);
}

std::vector<fs::path> files_read() {
  const std::scoped_lock lock(kept_files().mutex);
  return kept_files().read;
}

std::vector<fs::path> files_written() {
  const std::scoped_lock lock(kept_files().mutex);
  return kept_files().written;
}

std::optional<Contents> known_contents(const fs::path& file) {
  const std::scoped_lock lock(kept_files().mutex);
  const auto known = kept_files().contents.find(file);
  return known == kept_files().contents.end() ? std::nullopt : std::optional(known->second);
}

void redirect_outputs(const fs::path& folder) { redirected_to() = folder; }

bool outputs_are_redirected() { return !redirected_to().empty(); }

fs::path output_path(const fs::path& target) {
  const fs::path& folder = redirected_to();
  if (folder.empty()) {
    return target;
  }
  const fs::path whole = fs::absolute(target).lexically_normal();
  const bool is_there =
      std::mismatch(folder.begin(), folder.end(), whole.begin(), whole.end()).first == folder.end();
  return is_there ? target : folder / whole.relative_path();
}

void refuse_replacing(const std::string& remedy) {
  const std::scoped_lock lock(kept_files().mutex);
  kept_files().remedy = remedy;
}

void allow_replacing(const fs::path& target) {
  const std::scoped_lock lock(kept_files().mutex);
  kept_files().unfinished.push_back(real_path(target));
}

void refuse_target(const fs::path& target) {
  std::error_code none;
  if (const bool is_there = fs::exists(output_path(target) += kLockedPart, none);
      !is_there && none == std::errc::filename_too_long) {
    throw InputError(fmt::format("error: {}: the name is too long\n", target.string()));
  }
  if (!outputs_are_redirected() && fs::is_symlink(target, none) && !fs::exists(target, none)) {
    throw InputError(
        fmt::format("error: {} is a link to a file that is not there: remove it, or "
                    "choose another name\n",
                    target.string()));
  }
  const std::scoped_lock lock(kept_files().mutex);
  const std::vector<fs::path>& waiting = kept_files().waiting;
  const fs::path real = waiting.empty() ? fs::path() : real_path(target);
  if (names(kept_files().read, target) || names(kept_files().guarded, output_path(target)) ||
      names(kept_files().written, target) ||
      std::any_of(waiting.begin(), waiting.end(),
                  [&](const fs::path& file) { return real_path(file) == real; })) {
    refuse_loss(target);
  }
}

void remove_old_beside(const fs::path& target) {
  const std::scoped_lock lock(kept_files().mutex);
  const std::vector<fs::path>& own = kept_files().written;
  const std::vector<fs::path>& waiting = kept_files().waiting;
  for (const fs::path& file : kept_files().beside[target]) {
    std::error_code error;
    if (std::find(own.begin(), own.end(), file) == own.end() ||
        std::find(waiting.begin(), waiting.end(), file) != waiting.end()) {
      fs::remove(file, error);
    }
  }
}

void check_folder_of(const fs::path& target) {
  std::error_code error;
  if (target.has_parent_path() && !outputs_are_redirected() &&
      !fs::is_directory(target.parent_path(), error)) {
    throw InputError(fmt::format("error: {}: there is no folder {}\n", target.string(),
                                 target.parent_path().string()));
  }
}

void refuse_output(const fs::path& target) {
  refuse_target(target);
  check_folder_of(target);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!outputs_are_redirected() && is_regular_or_new(target) && access(folder.c_str(), W_OK) != 0) {
    throw InputError(fmt::format("error: cannot write {}: {}\n", target.string(),
                                 std::generic_category().message(errno)));
  }
  if (keeps(output_path(target)) && is_regular(output_path(target))) {
    throw InputError(
        fmt::format("error: {} is there already; {}\n", target.string(), kept_files().remedy));
  }
}

void check_output(const fs::path& target) {
  refuse_output(target);
  declare(target);
}

void check_beside(const fs::path& target, const fs::path& named, bool is_ours) {
  refuse_target(target);
  if (!is_regular_or_new(output_path(target))) {
    refuse_irregular(target);
  }
  if (keeps(output_path(target)) && !is_ours && is_regular(output_path(target))) {
    throw InputError(fmt::format(
        "error: {0} is there already, and one would be written beside {1}: rename it, or "
        "choose another name for {1}; {2}\n",
        target.string(), named.string(), kept_files().remedy));
  }
  declare(target);
  const std::scoped_lock lock(kept_files().mutex);
  kept_files().beside[output_path(named)].push_back(output_path(target));
}

}  // namespace roofcast::base
