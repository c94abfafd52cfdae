// SPDX-License-Identifier: Apache-2.0
//
// A file that is written whole or not at all.
//
//   OutputFile out("results.csv");
//   write to out.path(), and close it
//   out.commit();
//
// What is written lies beside the target until commit(), as `results.csv.roofcast.part`. commit() hands it to the disk
// and gives it the target's name in one step, so that a reader finds the old file or the new one. Without commit() the
// old file stays as it was. A target that the user named and that is no regular file (a device, a pipe) is written directly;
// another one is refused.
//
// What exists is not replaced, once refuse_replacing() was called: the constructor refuses a target that is there, and
// commit() one that came up in the meantime.
//
// Who writes a part holds its lock (flock). So a second writer of the target is refused. A killed program leaves its part
// behind without the lock, and the next writer takes it over.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/fnv.hpp"

namespace roofcast::base {

enum class Output {
  named,   // by the user
  beside,  // of a file that the user named: goes with it, after check_beside
  repeated,  // several may write what they know to be the same bytes: each has a part of its own, and no lock
  first  // of several who write: what the first one wrote stays
};

// What a file holds: FNV-1a of its bytes.
struct Contents {
  std::uintmax_t bytes = 0;
  std::uint64_t hash = kFnvStart;
  void add(std::string_view text) {
    bytes += text.size();
    hash = fnv(hash, text);
  }
};

class OutputFile {
 public:
  // Throws InputError as check_output does, and where another process writes the target.
  explicit OutputFile(const std::filesystem::path& target, Output kind = Output::named);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  const std::filesystem::path& path() const { return part_; }
  // Whoever writes the file in order may say what, and nobody has to read it for its hash.
  void hash(std::string_view text);
  std::error_code commit();

 private:
  bool lock();
  void unlock();

  std::filesystem::path name_;    // as it was given
  std::filesystem::path target_;  // links are followed
  std::filesystem::path part_;
  Output kind_;
  int lock_ = -1;  // a file that is open
  bool committed_ = false;
  std::optional<Contents> contents_;
};

// The name that a file gets when it is whole: that of an unfinished one of Output::repeated or Output::first, without its
// ending; any other name as it is.
std::string finished_name(const std::string& name);

// The parts of all targets that are not committed. A signal handler may call it; the program ends thereafter.
void remove_unfinished();

// From now on whatever is written comes to lie below this folder, at its absolute path, and nothing else is touched.
void redirect_outputs(const std::filesystem::path& folder);
bool outputs_are_redirected();
// Where what is written under this name comes to lie.
std::filesystem::path output_path(const std::filesystem::path& target);
// The same without links, "." and "..": two names of one file have one. The file may not be there.
std::filesystem::path real_path(const std::filesystem::path& file);
// Else it is a device, a pipe or a folder, and nothing is written beside it.
bool is_regular_or_new(const std::filesystem::path& file);

// From now on a file that exists is no target. `remedy` is what messages say of it: "--x replaces it".
void refuse_replacing(const std::string& remedy);
// But for this file: an earlier run of the same command wrote it, and did not come to its end.
void allow_replacing(const std::filesystem::path& target);
// From now on `call` is told of each whole file that the user named before it gets its name: which name, where it lies until
// then, and what it holds, if that is known.
using BeforeNaming =
    std::function<void(const std::filesystem::path& name, const std::filesystem::path& whole,
                       const std::optional<Contents>& contents)>;
void call_before_naming(BeforeNaming call);
// Throws InputError if the target exists and refuse_replacing() was called, if protect_inputs() was called and the
// target was read or written before, or if it is a link to nothing.
void check_output(const std::filesystem::path& target);
// Throws InputError if there is no folder for it.
void check_folder_of(const std::filesystem::path& target);
// The same for a file that comes to lie beside `named`, and that nobody has named. One that roofcast wrote for what lay
// there before is replaced with it.
void check_beside(const std::filesystem::path& target, const std::filesystem::path& named,
                  bool is_ours);

// From now on a file that this process has read or written is no target. A program with one command calls it once.
void protect_inputs();
// Readers of files call it, with the contents where they know them: the file may change later. Does nothing before
// protect_inputs().
void note_read(const std::filesystem::path& file, std::optional<Contents> contents = std::nullopt);
// Whether note_read() would keep the contents: nobody has told those of this file yet.
bool wants_contents(const std::filesystem::path& file);

// The files that this process has read so far, in order, without those that it wrote; and those that it wrote. Only
// after protect_inputs().
std::vector<std::filesystem::path> files_read();
std::vector<std::filesystem::path> files_written();
// Of a file as it was read or written, where whoever did so hashed it.
std::optional<Contents> known_contents(const std::filesystem::path& file);

}  // namespace roofcast::base
