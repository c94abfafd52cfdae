// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>  // mkdtemp
#include <zlib.h>

#include <filesystem>
#include <string>

#include "tests/catch.hpp"

namespace roofcast {

// A file of its own that goes away with the test.
class Scratch {
 public:
  explicit Scratch(const std::string& text, bool compressed = false) {
    std::string directory =
        (std::filesystem::temp_directory_path() / "roofcast-test-XXXXXX").string();
    REQUIRE(mkdtemp(directory.data()) != nullptr);
    directory_ = directory;
    write(text, compressed);
  }
  ~Scratch() { std::filesystem::remove_all(directory_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::filesystem::path file() const { return directory_ / "file"; }
  void write(const std::string& text, bool compressed = false) const {
    gzFile out = gzopen(file().c_str(), compressed ? "wb" : "wbT");
    REQUIRE(out != nullptr);
    const auto size = static_cast<unsigned>(text.size());
    REQUIRE(gzwrite(out, text.data(), size) == static_cast<int>(size));
    gzclose(out);
  }

 private:
  std::filesystem::path directory_;
};

}  // namespace roofcast
