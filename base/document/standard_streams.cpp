// SPDX-License-Identifier: Apache-2.0
#include "base/document/standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <streambuf>
#include <utility>

namespace roofcast::base {
namespace {

// Writes to a file descriptor at once: writers have buffers of their own.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int descriptor) : descriptor_(descriptor) {}

 private:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    std::streamsize done = 0;
    while (done < size) {
      const ssize_t now = ::write(descriptor_, text + done, static_cast<std::size_t>(size - done));
      if (now < 0 && errno != EINTR) {
        break;
      }
      done += now > 0 ? now : 0;
    }
    return done;
  }
  int_type overflow(int_type c) override {
    const char one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
  }

  int descriptor_;
};

int& kept_output() {
  static int descriptor = -1;
  return descriptor;
}

std::optional<std::string>& standard_input() {
  static std::optional<std::string> text;
  return text;
}

}  // namespace

void open_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF) {
      [[maybe_unused]] const int opened =  // the lowest number that is free
          open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_RDWR);
    }
  }
}

bool is_standard_stream(const std::filesystem::path& file) { return file == "-"; }

void keep_standard_input(std::string text) { standard_input() = std::move(text); }
const std::optional<std::string>& kept_standard_input() { return standard_input(); }

std::ostream& standard_output() {
  static DescriptorBuffer buffer(kept_output());
  static std::ostream stream(&buffer);
  return kept_output() < 0 ? std::cout : stream;
}

void keep_standard_output() {
  if (kept_output() < 0) {
    std::cout.flush();
    std::fflush(stdout);
    kept_output() = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
  }
}

}  // namespace roofcast::base
