// SPDX-License-Identifier: Apache-2.0
#include "workloads/architecture/recommender.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/integers.hpp"

namespace roofcast::workloads {
namespace {

double chain_parameters(std::int64_t from, const std::vector<std::int64_t>& widths) {
  double parameters = 0.0;
  for (const std::int64_t width : widths) {
    parameters += base::as_double(from) * base::as_double(width);
    from = width;
  }
  return parameters;
}

}  // namespace

std::int64_t Recommender::vectors() const {
  std::int64_t sum = 0;
  for (const EmbeddingTables& t : tables) {
    sum += t.count;
  }
  return sum;
}

std::int64_t Recommender::lookups() const {
  std::int64_t sum = 0;
  for (const EmbeddingTables& t : tables) {
    sum += t.count * t.lookups;
  }
  return sum;
}

double Recommender::rows() const {
  double sum = 0.0;
  for (const EmbeddingTables& t : tables) {
    sum += base::as_double(t.count) * base::as_double(t.rows);
  }
  return sum;
}

double Recommender::mlp_parameters(std::int64_t hidden) const {
  return chain_parameters(dense_features, bottom_mlp) + chain_parameters(hidden, top_mlp);
}

double distinct_rows(double lookups, double rows) {
  return -rows * std::expm1(lookups * std::log1p(-1.0 / rows));
}

void read(base::Fields& f, Recommender& r, std::int64_t hidden) {
  const base::Range widths{1.0, 1e9};
  f.integer("width", r.width, base::at_least_one);
  f.integer("dense_features", r.dense_features, base::at_least_one);
  f.integers("bottom_mlp", r.bottom_mlp, widths, base::required);
  f.integers("top_mlp", r.top_mlp, widths, base::required);
  f.each("tables", [&](base::Fields& g) {
    EmbeddingTables& t = r.tables.emplace_back();
    g.integer("count", t.count, base::at_least_one, base::optional);
    g.integer("rows", t.rows, base::at_least_one);
    g.integer("lookups", t.lookups, base::at_least_one, base::optional);
  });
  if (!r.bottom_mlp.empty() && r.bottom_mlp.back() != r.width) {
    f.problem("bottom_mlp", fmt::format("must end in the width of a row, {}", r.width));
  }
  if (const std::int64_t all = (r.vectors() + 1) * r.width; r.width > 0 && all != hidden) {
    f.problem("tables", fmt::format("{} vectors of {} and one of the dense features are {} wide, "
                                    "but the model's hidden is {}",
                                    r.vectors(), r.width, all, hidden));
  }
}

}  // namespace roofcast::workloads
