// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/lengths.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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

struct Normal {  // the distribution of the logarithm of a lognormal number
  double mu;
  double sigma;
};
Normal normal_of(const Lengths& lengths) {
  const double variance = std::log1p(lengths.cv * lengths.cv);
  return {std::log(lengths.mean) - 0.5 * variance, std::sqrt(variance)};
}

// E[min(max(X, least), most)^order] of a lognormal X, with ln X normal with mean mu and deviation sigma:
//
//   leastⁿ·F(least, 0) + exp(n·mu + n²·sigma²/2)·(F(most, n·sigma) − F(least, n·sigma)) + mostⁿ·(1 − F(most, 0))
//
// F(x, shift) = Φ((ln x − mu)/sigma − shift), `below` in the code.
double clamped_moment(const Lengths& lengths, int order) {
  const auto n = static_cast<double>(order);
  const auto least = static_cast<double>(lengths.least);
  const auto most = static_cast<double>(lengths.most);
  const Normal normal = normal_of(lengths);
  const double mu = normal.mu;  // clang 14 captures no structured bindings
  const double sigma = normal.sigma;
  if (sigma == 0.0) {
    return std::pow(std::clamp(lengths.mean, least, most), n);
  }
  const auto below = [&](double x, double shift) {
    return 0.5 * std::erfc(-((std::log(x) - mu) / sigma - shift) / std::sqrt(2.0));
  };
  const double inside = std::exp(n * mu + 0.5 * n * n * sigma * sigma) *
                        (below(most, n * sigma) - below(least, n * sigma));
  return std::pow(least, n) * below(least, 0.0) + inside +
         std::pow(most, n) * (1.0 - below(most, 0.0));
}

}  // namespace

void read(base::Fields& f, std::string_view key, Lengths& lengths, base::Need need) {
  if (!f.is_map(key)) {
    lengths = {.least = lengths.least};
    f.integer(key, lengths.least, kTokens, need);
    lengths.most = lengths.least;
    return;
  }
  f.group(key, [&](base::Fields& g) {
    const bool uniform = read_uniform(g, lengths);
    g.group(
        "lognormal", [&](base::Fields& h) { read_lognormal(h, lengths); }, base::optional);
    if (uniform == g.has("lognormal")) {
      g.problem("lognormal", "one of uniform and lognormal is expected");
    }
  });
}

Lengths measured_lengths(std::vector<std::int32_t> samples) {
  std::sort(samples.begin(), samples.end());
  Lengths lengths;
  lengths.least = samples.front();
  lengths.most = samples.back();
  if (lengths.least == lengths.most) {
    return lengths;
  }
  double sum = 0.0;
  double squares = 0.0;
  for (const std::int32_t tokens : samples) {
    sum += tokens;
    squares += static_cast<double>(tokens) * tokens;
  }
  const auto count = static_cast<double>(samples.size());
  lengths.shape = Lengths::Shape::measured;
  lengths.mean = sum / count;
  lengths.cv = std::sqrt(std::max(0.0, squares / count / (lengths.mean * lengths.mean) - 1.0));
  lengths.samples = std::make_shared<const std::vector<std::int32_t>>(std::move(samples));
  return lengths;
}

double mean(const Lengths& lengths) {
  switch (lengths.shape) {
    case Lengths::Shape::measured:
      return lengths.mean;
    case Lengths::Shape::lognormal:
      return clamped_moment(lengths, 1);
    default:
      return 0.5 * static_cast<double>(lengths.least + lengths.most);
  }
}

double squared_variation(const Lengths& lengths) {
  if (lengths.shape == Lengths::Shape::measured) {
    return lengths.cv * lengths.cv;
  }
  const double first = mean(lengths);
  double variance = 0.0;
  if (lengths.shape == Lengths::Shape::uniform) {
    const auto count = static_cast<double>(lengths.most - lengths.least + 1);
    variance = (count * count - 1.0) / 12.0;
  } else if (lengths.shape == Lengths::Shape::lognormal) {
    variance = std::max(0.0, clamped_moment(lengths, 2) - first * first);
  }
  return variance / (first * first);
}

double share_up_to(const Lengths& lengths, std::int64_t tokens) {
  if (tokens < lengths.least || tokens >= lengths.most) {
    return tokens < lengths.least ? 0.0 : 1.0;
  }
  if (lengths.shape == Lengths::Shape::measured) {
    const std::vector<std::int32_t>& sorted = *lengths.samples;
    const auto beyond = std::upper_bound(sorted.begin(), sorted.end(), tokens);
    return static_cast<double>(beyond - sorted.begin()) / static_cast<double>(sorted.size());
  }
  if (lengths.shape != Lengths::Shape::lognormal) {
    return static_cast<double>(tokens - lengths.least + 1) /
           static_cast<double>(lengths.most - lengths.least + 1);
  }
  const double variance = std::log1p(lengths.cv * lengths.cv);
  const double beyond =
      std::log((static_cast<double>(tokens) + 0.5) / lengths.mean) + 0.5 * variance;
  if (variance == 0.0) {
    return beyond < 0.0 ? 0.0 : 1.0;
  }
  return 0.5 * std::erfc(-beyond / std::sqrt(2.0 * variance));
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
    case Lengths::Shape::measured:
      return (*lengths.samples)[static_cast<std::size_t>(
          random.integer(0, static_cast<std::int64_t>(lengths.samples->size()) - 1))];
  }
  return lengths.least;
}

}  // namespace roofcast::workloads
