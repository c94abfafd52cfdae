// SPDX-License-Identifier: Apache-2.0
//
// What this process reads and writes, and so which files are no targets: an input, what belongs to one, another output, and
// what exists, once refuse_replacing() was called.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fnv.hpp"

namespace roofcast::base {

// What a file holds: FNV-1a of its bytes.
struct Contents {
  std::uintmax_t bytes = 0;
  std::uint64_t hash = kFnvStart;
  void add(std::string_view text) {
    bytes += text.size();
    hash = fnv(hash, text);
  }
};

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
// To be called for each file that a command will write, before it reads: whoever reads one of them is refused.
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
// protect_inputs(). Throws InputError for a target that was checked before.
void note_read(const std::filesystem::path& file, std::optional<Contents> contents = std::nullopt);
// The same for what belongs to a file that was read, and is no input of its own.
void guard(const std::filesystem::path& file);
// Whether note_read() would keep the contents: nobody has told those of this file yet.
bool wants_contents(const std::filesystem::path& file);

// The files that this process has read so far, in order, without those that it wrote; and those that it wrote. Only
// after protect_inputs().
std::vector<std::filesystem::path> files_read();
std::vector<std::filesystem::path> files_written();
// Of a file as it was read or written, where whoever did so hashed it.
std::optional<Contents> known_contents(const std::filesystem::path& file);

// For who writes files (base/document/output_file.hpp).
constexpr const char* kLockedPart = ".roofcast.part";  // the longer ending of what is not whole
bool is_regular(const std::filesystem::path& file);
// A pipe that nobody reads would be waited for.
[[noreturn]] void refuse_irregular(const std::filesystem::path& file);
// Whether what exists under this name stays.
bool keeps(const std::filesystem::path& target);
// That this process has read or written, that is a link to nothing, or that has too long a name.
void refuse_target(const std::filesystem::path& target);
// As check_output(), of a file that is written now.
void refuse_output(const std::filesystem::path& target);
void note_written(const std::filesystem::path& file, std::optional<Contents> contents);
// Where a file lies that has no name yet. Who reads it reads no input.
void note_part(const std::filesystem::path& part);
void note_named(const std::filesystem::path& file);
// What lies beside a file that is replaced is not of the new one, also if this process ends before it writes its own.
void remove_old_beside(const std::filesystem::path& target);

}  // namespace roofcast::base
