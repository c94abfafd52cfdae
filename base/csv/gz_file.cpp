// SPDX-License-Identifier: Apache-2.0
#include "base/csv/gz_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/csv/csv_error.hpp"
#include "base/document/output_file.hpp"
#include "base/document/standard_streams.hpp"

namespace roofcast::base {

void refuse_file(const std::string& name, std::string_view doing, std::string_view why) {
  throw CsvError(fmt::format("{}: error: cannot {}: {}", name, doing, why));
}

void refuse_file(const std::string& name, std::string_view doing, gzFile file) {
  const int system = errno;
  int code = Z_ERRNO;
  const char* text = file != nullptr ? gzerror(file, &code) : "";
  refuse_file(name, doing,
              code == Z_ERRNO ? std::generic_category().message(system != 0 ? system : ENOMEM)
                              : std::string(text));
}

GzFile::GzFile(const std::filesystem::path& file, unsigned buffer) : name_(file.string()) {
  errno = 0;
  in_.reset(is_standard_stream(file) ? gzdopen(dup(STDIN_FILENO), "rb")
                                     : gzopen(file.c_str(), "rb"));
  if (in_ == nullptr) {
    refuse_file(name_, "open", nullptr);
  }
  if (!is_standard_stream(file)) {
    note_read(file);
  }
  gzbuffer(in_.get(), buffer);
}

std::size_t GzFile::read(char* to, unsigned most) {
  const int got = gzread(in_.get(), to, most);
  if (got < 0) {
    refuse_file(name_, "read", in_.get());
  }
  int code = Z_OK;
  if (got == 0 && (gzerror(in_.get(), &code), code != Z_OK)) {
    refuse_file(name_, "read", "the compressed data end too early");
  }
  return static_cast<std::size_t>(got);
}

void GzFile::read_again(std::uint64_t from, char* to, unsigned size) {
  if (gzseek(in_.get(), static_cast<z_off_t>(from), SEEK_SET) < 0 ||
      gzread(in_.get(), to, size) != static_cast<int>(size)) {
    refuse_file(name_, "read", "it changed while it was read");
  }
}

}  // namespace roofcast::base
