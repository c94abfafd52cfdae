// SPDX-License-Identifier: Apache-2.0
#include "base/csv/packed_stream.hpp"

namespace roofcast::base {
namespace {

constexpr unsigned kStreamBlock = 1U << 18U;

}  // namespace

PackedBuffer::PackedBuffer(const std::filesystem::path& file)
    : in_(file, kStreamBlock), buffer_(kStreamBlock) {}

PackedBuffer::int_type PackedBuffer::underflow() {
  const std::size_t got = in_.read(buffer_.data(), kStreamBlock);
  if (got == 0) {
    return traits_type::eof();
  }
  setg(buffer_.data(), buffer_.data(), buffer_.data() + got);
  return traits_type::to_int_type(*gptr());
}

}  // namespace roofcast::base
