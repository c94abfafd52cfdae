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
#include <deque>
#include <random>
#include <thread>
#include <utility>

#include "base/document/problems.hpp"

namespace roofcast::base {
namespace {

namespace fs = std::filesystem;

BeforeNaming& before_naming() {
  static BeforeNaming call;
  return call;
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

void call_before_naming(BeforeNaming call) { before_naming() = std::move(call); }

class OutputFile::Part {
 public:
  Part(const fs::path& target, Output kind);
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part();

  const fs::path& path() const { return part_; }
  const fs::path& name() const { return name_; }
  const fs::path& target() const { return target_; }
  bool is_committed() const { return committed_; }
  bool may_wait() const { return kind_ == Output::named || kind_ == Output::beside; }
  bool must_be_new() const {
    return kind_ == Output::first || (kind_ == Output::named && keeps(target_));
  }
  void hash(std::string_view text);
  void note() const {
    note_written(name_, contents_);
    note_part(part_);
  }
  std::error_code finish();
  std::error_code give();  // gives it its name

 private:
  bool lock();
  void unlock();

  fs::path name_;    // as it was given
  fs::path target_;  // links are followed
  fs::path part_;
  Output kind_;
  int lock_ = -1;  // a file that is open
  bool committed_ = false;
  std::optional<Contents> contents_;
};

// The files of an OutputSet that are whole; none: there is no set.
std::optional<std::deque<std::unique_ptr<OutputFile::Part>>>& waiting() {
  static std::optional<std::deque<std::unique_ptr<OutputFile::Part>>> parts;
  return parts;
}

OutputFile::Part::Part(const fs::path& target, Output kind)
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
  kind == Output::named ? refuse_output(target) : refuse_target(target);
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
bool OutputFile::Part::lock() {
  part_ = target_;
  part_ += kLockedPart;
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

void OutputFile::Part::unlock() {
  if (lock_ >= 0) {
    close(lock_);
    lock_ = -1;
  }
}

OutputFile::Part::~Part() {
  if (!committed_) {
    std::error_code error;
    fs::remove(part_, error);
    exchange(part_.c_str(), nullptr);
  }
  unlock();
}

void OutputFile::Part::hash(std::string_view text) {
  contents_ = contents_.value_or(Contents());
  contents_->add(text);
}

// On the disk, whole.
std::error_code OutputFile::Part::finish() {
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
  return error;
}

std::error_code OutputFile::Part::give() {
  if (kind_ == Output::named && before_naming()) {
    before_naming()(name_, part_, contents_);
  }
  if (kind_ == Output::named && !must_be_new()) {
    remove_old_beside(name_);
  }
  const std::error_code error = give_name(part_, target_, must_be_new());
  if (kind_ == Output::named && must_be_new() && !error) {
    remove_old_beside(name_);
  }
  if (kind_ == Output::first && error == std::errc::file_exists) {
    return {};
  }
  committed_ = !error;
  if (committed_) {
    exchange(part_.c_str(), nullptr);
    unlock();
    note_written(name_, contents_);
    note_named(name_);
  }
  return error;
}

OutputFile::OutputFile(const fs::path& target, Output kind)
    : part_(std::make_unique<Part>(target, kind)) {}
OutputFile::~OutputFile() = default;

const fs::path& OutputFile::path() const { return part_->path(); }

void OutputFile::hash(std::string_view text) { part_->hash(text); }

std::error_code OutputFile::commit() {
  if (part_ == nullptr || part_->is_committed()) {
    return {};
  }
  if (const std::error_code error = part_->finish()) {
    return error;
  }
  if (waiting() && part_->may_wait()) {
    part_->note();
    waiting()->push_back(std::move(part_));
    return {};
  }
  return part_->give();
}

OutputSet::OutputSet() { waiting().emplace(); }
OutputSet::~OutputSet() { waiting().reset(); }

bool OutputSet::replaces() {
  return waiting() && std::any_of(waiting()->begin(), waiting()->end(),
                                  [](const auto& part) { return is_regular(part->target()); });
}

void OutputSet::give_names() {
  if (!waiting()) {
    return;
  }
  const auto refuse = [](const OutputFile::Part& part, const std::error_code& why) {
    throw InputError(
        fmt::format("error: cannot write {}: {}\n", part.name().string(), why.message()));
  };
  for (const auto& part : *waiting()) {
    if (part->must_be_new() && is_regular(part->target())) {
      refuse(*part, std::make_error_code(std::errc::file_exists));
    }
  }
  while (!waiting()->empty()) {
    if (const std::error_code error = waiting()->front()->give()) {
      refuse(*waiting()->front(), error);
    }
    waiting()->pop_front();
  }
}

fs::path lies_at(const fs::path& file) {
  if (waiting()) {
    const fs::path name = output_path(file);
    for (const auto& part : *waiting()) {
      if (part->name() == name) {
        return part->path();
      }
    }
  }
  return file;
}

}  // namespace roofcast::base
