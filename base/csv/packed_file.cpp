// SPDX-License-Identifier: Apache-2.0
#include "base/csv/packed_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/csv/csv_error.hpp"
#include "base/document/standard_streams.hpp"

namespace roofcast::base {

namespace {

// Rows of a sweep are packed to a 20th; gzip does no more than 1,032 times, zstd far more. Small files may be as dense as they like.
constexpr std::uint64_t kMostTimes = 200;
constexpr std::uint64_t kFreely = std::uint64_t{64} << 20U;  // B

// The last four bytes of a gzip file: how many its last member unpacks to.
bool says_size(int file, off_t bytes, std::uint64_t unpacked) {
  std::array<unsigned char, 4> last{};
  const auto got = pread(file, last.data(), last.size(), bytes - static_cast<off_t>(last.size()));
  std::uint32_t size = 0;
  for (std::size_t i = last.size(); i-- > 0;) {
    size = size << 8U | last.at(i);
  }
  return got == static_cast<ssize_t>(last.size()) && size == static_cast<std::uint32_t>(unpacked);
}

// Whether a gzip file is members to its end. What follows the last one zlib leaves out without a word.
bool is_all_members(int file) {
  std::array<unsigned char, 1U << 16U> in;
  std::array<unsigned char, 1U << 16U> out;
  z_stream stream{};
  constexpr int kGzip = 16 + MAX_WBITS;
  if (inflateInit2(&stream, kGzip) != Z_OK) {
    return false;
  }
  off_t at = 0;
  int code = Z_STREAM_END;  // no member is begun
  for (ssize_t got = 0; (got = pread(file, in.data(), in.size(), at)) > 0 && code >= 0; at += got) {
    stream.next_in = in.data();
    stream.avail_in = static_cast<unsigned>(got);
    while (stream.avail_in > 0 && code >= 0) {
      if (code == Z_STREAM_END) {
        inflateReset(&stream);
      }
      stream.next_out = out.data();
      stream.avail_out = out.size();
      code = inflate(&stream, Z_NO_FLUSH);
    }
  }
  inflateEnd(&stream);
  return code == Z_STREAM_END;
}

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

PackedFile::PackedFile(const std::filesystem::path& file, unsigned buffer)
    : file_(file), name_(file.string()) {
  if (is_zstd(file)) {
    zstd_.emplace(file);
    note_read(file);
    contents_ = Contents();
    return;
  }
  errno = 0;
  descriptor_ =
      is_standard_stream(file) ? dup(STDIN_FILENO) : open(file.c_str(), O_RDONLY | O_CLOEXEC);
  in_.reset(descriptor_ < 0 ? nullptr : gzdopen(descriptor_, "rb"));
  if (in_ == nullptr || fstat(descriptor_, &opened_) != 0) {
    refuse_file(name_, "open", nullptr);
  }
  if (!is_standard_stream(file)) {
    note_read(file);
    contents_ =
        S_ISREG(opened_.st_mode) && wants_contents(file) ? std::optional(Contents()) : std::nullopt;
  }
  gzbuffer(in_.get(), buffer);
}

std::size_t PackedFile::unpack(char* to, unsigned most) {
  if (zstd_) {
    const std::size_t got = zstd_->read(to, most);
    if (zstd_->why() != nullptr) {
      refuse_file(name_, "read", zstd_->why());
    }
    place_ += got;
    return got;
  }
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

// Of a gzip file. zlib tells none of its bytes, so they are read again, through what is open.
Contents PackedFile::packed_contents() {
  Contents contents;
  std::array<char, 1U << 16U> block;
  for (ssize_t got = 1; got > 0; contents.add({block.data(), static_cast<std::size_t>(got)})) {
    got = std::max<ssize_t>(
        0, pread(descriptor_, block.data(), block.size(), static_cast<off_t>(contents.bytes)));
  }
  struct stat now {};
  if (fstat(descriptor_, &now) == 0 && (now.st_mtim.tv_sec != opened_.st_mtim.tv_sec ||
                                        now.st_mtim.tv_nsec != opened_.st_mtim.tv_nsec)) {
    refuse_file(name_, "read", "it changed while it was read");
  }
  return contents;
}

std::size_t PackedFile::read(char* to, unsigned most) {
  const std::size_t got = unpack(to, most);
  unpacked_ += got;
  if (got == 0 && !zstd_ && gzdirect(in_.get()) == 0 && S_ISREG(opened_.st_mode) &&
      !says_size(descriptor_, opened_.st_size, unpacked_) && !is_all_members(descriptor_)) {
    refuse_file(name_, "read", "bytes that are not compressed follow the compressed ones");
  }
  if (const bool plain = !zstd_ && gzdirect(in_.get()) != 0; contents_ && got > 0 && plain) {
    contents_->add({to, got});
  } else if (contents_ && got == 0) {
    note_read(file_, plain ? *contents_ : zstd_ ? zstd_->contents() : packed_contents());
    contents_.reset();
  }
  if (std::memchr(to, 0, got) != nullptr) {
    refuse_file(name_, "read", "it has a byte of 0, so it is no text");
  }
  if (unpacked_ > kFreely) {
    const std::int64_t packed =
        zstd_ ? static_cast<std::int64_t>(zstd_->packed()) : gzoffset(in_.get());  // of a pipe: -1
    if (packed > 0 && unpacked_ / static_cast<std::uint64_t>(packed) > kMostTimes) {
      refuse_file(name_, "read",
                  fmt::format("it unpacks to more than {} times its size", kMostTimes));
    }
  }
  return got;
}

bool PackedFile::go_to(std::uint64_t place) {
  contents_.reset();
  if (!zstd_) {
    return gzseek(in_.get(), static_cast<z_off_t>(place), SEEK_SET) >= 0;
  }
  if (place < place_) {
    zstd_->restart();
    place_ = 0;
  }
  std::array<char, 1U << 16U> passed;
  while (place_ < place) {
    const auto most = static_cast<unsigned>(std::min<std::uint64_t>(passed.size(), place - place_));
    if (unpack(passed.data(), most) == 0) {
      return false;
    }
  }
  return true;
}

void PackedFile::read_again(std::uint64_t from, char* to, unsigned size) {
  bool is_there = go_to(from);
  for (unsigned had = 0; is_there && had < size;) {
    const std::size_t got = unpack(to + had, size - had);
    is_there = got > 0;
    had += static_cast<unsigned>(got);
  }
  if (!is_there) {
    refuse_file(name_, "read", "it changed while it was read");
  }
}

}  // namespace roofcast::base
