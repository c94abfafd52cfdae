// SPDX-License-Identifier: Apache-2.0
#include "base/document/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <vector>

#include "base/document/problems.hpp"
#include "base/fnv.hpp"

namespace roofcast::base {
namespace {

namespace fs = std::filesystem;

struct KeptFiles {
  std::mutex mutex;
  bool protects = false;
  std::vector<fs::path> read;
  std::vector<fs::path> written;
  std::map<fs::path, std::uint64_t> hashes;  // of those that their writers hashed
};
KeptFiles& kept_files() {
  static KeptFiles files;
  return files;
}

void keep(std::vector<fs::path>& files, const fs::path& file) {
  const std::scoped_lock lock(kept_files().mutex);
  if (kept_files().protects && std::find(files.begin(), files.end(), file) == files.end()) {
    files.push_back(file);
  }
}

bool is_regular_or_new(const fs::path& file) {
  std::error_code error;
  const fs::file_type type = fs::status(file, error).type();
  return type == fs::file_type::regular || type == fs::file_type::not_found;
}

// Paths of what is not committed yet; null: free. More than these at once are left behind.
std::array<std::atomic<const char*>, 64> unfinished{};

void exchange(const char* from, const char* to) {
  for (std::atomic<const char*>& slot : unfinished) {
    const char* expected = from;
    if (slot.compare_exchange_strong(expected, to)) {
      return;
    }
  }
}

}  // namespace

void remove_unfinished() {
  for (const std::atomic<const char*>& slot : unfinished) {
    if (const char* path = slot.load(); path != nullptr) {
      unlink(path);
    }
  }
}

void protect_inputs() {
  const std::scoped_lock lock(kept_files().mutex);
  kept_files().protects = true;
}

void note_read(const fs::path& file) { keep(kept_files().read, file); }

std::vector<fs::path> files_read() {
  const std::scoped_lock lock(kept_files().mutex);
  return kept_files().read;
}

std::vector<fs::path> files_written() {
  const std::scoped_lock lock(kept_files().mutex);
  return kept_files().written;
}

std::optional<std::uint64_t> written_hash(const fs::path& file) {
  const std::scoped_lock lock(kept_files().mutex);
  const auto known = kept_files().hashes.find(file);
  return known == kept_files().hashes.end() ? std::nullopt : std::optional(known->second);
}

void check_output(const fs::path& target) {
  const std::scoped_lock lock(kept_files().mutex);
  const auto is_target = [&](const fs::path& f) {
    std::error_code error;
    return fs::equivalent(f, target, error);
  };
  if (std::any_of(kept_files().read.begin(), kept_files().read.end(), is_target) ||
      std::any_of(kept_files().written.begin(), kept_files().written.end(), is_target)) {
    throw InputError(
        fmt::format("error: {} is an input or another output of this command, and would be lost: "
                    "choose another "
                    "name\n",
                    target.string()));
  }
}

OutputFile::OutputFile(const fs::path& target) : target_(target) {
  if (!is_regular_or_new(target)) {
    part_ = target;
    committed_ = true;
    return;
  }
  check_output(target);
  std::error_code error;
  if (fs::is_symlink(target, error)) {
    target_ = fs::canonical(target, error);
  }
  part_ = target_;
  part_ += fmt::format(".{}.part", getpid());
  exchange(nullptr, part_.c_str());
}

OutputFile::~OutputFile() {
  if (!committed_) {
    std::error_code error;
    fs::remove(part_, error);
    exchange(part_.c_str(), nullptr);
  }
}

void OutputFile::hash(std::string_view text) { hash_ = fnv(hash_.value_or(kFnvStart), text); }

std::error_code OutputFile::commit() {
  if (committed_) {
    return {};
  }
  std::error_code none;
  if (const fs::file_status old = fs::status(target_, none); fs::exists(old)) {
    fs::permissions(part_, old.permissions(), none);
  }
  std::error_code error;
  const int file = open(part_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 || fsync(file) != 0) {
    error = {errno, std::generic_category()};
  }
  if (file >= 0) {
    close(file);
  }
  if (!error) {
    fs::rename(part_, target_, error);
  }
  committed_ = !error;
  if (committed_) {
    exchange(part_.c_str(), nullptr);
    keep(kept_files().written, target_);
    const std::scoped_lock lock(kept_files().mutex);
    kept_files().hashes.erase(target_);
    if (hash_) {
      kept_files().hashes.emplace(target_, *hash_);
    }
  }
  return error;
}

}  // namespace roofcast::base
