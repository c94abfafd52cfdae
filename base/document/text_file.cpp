// SPDX-License-Identifier: Apache-2.0
#include "base/document/text_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <ostream>
#include <system_error>

#include "base/document/harmless.hpp"
#include "base/document/problems.hpp"
#include "base/document/standard_streams.hpp"

namespace roofcast::base {

std::string bytes_of(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    return {};
  }
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_text(const std::filesystem::path& file, std::string_view text, Output kind) {
  if (is_standard_stream(file)) {
    errno = 0;
    if (!(standard_output() << harmless(text, "\n\r\t") << std::flush)) {
      throw InputError(
          fmt::format("error: cannot write the output: {}\n",
                      errno != 0 ? std::generic_category().message(errno) : "the stream failed"));
    }
    return;
  }
  OutputFile output(file, kind);
  output.hash(text);
  errno = 0;
  std::ofstream out(output.path(), std::ios::binary);
  out << text;
  out.close();
  const std::error_code why =
      out ? output.commit() : std::error_code(errno != 0 ? errno : EIO, std::generic_category());
  if (why) {
    throw InputError(fmt::format("error: cannot write {}: {}\n", file.string(), why.message()));
  }
}

}  // namespace roofcast::base
