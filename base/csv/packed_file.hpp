// SPDX-License-Identifier: Apache-2.0
//
// Compressed files. One that is read is decompressed when its first bytes say that it is gzip or, where it is no pipe, zstd,
// whatever its name.
#pragma once

#include <sys/stat.h>
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/csv/zstd_file.hpp"
#include "base/document/output_file.hpp"

namespace roofcast::base {

struct CloseGz {
  void operator()(gzFile file) const { gzclose(file); }
};
using GzHandle = std::unique_ptr<std::remove_pointer_t<gzFile>, CloseGz>;

// Throws CsvError: the file cannot be opened, read or written, and why.
[[noreturn]] void refuse_file(const std::string& name, std::string_view doing,
                              std::string_view why);
// The same, with what the system or zlib said last.
[[noreturn]] void refuse_file(const std::string& name, std::string_view doing, gzFile file);

// To be read. At its end, what was read is noted (base/document/output_file.hpp): the file may change later. Every function
// throws CsvError when it cannot do what it says.
class PackedFile {
 public:
  // `buffer`: bytes that zlib reads at once; larger reads of a plain file bypass it.
  PackedFile(const std::filesystem::path& file, unsigned buffer);

  // At most so many bytes; 0 at the end of the file. A compressed file that is cut off is an error, as is one that
  // unpacks to far more than any table does, and a file that is no text: it has a byte of 0.
  std::size_t read(char* to, unsigned most);
  // So many bytes from a place in the decompressed file that was read before.
  void read_again(std::uint64_t from, char* to, unsigned size);

 private:
  std::size_t unpack(char* to, unsigned most);
  Contents packed_contents();
  bool go_to(std::uint64_t place);

  std::filesystem::path file_;
  std::string name_;
  GzHandle in_;  // or
  std::optional<ZstdReader> zstd_;
  int descriptor_ = -1;  // that in_ reads and closes
  struct stat opened_ {};
  std::uint64_t place_ = 0;  // of zstd's, in what is unpacked
  std::uint64_t unpacked_ = 0;
  std::optional<Contents> contents_;  // so far; none: nobody asks for them
};

}  // namespace roofcast::base
