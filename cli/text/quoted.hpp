// SPDX-License-Identifier: Apache-2.0
//
// Texts as a shell, YAML and Kubernetes take them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace roofcast::cli {

// A word of a shell.
std::string shell_word(std::string_view text);

// A text of one line in YAML: never a number, a flag or a mapping.
std::string yaml_text(std::string_view text);

// A line of a comment in YAML or a shell, whatever the text is: ends of lines become blanks.
std::string comment_line(std::string_view text);

// Small letters, digits and dashes alone, at most `longest` of them.
std::string kubernetes_name(std::string_view text, std::size_t longest);

}  // namespace roofcast::cli
