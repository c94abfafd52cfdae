// SPDX-License-Identifier: Apache-2.0
#include "base/document/renamed.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/document/notes.hpp"

namespace roofcast::base {
namespace {

constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
    {"max_tokens_per_step", "max_tokens_per_iteration"},
    {"tokens_per_step", "tokens_per_iteration"},
    {"per_step",
     "per_iteration"},  // of a stack; that of a trainer means an optimizer step and stays
    {"second_experts", "alternative_experts"},
    {"frees_late", "delayed_release"},
    {"stretch", "slowdown"},
    {"found_share", "prefix_hit_rate"},
    {"bound_ttft", "limited_by_ttft"},
    {"bound_tpot", "limited_by_tpot"},
    {"bound_throughput", "limited_by_throughput"},
};

}  // namespace

std::string_view old_name(std::string_view name) {
  for (const auto& [before, now] : kRenamed) {
    if (now == name) {
      return before;
    }
  }
  return {};
}

std::string_view current_name(std::string_view name) {
  for (const auto& [before, now] : kRenamed) {
    if (before == name) {
      return now;
    }
  }
  return name;
}

void note_renamed(const Place& place, std::string_view old_name) {
  const std::string where = place.source == nullptr
                                ? std::string()
                                : fmt::format("{}:{}:{}: ", place.source->name, place.mark.line + 1,
                                              place.mark.column + 1);
  add_note(
      fmt::format("{}note: \"{}\" is now called \"{}\"; the old name works until the next release",
                  where, old_name, current_name(old_name)));
}

std::string noted_name(const Place& place, std::string_view name) {
  const std::string_view now = current_name(name);
  if (now != name) {
    note_renamed(place, name);
  }
  return std::string(now);
}

void note_renamed_column(std::string_view file, std::string_view old_name) {
  add_note(fmt::format(
      "{}: note: the column \"{}\" is now called \"{}\"; the old name works until the next release",
      file, old_name, current_name(old_name)));
}

void note_renamed_option(std::string_view old_name, std::string_view name) {
  add_note(fmt::format("note: {} is now called {}; the old name works until the next release",
                       old_name, name));
}

}  // namespace roofcast::base
