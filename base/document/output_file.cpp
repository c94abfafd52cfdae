// SPDX-License-Identifier: Apache-2.0
#include "base/document/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

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
  std::vector<fs::path> written;
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

BeforeNaming& before_naming() {
  static BeforeNaming call;
  return call;
}

void keep(std::vector<fs::path>& files, const fs::path& file) {
  const std::scoped_lock lock(kept_files().mutex);
  if (kept_files().protects && std::find(files.begin(), files.end(), file) == files.end()) {
    files.push_back(file);
  }
}

bool is_regular(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error);
}

// A process that was killed keeps its locks until its memory is freed.
constexpr std::chrono::seconds kDeath{2};
constexpr std::chrono::milliseconds kBetweenTries{10};

std::optional<ino_t> inode(const fs::path& file) {
  struct stat known {};
  return stat(file.c_str(), &known) == 0 ? std::optional(known.st_ino) : std::nullopt;
}

[[noreturn]] void refuse_second_writer(const fs::path& target) {
  throw InputError(
      fmt::format("error: another roofcast is writing {}: wait for it, or choose another name\n",
                  target.string()));
}

// A pipe that nobody reads would be waited for.
[[noreturn]] void refuse_irregular(const fs::path& file) {
  throw InputError(fmt::format("error: {} is no regular file: remove it\n", file.string()));
}

constexpr std::size_t kRandomDigits = 16;
constexpr std::string_view kUnfinished = ".part";

// Process ids repeat: in every container there is a process 1.
std::string unique_ending() {
  std::random_device random;
  return fmt::format(".{:08x}{:08x}{}", random(), random(), kUnfinished);
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

bool keeps(const fs::path& target) {
  const std::scoped_lock lock(kept_files().mutex);
  const std::vector<fs::path>& all = kept_files().unfinished;
  return !kept_files().remedy.empty() &&
         std::find(all.begin(), all.end(), real_path(target)) == all.end();
}

constexpr const char* kLocked = ".roofcast.part";  // of a part with a lock

// That this process has read or written, that is a link to nothing, or that has too long a name.
void refuse_target(const fs::path& target) {
  std::error_code none;
  if (const bool is_there = fs::exists(output_path(target) += kLocked, none);
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
  const auto is_target = [&](const fs::path& f) {
    std::error_code error;
    return fs::equivalent(f, target, error);
  };
  if (std::any_of(kept_files().read.begin(), kept_files().read.end(), is_target) ||
      std::any_of(kept_files().written.begin(), kept_files().written.end(), is_target)) {
    throw InputError(
        fmt::format("error: {} is an input or another output of this command, and would be lost: "
                    "choose another name\n",
                    target.string()));
  }
}

// What lies beside a file that is replaced is not of the new one, also if this process ends before it writes its own.
void remove_old_beside(const fs::path& target) {
  const std::scoped_lock lock(kept_files().mutex);
  const std::vector<fs::path>& own = kept_files().written;
  for (const fs::path& file : kept_files().beside[target]) {
    std::error_code error;
    if (std::find(own.begin(), own.end(), file) == own.end()) {
      fs::remove(file, error);
    }
  }
}

std::error_code give_name(const fs::path& part, const fs::path& target, bool must_be_new) {
  std::error_code error;
  if (!must_be_new) {
    fs::rename(part, target, error);
    return error;
  }
#ifdef RENAME_NOREPLACE
  if (renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) {
    return {};
  }
  if (errno != EINVAL && errno != ENOSYS) {  // else the file system cannot, such as NFS
    return {errno, std::generic_category()};
  }
#endif
  fs::create_hard_link(part, target, error);
  if (!error) {
    fs::remove(part, error);
    return {};
  }
  if (error == std::errc::file_exists || is_regular(target)) {
    return std::make_error_code(std::errc::file_exists);
  }
  error.clear();
  fs::rename(part, target, error);
  return error;
}

}  // namespace

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

std::string finished_name(const std::string& name) {
  constexpr std::size_t kEnding = 1 + kRandomDigits + kUnfinished.size();
  const std::size_t at = name.size() - std::min(name.size(), kEnding);
  const bool is_unfinished =
      at > 0 && name[at] == '.' && name.ends_with(kUnfinished) &&
      name.find_first_not_of("0123456789abcdef", at + 1) == at + 1 + kRandomDigits;
  return is_unfinished ? name.substr(0, at) : name;
}

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

void note_read(const fs::path& file, std::optional<Contents> contents) {
  keep(kept_files().read, file);
  const std::scoped_lock lock(kept_files().mutex);
  if (kept_files().protects && contents) {
    kept_files().contents.emplace(file, *contents);
  }
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

void call_before_naming(BeforeNaming call) { before_naming() = std::move(call); }

void check_folder_of(const fs::path& target) {
  std::error_code error;
  if (target.has_parent_path() && !outputs_are_redirected() &&
      !fs::is_directory(target.parent_path(), error)) {
    throw InputError(fmt::format("error: {}: there is no folder {}\n", target.string(),
                                 target.parent_path().string()));
  }
}

void check_output(const fs::path& target) {
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
  const std::scoped_lock lock(kept_files().mutex);
  kept_files().beside[output_path(named)].push_back(output_path(target));
}

OutputFile::OutputFile(const fs::path& target, Output kind)
    : name_(output_path(target)), target_(name_), kind_(kind) {
  std::error_code error;
  const bool is_link = !outputs_are_redirected() && fs::is_symlink(target, error);
  if (outputs_are_redirected()) {
    std::error_code failed;  // is told by whoever writes the file
    fs::create_directories(target_.parent_path(), failed);
  } else if (!is_regular_or_new(target) || (is_link && kind == Output::repeated)) {
    if (kind != Output::named) {
      refuse_irregular(target);
    }
    part_ = target;
    committed_ = true;
    return;
  }
  kind == Output::named ? check_output(target) : refuse_target(target);
  if (is_link) {
    target_ = fs::canonical(target, error);
  }
  if (kind == Output::repeated || kind == Output::first || !lock()) {
    part_ = target_;
    part_ += unique_ending();
  }
  exchange(nullptr, part_.c_str());
}

// False where the file system has no locks. A file that cannot be opened is told by whoever writes it.
bool OutputFile::lock() {
  part_ = target_;
  part_ += kLocked;
  const auto give_up = std::chrono::steady_clock::now() + kDeath;
  const auto number_before = inode(target_);
  while (true) {
    const int file = open(part_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file < 0 && errno == ELOOP) {
      refuse_irregular(part_);
    }
    if (file < 0) {
      return true;
    }
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
      const bool is_held = errno == EWOULDBLOCK;
      close(file);
      if (!is_held) {
        return false;
      }
      if (std::chrono::steady_clock::now() > give_up) {
        refuse_second_writer(target_);
      }
      std::this_thread::sleep_for(kBetweenTries);
      continue;
    }
    struct stat opened {};
    struct stat named {};
    if (fstat(file, &opened) == 0 && !S_ISREG(opened.st_mode)) {
      close(file);
      refuse_irregular(part_);
    }
    if (fstat(file, &opened) == 0 && opened.st_nlink > 1) {  // what has another name is kept
      std::error_code error;
      if (!fs::remove(part_, error)) {
        close(file);
        refuse_irregular(part_);
      }
    }
    if (fstat(file, &opened) == 0 && stat(part_.c_str(), &named) == 0 &&
        opened.st_ino == named.st_ino && opened.st_dev == named.st_dev) {
      lock_ = file;
      if (inode(target_) != number_before) {  // it was written in the meantime
        std::error_code error;
        fs::remove(part_, error);
        unlock();
        refuse_second_writer(target_);
      }
      return true;
    }
    close(file);  // between open and flock its writer gave it the target's name
  }
}

void OutputFile::unlock() {
  if (lock_ >= 0) {
    close(lock_);
    lock_ = -1;
  }
}

OutputFile::~OutputFile() {
  if (!committed_) {
    std::error_code error;
    fs::remove(part_, error);
    exchange(part_.c_str(), nullptr);
  }
  unlock();
}

void OutputFile::hash(std::string_view text) {
  contents_ = contents_.value_or(Contents());
  contents_->add(text);
}

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
  if (!error && kind_ == Output::named && before_naming()) {
    before_naming()(name_, part_, contents_);
  }
  if (!error) {
    const bool must_be_new = kind_ == Output::first || (kind_ == Output::named && keeps(target_));
    if (kind_ == Output::named && !must_be_new) {
      remove_old_beside(name_);
    }
    error = give_name(part_, target_, must_be_new);
    if (kind_ == Output::named && must_be_new && !error) {
      remove_old_beside(name_);
    }
  }
  if (kind_ == Output::first && error == std::errc::file_exists) {
    return {};
  }
  committed_ = !error;
  if (committed_) {
    exchange(part_.c_str(), nullptr);
    unlock();
    keep(kept_files().written, name_);
    const std::scoped_lock lock(kept_files().mutex);
    kept_files().contents.erase(name_);
    if (contents_) {
      kept_files().contents.emplace(name_, *contents_);
    }
  }
  return error;
}

}  // namespace roofcast::base
