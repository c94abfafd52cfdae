// SPDX-License-Identifier: Apache-2.0
//
// A file as a stream that is not kept. It is decompressed as base/csv/packed_file.hpp says.
#pragma once

#include <filesystem>
#include <istream>
#include <streambuf>
#include <vector>

#include "base/csv/packed_file.hpp"

namespace roofcast::base {

class PackedBuffer : public std::streambuf {
 public:
  explicit PackedBuffer(const std::filesystem::path& file);  // CsvError when it cannot be opened

 protected:
  int_type underflow() override;  // CsvError when the file is cut off or damaged

 private:
  PackedFile in_;
  std::vector<char> buffer_;
};

class PackedStream : private PackedBuffer, public std::istream {
 public:
  // What goes wrong while reading is thrown through the stream.
  explicit PackedStream(const std::filesystem::path& file)
      : PackedBuffer(file), std::istream(static_cast<PackedBuffer*>(this)) {
    exceptions(std::ios::badbit);
  }
};

}  // namespace roofcast::base
