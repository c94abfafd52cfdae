// SPDX-License-Identifier: Apache-2.0
#include "base/csv/zstd_file.hpp"

#include <array>

namespace roofcast::base {

bool is_zstd(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    return false;  // what is read of a pipe is gone
  }
  std::array<char, 4> first{};
  std::ifstream(file, std::ios::binary).read(first.data(), first.size());
  return std::string_view(first.data(), first.size()) == "\x28\xB5\x2F\xFD";
}

ZstdReader::ZstdReader(const std::filesystem::path& file)
    : in_(file, std::ios::binary), buffer_(ZSTD_DStreamInSize()) {}

bool ZstdReader::fill() {
  in_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  input_ = {buffer_.data(), static_cast<std::size_t>(in_.gcount()), 0};
  contents_.add({buffer_.data(), input_.size});
  return input_.size > 0;
}

std::size_t ZstdReader::read(char* to, std::size_t most) {
  ZSTD_outBuffer output{to, most, 0};
  while (output.pos == 0) {
    // What is left of a frame may need no more bytes of the file.
    const bool more = input_.pos < input_.size || fill();
    if (!more && whole_) {
      return 0;
    }
    const std::size_t left = ZSTD_decompressStream(stream_.get(), &output, &input_);
    if (ZSTD_isError(left) != 0U) {
      why_ = ZSTD_getErrorName(left);
      return 0;
    }
    whole_ = left == 0;
    if (!more && !whole_ && output.pos == 0) {
      why_ = "the compressed data end too early";
      return 0;
    }
  }
  return output.pos;
}

void ZstdReader::restart() {
  in_.clear();
  in_.seekg(0);
  ZSTD_DCtx_reset(stream_.get(), ZSTD_reset_session_only);
  input_ = {};
  whole_ = true;
}

ZstdWriter::ZstdWriter(const std::filesystem::path& file)
    : out_(file, std::ios::binary), buffer_(ZSTD_CStreamOutSize()) {
  ZSTD_CCtx_setParameter(stream_.get(), ZSTD_c_checksumFlag, 1);
}

bool ZstdWriter::pack(std::string_view text, ZSTD_EndDirective how) {
  ZSTD_inBuffer input{text.data(), text.size(), 0};
  std::size_t left = 0;
  do {
    ZSTD_outBuffer output{buffer_.data(), buffer_.size(), 0};
    left = ZSTD_compressStream2(stream_.get(), &output, &input, how);
    if (ZSTD_isError(left) != 0U ||
        !out_.write(buffer_.data(), static_cast<std::streamsize>(output.pos))) {
      return false;
    }
  } while (how == ZSTD_e_continue ? input.pos < input.size : left > 0);
  return true;
}

}  // namespace roofcast::base
