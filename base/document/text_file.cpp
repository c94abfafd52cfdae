// SPDX-License-Identifier: Apache-2.0
#include "base/document/text_file.hpp"

#include <fmt/format.h>

#include <fstream>

#include "base/document/output_file.hpp"
#include "base/document/problems.hpp"

namespace roofcast::base {

void write_text(const std::filesystem::path& file, std::string_view text) {
  OutputFile output(file);
  std::ofstream out(output.path(), std::ios::binary);
  out << text;
  out.close();
  if (!out || output.commit()) {
    throw InputError(fmt::format("error: cannot write {}\n", file.string()));
  }
}

}  // namespace roofcast::base
