// SPDX-License-Identifier: Apache-2.0
#include "base/csv/gz_stream.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "base/csv/csv.hpp"

namespace roofcast::base {
namespace {

constexpr unsigned kBlock = 1U << 18U;

[[noreturn]] void fail(const std::string& name, std::string_view what, std::string_view why) {
  throw CsvError(fmt::format("{}: error: cannot {}: {}\n", name, what, why));
}

}  // namespace

GzBuffer::GzBuffer(const std::filesystem::path& file) : name_(file.string()), buffer_(kBlock) {
  errno = 0;
  in_.reset(gzopen(file.c_str(), "rb"));
  if (in_ == nullptr) {
    fail(name_, "open", std::generic_category().message(errno != 0 ? errno : ENOMEM));
  }
}

GzBuffer::int_type GzBuffer::underflow() {
  const int got = gzread(in_.get(), buffer_.data(), kBlock);
  int error = Z_OK;
  const std::string_view why = gzerror(in_.get(), &error);
  if (got < 0 || (got == 0 && error == Z_BUF_ERROR)) {
    fail(name_, "read",
         error == Z_ERRNO ? std::generic_category().message(errno) : std::string(why));
  }
  if (got == 0) {
    return traits_type::eof();
  }
  setg(buffer_.data(), buffer_.data(), buffer_.data() + got);
  return traits_type::to_int_type(*gptr());
}

}  // namespace roofcast::base
