// SPDX-License-Identifier: Apache-2.0
//
// A file as a stream that is not kept. It is decompressed when its first bytes say gzip.
#pragma once

#include <filesystem>
#include <istream>
#include <streambuf>
#include <vector>

#include "base/csv/gz_file.hpp"

namespace roofcast::base {

class GzBuffer : public std::streambuf {
 public:
  explicit GzBuffer(const std::filesystem::path& file);  // CsvError when it cannot be opened

 protected:
  int_type underflow() override;  // CsvError when the file is cut off or no gzip after all

 private:
  GzFile in_;
  std::vector<char> buffer_;
};

class GzStream : private GzBuffer, public std::istream {
 public:
  // What goes wrong while reading is thrown through the stream.
  explicit GzStream(const std::filesystem::path& file)
      : GzBuffer(file), std::istream(static_cast<GzBuffer*>(this)) {
    exceptions(std::ios::badbit);
  }
};

}  // namespace roofcast::base
