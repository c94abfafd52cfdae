// SPDX-License-Identifier: Apache-2.0
//
// What the program prints for people. Names from files and logs stand in it, so control characters become "?".
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace roofcast::cli {

void say_text(std::string_view text);   // on stdout
void tell_text(std::string_view text);  // on stderr

template <class... T>
void say(fmt::format_string<T...> format, T&&... values) {
  say_text(fmt::format(format, std::forward<T>(values)...));
}
template <class... T>
void tell(fmt::format_string<T...> format, T&&... values) {
  tell_text(fmt::format(format, std::forward<T>(values)...));
}

}  // namespace roofcast::cli
