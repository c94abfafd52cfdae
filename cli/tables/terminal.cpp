// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace roofcast::cli {
namespace {

Terminal& kept() {
  static Terminal terminal;
  return terminal;
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::size_t width_of_stdout() {
  winsize size{};
  return isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
                 size.ws_col > 0
             ? size.ws_col
             : Terminal::kNoLimit;
}

}  // namespace

const Terminal& terminal() { return kept(); }

void use_terminal(std::string_view color, std::size_t width) {
  const bool may = environment("NO_COLOR").empty() && environment("TERM") != "dumb" &&
                   isatty(STDOUT_FILENO) != 0;
  kept() = {width > 0 ? width : width_of_stdout(), color == "always" || (color == "auto" && may)};
}

}  // namespace roofcast::cli
