// SPDX-License-Identifier: Apache-2.0
#include "workloads/lengths.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace roofcast::workloads {
namespace {

constexpr std::int64_t kMost = 1'000'000'000;
constexpr base::Range kTokens{1.0, 1e9};

bool read_uniform(base::Fields& f, Lengths& lengths) {
  std::vector<std::int64_t> ends;
  f.integers("uniform", ends, kTokens, base::optional);
  if (!f.has("uniform")) {
    return false;
  }
  if (ends.size() == 2 && ends[0] <= ends[1]) {
    lengths = {.shape = Lengths::Shape::uniform, .least = ends[0], .most = ends[1]};
  } else {
    f.problem("uniform", "the least and the most are expected here: [820, 1024]");
  }
  return true;
}

void read_lognormal(base::Fields& f, Lengths& lengths) {
  lengths = {.shape = Lengths::Shape::lognormal, .least = 1, .most = kMost};
  f.number("mean", lengths.mean, {1.0, 1e9});
  f.number("cv", lengths.cv, base::not_negative);
  f.integer("max", lengths.most, kTokens, base::optional);
}

}  // namespace

void read(base::Fields& f, std::string_view key, Lengths& lengths) {
  if (!f.is_map(key)) {
    lengths = {};
    f.integer(key, lengths.least, kTokens);
    lengths.most = lengths.least;
    return;
  }
  f.group(key, [&](base::Fields& g) {
    const bool uniform = read_uniform(g, lengths);
    g.group(
        "lognormal", [&](base::Fields& h) { read_lognormal(h, lengths); },
        uniform ? base::optional : base::required);
    if (uniform && g.has("lognormal")) {
      g.problem("lognormal", "either uniform or lognormal, not both");
    }
  });
}

double mean(const Lengths& lengths) {
  return lengths.shape == Lengths::Shape::lognormal
             ? lengths.mean
             : 0.5 * static_cast<double>(lengths.least + lengths.most);
}

std::int64_t draw(const Lengths& lengths, base::Random& random) {
  switch (lengths.shape) {
    case Lengths::Shape::fixed:
      return lengths.least;
    case Lengths::Shape::uniform:
      return random.integer(lengths.least, lengths.most);
    case Lengths::Shape::lognormal: {
      const double tokens = random.lognormal(lengths.mean, lengths.cv);
      return std::clamp(
          static_cast<std::int64_t>(std::llround(std::min(tokens, static_cast<double>(kMost)))),
          lengths.least, lengths.most);
    }
  }
  return lengths.least;
}

}  // namespace roofcast::workloads
