// SPDX-License-Identifier: Apache-2.0
//
// A file that is written whole or not at all.
//
//   OutputFile out("results.csv");
//   write to out.path(), and close it
//   out.commit();
//
// What is written lies beside the target until commit(), as `results.csv.PID.part`. commit() hands it to the disk and
// gives it the target's name in one step, so that a reader finds the old file or the new one. Without commit() the old
// file stays as it was. A killed program leaves its part behind. A target that is no regular file (a device, a pipe) is
// written directly.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace roofcast::base {

class OutputFile {
 public:
  // Throws as check_output does.
  explicit OutputFile(const std::filesystem::path& target);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  const std::filesystem::path& path() const { return part_; }
  // Whoever writes the file in order may say what, and nobody has to read it for its hash.
  void hash(std::string_view text);
  std::error_code commit();

 private:
  std::filesystem::path target_;  // links are followed
  std::filesystem::path part_;
  bool committed_ = false;
  std::optional<std::uint64_t> hash_;
};

// The parts of all targets that are not committed. A signal handler may call it; the program ends thereafter.
void remove_unfinished();

// Throws InputError if protect_inputs() was called and the target was read or written before.
void check_output(const std::filesystem::path& target);

// From now on a file that this process has read or written is no target. A program with one command calls it once.
void protect_inputs();
// Readers of files call it. Does nothing before protect_inputs().
void note_read(const std::filesystem::path& file);

// The files that this process has read so far, in order, without those that it wrote; and those that it wrote. Only
// after protect_inputs().
std::vector<std::filesystem::path> files_read();
std::vector<std::filesystem::path> files_written();
// FNV-1a of a file that was written, where its writer hashed it.
std::optional<std::uint64_t> written_hash(const std::filesystem::path& file);

}  // namespace roofcast::base
