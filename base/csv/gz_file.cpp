// SPDX-License-Identifier: Apache-2.0
#include "base/csv/gz_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/csv/csv_error.hpp"
#include "base/document/output_file.hpp"
#include "base/document/standard_streams.hpp"

namespace roofcast::base {

namespace {

// Rows of a sweep are packed to a 20th; gzip does no more than 1,032 times. Small files may be as dense as they like.
constexpr std::uint64_t kMostTimes = 200;
constexpr std::uint64_t kFreely = std::uint64_t{64} << 20U;  // B

}  // namespace

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
  unpacked_ += static_cast<std::uint64_t>(got);
  if (std::memchr(to, 0, static_cast<std::size_t>(got)) != nullptr) {
    refuse_file(name_, "read", "it has a byte of 0, so it is no text");
  }
  if (unpacked_ > kFreely) {
    const z_off_t packed = gzoffset(in_.get());  // of a pipe: -1
    if (packed > 0 && unpacked_ / static_cast<std::uint64_t>(packed) > kMostTimes) {
      refuse_file(name_, "read",
                  fmt::format("it unpacks to more than {} times its size", kMostTimes));
    }
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
