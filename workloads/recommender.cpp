// SPDX-License-Identifier: Apache-2.0
#include "workloads/recommender.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/integers.hpp"
#include "workloads/graph_builder.hpp"

namespace roofcast::workloads {
namespace {

constexpr std::int64_t kSmallTable = 1 << 16;  // rows; what a cache may hold is looked up apart
constexpr double kIndexBytes = 8.0;

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

// Whole tables or columns of them on each rank, evenly: a rank looks up its part for the tokens of all, and
// what it found goes to whose token it was. Tensor-parallel ranks share tokens before and after the layers, whose
// networks each has whole.
void GraphBuilder::look_up(const Recommender& r) {
  const auto ranks = static_cast<double>(mapping_.stage_ranks());
  const std::int64_t groups = batch_.groups > 0 ? batch_.groups : mapping_.data_parallel;
  const auto all = static_cast<double>(groups * (decode_rows_ + cp_ * prefill_rows_));
  const std::int64_t sharers = mapping_.stage_ranks();
  const double own = static_cast<double>(tokens_) / static_cast<double>(tp_);
  collective("tables.indices", CollectiveKind::all_to_all,
             own * static_cast<double>(r.lookups()) * kIndexBytes, sharers, 1.0);
  const auto tables = [&](std::string_view name, bool small) {
    TableLookup op{0.0, 0.0, 0.0, r.width, precision_.head.weights};
    for (const EmbeddingTables& t : r.tables) {
      if ((t.rows <= kSmallTable) == small) {
        const auto count = static_cast<double>(t.count);
        const double rows = all * static_cast<double>(t.lookups);
        op.rows += count * rows / ranks;
        op.distinct += count * distinct_rows(rows, static_cast<double>(t.rows)) / ranks;
        op.bags += count * all / ranks;
      }
    }
    if (op.rows > 0.0) {
      call(name, op, 1.0);
    }
  };
  tables("tables.lookup", false);
  tables("tables.lookup_small", true);
  const double vectors = static_cast<double>(r.vectors() * r.width) * kHiddenBytes;
  collective("tables.exchange", CollectiveKind::all_to_all, own * vectors, sharers, 1.0);
  chain("bottom_mlp", r.dense_features, r.bottom_mlp);
  collective("tables.all_gather", CollectiveKind::all_gather, rows_bytes(), tp_, 1.0);
}

void GraphBuilder::chain(std::string_view name, std::int64_t from,
                         const std::vector<std::int64_t>& widths) {
  for (const std::int64_t width : widths) {
    linear(name, ceil_div(tokens_, tp_), width, from, precision_.mlp, 1.0);
    from = width;
  }
}

}  // namespace roofcast::workloads
