// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <string>

#include "calibrate/conventions/conventions.hpp"
#include "calibrate/logs/kernel_profile.hpp"

namespace roofcast::calibrate {

std::string_view kernel_kind(std::string_view kernel) {
  static const Conventions conventions("kernel_kinds");
  std::string small;
  small.reserve(kernel.size());
  for (const char c : kernel) {
    small.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  }
  Facts facts;
  facts.set("kernel", small);
  const base::Node* kind = find(conventions.settings(facts), "run.kind");
  return kind == nullptr ? "other" : std::string_view(kind->text);
}

}  // namespace roofcast::calibrate
