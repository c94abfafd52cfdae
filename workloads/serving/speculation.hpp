// SPDX-License-Identifier: Apache-2.0
//
// Speculative decoding: how answers are drafted, and how much of a draft is accepted.
//
// A decode step verifies draft_tokens = g tokens of each sequence at once, one after the other (a chain), and
// keeps those before the first that the model itself would not have chosen, and one of its own. With aᵢ the
// probability that draft token i is kept when those before it are:
//
//   tokens a step   X, 1 ≤ X ≤ g + 1, P(X > k) = a₁·…·a_k, E[X] = 1 + Σ_k a₁·…·a_k
//                   (arXiv 2211.17192, there with equal aᵢ)
//   steps of n      (n + e) / E[X], e = (E[X²]/E[X] − 1)/2: what the last step makes beyond the end (the mean
//                   excess of a renewal process), at least one
//
// A tree of drafts (SpecInfer, arXiv 2305.09781; EAGLE-2, arXiv 2406.16858) verifies `nodes` tokens, some of which
// begin alike: node by node its probability is the product of those on its path, and of the nodes of a level at most
// one is kept. So a tree is a chain of its levels, with
//
//   a₁·…·a_k  =  Σ over the nodes of level k of their paths' products,   E[X] = 1 + Σ over all nodes
//
// With `branches`, the probabilities that the draft's first, second, … choice is right, the nodes are those with the
// greatest products (EAGLE-2 chooses them so, by the draft's confidence).
//
// Published are mean lengths E[X], some for several g. The aᵢ behind them: between two measured g they are
// equal, so that a table of every g gives each position its own and one mean alone gives all the same
// (where a longer draft was measured to yield less, the mean of that g alone is taken).
//
// Who drafts: sim/iteration/draft_model.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"
#include "workloads/architecture/architecture.hpp"
#include "workloads/architecture/precision.hpp"

namespace roofcast::workloads {

enum class DraftMethod : std::uint8_t {
  mtp,  // the model's own multi-token-prediction modules, the last one again where they are too few
  eagle,  // a layer of the model's shape, with its embedding and head (arXiv 2401.15077)
  model,  // another, smaller model
  ngram,  // text that stood before: costs nothing
};
std::string_view name(DraftMethod method);

// What was measured of a draft: E[X] by g.
struct MeasuredAcceptance {
  std::string id;
  std::string name;
  std::vector<std::int64_t> draft_tokens;  // ascending
  std::vector<double> tokens_per_iteration;
};

// The `serving.speculative:` group.
struct Speculation {
  DraftMethod method = DraftMethod::ngram;
  std::int64_t draft_tokens = 0;       // 0: no speculation; levels of a tree
  std::int64_t nodes = 0;              // of a tree; 0: a chain
  std::int64_t width = 1;              // tokens of a sequence that a pass of the draft goes on from
  std::vector<double> acceptance;      // aᵢ, of draft_tokens positions
  std::optional<Architecture> model;   // of DraftMethod::model
  std::int64_t tensor_parallel = 1;    // of that model
  std::optional<Precision> precision;  // of what drafts; the model's own when left out

  bool drafts() const { return draft_tokens > 0; }
  std::int64_t verified() const { return nodes > 0 ? nodes : draft_tokens; }
  std::int64_t query_tokens() const { return 1 + verified(); }
  double tokens_per_iteration() const;      // E[X]
  double steps(std::int64_t tokens) const;  // that make so many on average
  std::int64_t accepted(
      double uniform) const;  // of a draft: X − 1 by inversion of a number of [0, 1)
};

// aᵢ of `draft_tokens` positions behind means by draft length, which are measured up to that length or further.
std::vector<double> acceptance_of(const MeasuredAcceptance& measured, std::int64_t draft_tokens);

// aᵢ of the levels of the tree of so many nodes with the greatest products of branches.
std::vector<double> acceptance_of_tree(const std::vector<double>& branches, std::int64_t levels,
                                       std::int64_t nodes);

void read(base::Fields& f, MeasuredAcceptance& measured);
void read(base::Fields& f, Speculation& speculation);

base::Catalog acceptance_catalog();

}  // namespace roofcast::workloads
