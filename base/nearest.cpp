// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace roofcast::base {
namespace {

constexpr std::size_t kFarthest = 6;       // edits; beyond this two long names are different names
constexpr std::size_t kShortestStart = 3;  // characters that may stand for the name they begin

char folded(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string folded(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) { return folded(c); });
  return result;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substituted});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

constexpr std::string_view kWordEnds = " -_.";
constexpr std::size_t kMostNames = 5;  // that are proposed

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (kWordEnds.find(c) == std::string_view::npos) {
      word += folded(c);
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) {
    words.push_back(word);
  }
  return words;
}

std::size_t case_differences(std::string_view a, std::string_view b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    count += a[i] != b[i] && folded(a[i]) == folded(b[i]) ? 1U : 0U;
  }
  return count;
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view wrong,
                                        std::span<const std::string> candidates) {
  const std::string* best = nullptr;
  std::pair<std::size_t, std::size_t> best_distance;
  for (const std::string& candidate : candidates) {
    const auto [shorter, longer] = std::minmax({wrong.size(), candidate.size()});
    const std::size_t limit = std::min(std::max<std::size_t>(1, longer / 3), kFarthest);
    if (longer - shorter > limit) {
      continue;
    }
    const std::size_t edits = edit_distance(folded(wrong), folded(candidate));
    if (edits > limit || (edits > 0 && edits >= shorter)) {
      continue;
    }
    const std::pair distance{edits, case_differences(wrong, candidate)};
    if (best == nullptr || distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  if (best == nullptr && wrong.size() >= kShortestStart) {
    for (const std::string& candidate : candidates) {
      if (folded(candidate).starts_with(folded(wrong)) &&
          (best == nullptr || candidate.size() < best->size())) {
        best = &candidate;
      }
    }
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

std::vector<std::string> names_with_words(std::string_view wrong,
                                          std::span<const std::string> candidates) {
  const std::vector<std::string> wanted = words_of(wrong);
  std::vector<std::string> found;
  for (const std::string& candidate : candidates) {
    const std::vector<std::string> has = words_of(candidate);
    const bool all = std::all_of(wanted.begin(), wanted.end(), [&](const std::string& word) {
      return std::any_of(has.begin(), has.end(),
                         [&](const std::string& own) { return own.starts_with(word); });
    });
    if (all && !wanted.empty()) {
      found.push_back(candidate);
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  found.resize(std::min(found.size(), kMostNames));
  return found;
}

std::string did_you_mean(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? "; did you mean " : i + 1 < names.size() ? ", " : " or ";
    text.append("\"").append(names[i]).append("\"");
  }
  return names.empty() ? text : text + "?";
}

}  // namespace roofcast::base
