// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/pipeline_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roofcast::workloads {
namespace {

constexpr std::size_t kLongestLayout = 100000;  // symbols, written out

// Writes out the repetitions.
class Unrolled {
 public:
  explicit Unrolled(std::string_view text) : text_(text) { symbols_ = sequence(0); }
  const std::string& symbols() const { return symbols_; }
  const std::string& problem() const { return problem_; }

 private:
  std::string sequence(int depth) {
    std::string all;
    while (problem_.empty() && at_ < text_.size() && text_[at_] != ')') {
      std::string part;
      const char symbol = text_[at_++];
      if (symbol == ',' || symbol == ' ') {
        continue;
      }
      if (symbol == '(') {
        part = sequence(depth + 1);
        if (at_ >= text_.size()) {
          fail("( without )");
        }
        ++at_;
      } else if (symbol == 'm') {
        fail("m: multi-token-prediction modules are not trained");
      } else if (symbol == 'E' || symbol == 't' || symbol == 'L' || symbol == '|') {
        part = symbol;
      } else {
        fail(fmt::format("unknown symbol \"{}\" (allowed: E, t, L, |, *, parentheses)", symbol));
      }
      const std::size_t times = repetitions();
      if (part.size() * times + all.size() > kLongestLayout) {
        fail("too long");
        break;
      }
      for (std::size_t i = 0; i < times; ++i) {
        all += part;
      }
    }
    if (depth == 0 && at_ < text_.size()) {
      fail(") without (");
    }
    return all;
  }

  std::size_t repetitions() {
    if (at_ >= text_.size() || text_[at_] != '*') {
      return 1;
    }
    std::size_t times = 0;
    const std::size_t start = ++at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && times < kLongestLayout) {
      times = 10 * times + static_cast<std::size_t>(text_[at_++] - '0');
    }
    if (at_ == start) {
      fail("* needs a number after it");
    }
    return times;
  }

  void fail(std::string problem) {
    if (problem_.empty()) {
      problem_ = std::move(problem);
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string symbols_;
  std::string problem_;
};

}  // namespace

std::int64_t layers_of(const PipelineLayout& layout) {
  return layout.empty() ? 0 : layout.back().first + layout.back().layers;
}

ParsedLayout parse_layout(std::string_view text) {
  ParsedLayout parsed;
  const Unrolled unrolled(text);
  const std::string& symbols = unrolled.symbols();
  parsed.problem = unrolled.problem();
  if (!parsed.problem.empty()) {
    return parsed;
  }
  if (!symbols.starts_with('E') || !symbols.ends_with('L') || symbols.rfind('E') != 0 ||
      symbols.find('L') + 1 != symbols.size()) {
    parsed.problem = "a layout begins with its one E and ends with its one L";
    return parsed;
  }
  PipelineChunk chunk;
  for (const char symbol : symbols) {
    chunk.embedding = chunk.embedding || symbol == 'E';
    chunk.loss = symbol == 'L';
    chunk.layers += symbol == 't' ? 1 : 0;
    if (symbol == '|' || symbol == 'L') {
      parsed.layout.push_back(chunk);
      chunk = {.first = chunk.first + chunk.layers};
    }
  }
  return parsed;
}

PipelineLayout even_layout(std::int64_t layers, std::int64_t chunks) {
  PipelineLayout layout;
  std::int64_t first = 0;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::int64_t count = layers / chunks + (chunk < layers % chunks ? 1 : 0);
    layout.push_back({first, count, chunk == 0, chunk + 1 == chunks});
    first += count;
  }
  return layout;
}

std::int64_t held_by_v(std::int64_t stages, std::int64_t stage, std::int64_t k, std::int64_t m) {
  return std::min(m, k == 0 ? 2 * stages - stage - 1 : stage + 1);
}

std::int64_t held_micro_batches(std::int64_t stages, std::int64_t virtual_stages,
                                std::int64_t stage, std::int64_t k, std::int64_t m) {
  if (virtual_stages == 1) {
    return std::min(m, stages - stage);
  }
  const std::int64_t round = stages * virtual_stages;
  const std::int64_t passes = 2 * (stages - stage - 1) + round - stages + 1;
  const std::int64_t held =
      passes / round * stages + std::clamp<std::int64_t>(passes % round - k * stages, 0, stages);
  return std::min(m, held);
}

}  // namespace roofcast::workloads
