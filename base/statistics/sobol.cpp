// SPDX-License-Identifier: Apache-2.0
#include "base/statistics/sobol.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "base/no_number.hpp"

namespace roofcast::base {
namespace {

constexpr std::size_t kBatches = SaltelliDesign::kBatches;
constexpr double kStudent = 1.753;  // 95 % quantile with kBatches − 1 = 15 degrees of freedom

// The root of x^(n+1) = x + 1.
double golden(std::size_t n) {
  double x = 1.5;
  for (int i = 0; i < 100; ++i) {
    x = std::pow(1.0 + x, 1.0 / (static_cast<double>(n) + 1.0));
  }
  return x;
}

// Sums over rows.
struct Sums {
  double rows = 0.0;
  double squares = 0.0;       // f(A)² + f(B)²
  double once = 0.0;          // f(A) + f(B)
  std::vector<double> first;  // by input: f(B)·(f(AB_i) − f(A))
  std::vector<double> total;  // by input: (f(A) − f(AB_i))² / 2

  explicit Sums(std::size_t inputs) : first(inputs), total(inputs) {}
  void add(const Sums& other, double sign) {
    rows += sign * other.rows;
    squares += sign * other.squares;
    once += sign * other.once;
    for (std::size_t i = 0; i < first.size(); ++i) {
      first[i] += sign * other.first[i];
      total[i] += sign * other.total[i];
    }
  }
  double variance() const {
    const double mean = once / (2.0 * rows);
    return squares / (2.0 * rows) - mean * mean;
  }
};

// Half of the interval, from the estimates without one batch, for each batch in turn.
double half_width(const std::vector<double>& without) {
  double mean = 0.0;
  for (const double value : without) {
    mean += value / static_cast<double>(without.size());
  }
  double squares = 0.0;
  for (const double value : without) {
    squares += (value - mean) * (value - mean);
  }
  const auto n = static_cast<double>(without.size());
  return kStudent * std::sqrt((n - 1.0) / n * squares);
}

}  // namespace

SaltelliDesign::SaltelliDesign(std::size_t inputs, std::uint64_t seed) : inputs_(inputs) {
  if (inputs == 0) {
    throw std::logic_error("a design without inputs");
  }
  const double root = golden(2 * inputs);
  Random random(seed, "sobol");
  double step = 1.0;
  for (std::size_t i = 0; i < 2 * inputs; ++i) {
    step /= root;
    steps_.push_back(step);
  }
  shifts_.resize(kBatches);
  for (auto& shift : shifts_) {
    for (std::size_t i = 0; i < 2 * inputs; ++i) {
      shift.push_back(random.uniform());
    }
  }
}

std::vector<std::vector<double>> SaltelliDesign::row(std::size_t index) const {
  const std::vector<double>& shift = shifts_[index % kBatches];
  const auto n = static_cast<double>(index / kBatches);
  const auto coordinate = [&](std::size_t i) {
    const double at = shift[i] + n * steps_[i];
    return at - std::floor(at);
  };
  // Neighbouring dimensions of the sequence go to the same input of A and of B.
  std::vector<std::vector<double>> points(2, std::vector<double>(inputs_));
  for (std::size_t i = 0; i < inputs_; ++i) {
    points[0][i] = coordinate(2 * i);
    points[1][i] = coordinate(2 * i + 1);
  }
  for (std::size_t i = 0; i < inputs_; ++i) {
    points.push_back(points[0]);
    points.back()[i] = points[1][i];
  }
  return points;
}

SobolIndices sobol_indices(std::span<const double> values, std::size_t inputs) {
  const std::size_t width = inputs + 2;
  const std::size_t rows = values.size() / width;
  const auto usable = [&](std::size_t r) {
    const auto row = values.subspan(r * width, width);
    return std::all_of(row.begin(), row.end(), [](double v) { return std::isfinite(v); });
  };
  SobolIndices out;
  double centre = 0.0;
  for (std::size_t r = 0; r < rows; ++r) {
    if (usable(r)) {
      ++out.rows;
      centre += 0.5 * (values[r * width] + values[r * width + 1]);
    }
  }
  centre /= static_cast<double>(std::max<std::size_t>(out.rows, 1));
  std::vector<Sums> batches(kBatches, Sums(inputs));
  for (std::size_t r = 0; r < rows; ++r) {
    if (!usable(r)) {
      continue;
    }
    Sums& s = batches[r % kBatches];
    const double a = values[r * width] - centre;
    const double b = values[r * width + 1] - centre;
    s.rows += 1.0;
    s.squares += a * a + b * b;
    s.once += a + b;
    for (std::size_t i = 0; i < inputs; ++i) {
      const double ab = values[r * width + 2 + i] - centre;
      s.first[i] += b * (ab - a);
      s.total[i] += 0.5 * (a - ab) * (a - ab);
    }
  }
  Sums all(inputs);
  for (const Sums& batch : batches) {
    all.add(batch, 1.0);
  }
  out.variance = all.rows > 0.0 ? std::max(0.0, all.variance()) : kNoNumber;
  const auto index = [&](const std::vector<double> Sums::*sums, std::size_t i) {
    const auto of = [&](const Sums& s) { return (s.*sums)[i] / s.rows / s.variance(); };
    std::vector<double> without;
    for (const Sums& batch : batches) {
      Sums rest = all;
      rest.add(batch, -1.0);
      if (batch.rows > 0.0 && rest.rows > 0.0) {
        without.push_back(of(rest));
      }
    }
    return without.size() < 2 ? SobolIndex{kNoNumber, kNoNumber}
                              : SobolIndex{of(all), half_width(without)};
  };
  // An output that is constant up to rounding has no indices.
  const bool varies = out.variance > 1e-24 * (centre * centre);
  for (std::size_t i = 0; i < inputs; ++i) {
    out.first.push_back(varies ? index(&Sums::first, i) : SobolIndex{kNoNumber, kNoNumber});
    out.total.push_back(varies ? index(&Sums::total, i) : SobolIndex{kNoNumber, kNoNumber});
  }
  return out;
}

}  // namespace roofcast::base
