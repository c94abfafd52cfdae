// SPDX-License-Identifier: Apache-2.0
//
// The parts of a recommender around its layers (the `recommender:` group of a model): embedding tables and
// the two networks of DLRM (arXiv 1906.00091), with the cross layers of DCN-V2 (arXiv 2008.13535) between
// them.
//
// A token is one pair of user and item to score; a request is its items. For every token each table adds up
// `lookups` rows, chosen at random, to one vector of `width`. bottom_mlp makes one more vector from the dense
// features. All these vectors in a row are the hidden state: hidden = (tables + 1) · width. Layers are cross
// layers, x + x0 ⊙ (U·V·x), which are a feed-forward without a mixer. top_mlp makes the score. Products of
// vectors (DLRM's first interaction) are not modelled.
#pragma once

#include <vector>

#include "base/document/fields.hpp"

namespace roofcast::workloads {

struct EmbeddingTables {
  std::int64_t count = 1;
  std::int64_t rows = 0;     // of each table
  std::int64_t lookups = 1;  // rows of each table that a token adds up (pooling factor)
  bool operator==(const EmbeddingTables&) const = default;
};

struct Recommender {
  std::int64_t width = 0;  // elements of a row
  std::int64_t dense_features = 0;
  std::vector<std::int64_t> bottom_mlp;  // widths of its layers, the last is `width`
  std::vector<std::int64_t> top_mlp;
  std::vector<EmbeddingTables> tables;

  std::int64_t vectors() const;  // vectors that a token looks up, one a table
  std::int64_t lookups() const;  // rows that a token reads
  double rows() const;           // rows of all tables
  double mlp_parameters(std::int64_t hidden) const;
  bool operator==(const Recommender&) const = default;
};

// The expected number of different rows among `lookups` rows of a table, each chosen at random.
double distinct_rows(double lookups, double rows);

// `hidden`: the hidden width of the model.
void read(base::Fields& f, Recommender& recommender, std::int64_t hidden);

}  // namespace roofcast::workloads
