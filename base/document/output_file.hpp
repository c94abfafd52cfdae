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

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/document/kept_files.hpp"

namespace roofcast::base {

enum class Output {
  named,   // by the user
  beside,  // of a file that the user named: goes with it, after check_beside
  repeated,  // several may write what they know to be the same bytes: each has a part of its own, and no lock
  first  // of several who write: what the first one wrote stays
};

class OutputFile {
 public:
  // Throws InputError as check_output does, and where another process writes the target.
  explicit OutputFile(const std::filesystem::path& target, Output kind = Output::named);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  const std::filesystem::path& path() const;  // before commit()
  // Whoever writes the file in order may say what, and nobody has to read it for its hash.
  void hash(std::string_view text);
  std::error_code commit();

  class Part;

 private:
  std::unique_ptr<Part> part_;
};

// While there is one, files that a user named, and those beside them, wait after their commit(), whole and on the disk,
// and get their names together: a command that fails leaves all files as they were.
class OutputSet {
 public:
  OutputSet();
  OutputSet(const OutputSet&) = delete;
  OutputSet& operator=(const OutputSet&) = delete;
  ~OutputSet();  // what still waits is removed

  // Of the set that there is, if any. Whether a file would be replaced by one that waits.
  static bool replaces();
  // Throws InputError where one cannot get its name.
  static void give_names();
};
// Where the bytes lie that were written under this name: elsewhere while they wait.
std::filesystem::path lies_at(const std::filesystem::path& file);

// The name that a file gets when it is whole: that of an unfinished one of Output::repeated or Output::first, without its
// ending; any other name as it is.
std::string finished_name(const std::string& name);

// The parts of all targets that are not committed. A signal handler may call it; the program ends thereafter.
void remove_unfinished();

// From now on `call` is told of each whole file that the user named before it gets its name: which name, where it lies until
// then, and what it holds, if that is known.
using BeforeNaming =
    std::function<void(const std::filesystem::path& name, const std::filesystem::path& whole,
                       const std::optional<Contents>& contents)>;
void call_before_naming(BeforeNaming call);

}  // namespace roofcast::base
