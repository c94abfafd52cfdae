// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/graph_builder.hpp"

namespace roofcast::workloads {
namespace {

// Rows; a cache may hold such tables, so they are a call of their own.
constexpr std::int64_t kSmallTable = 1 << 16;
constexpr double kIndexBytes = 8.0;

}  // namespace

// Each rank holds an equal part of the tables: whole tables or columns of them. A rank looks up its part for the tokens
// of all ranks and sends the rows to the rank that has the token. Before and after the layers, tensor-parallel ranks
// share the tokens, and each has the whole bottom and top networks.
//
// all      tokens of all ranks, whose rows this rank looks up in its part of the tables
// sharers  ranks that share the tables
// own      tokens for which this rank needs rows
// vectors  bytes of the vectors of one token
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
