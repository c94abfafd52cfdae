// SPDX-License-Identifier: Apache-2.0
//
// Files that zstd has compressed, or another program will. None of these functions throws: they say what went wrong.
#pragma once

#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <vector>

#include "base/document/output_file.hpp"

namespace roofcast::base {

// Whether a file is one that can be read again, and begins as zstd's do.
bool is_zstd(const std::filesystem::path& file);

class ZstdReader {
 public:
  explicit ZstdReader(const std::filesystem::path& file);

  // At most so many bytes; 0 at the end, and where why() says that it cannot go on.
  std::size_t read(char* to, std::size_t most);
  const char* why() const { return why_; }
  std::uint64_t packed() const { return contents_.bytes; }  // of the file that were read
  const Contents& contents() const { return contents_; }    // before restart()
  void restart();

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  bool fill();

  std::ifstream in_;
  std::unique_ptr<ZSTD_DStream, Free> stream_{ZSTD_createDStream()};
  std::vector<char> buffer_;
  ZSTD_inBuffer input_{};
  bool whole_ = true;  // no frame is begun
  Contents contents_;
  const char* why_ = nullptr;
};

class ZstdWriter {
 public:
  explicit ZstdWriter(const std::filesystem::path& file);

  bool is_open() const { return out_.is_open(); }
  // False where the file cannot be written; errno may say why.
  bool write(std::string_view text) { return pack(text, ZSTD_e_continue); }
  bool flush() { return pack({}, ZSTD_e_flush) && out_.flush(); }
  bool close() { return pack({}, ZSTD_e_end) && out_.flush(); }

 private:
  struct Free {
    void operator()(ZSTD_CStream* stream) const { ZSTD_freeCStream(stream); }
  };
  bool pack(std::string_view text, ZSTD_EndDirective how);

  std::ofstream out_;
  std::unique_ptr<ZSTD_CStream, Free> stream_{ZSTD_createCStream()};
  std::vector<char> buffer_;
};

}  // namespace roofcast::base
