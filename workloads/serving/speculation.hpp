// SPDX-License-Identifier: Apache-2.0
//
// Speculative decoding: how tokens are drafted, and how many drafted tokens are accepted.
//
// An iteration verifies draft_tokens = g tokens of each sequence at once, one after another (a chain). It
// keeps those before the first token that the model itself would not have chosen, and adds one of the model's
// own.
//
//   tokens an iteration   X, 1 ≤ X ≤ g + 1, P(X > k) = a₁·…·a_k, E[X] = 1 + Σ_k a₁·…·a_k
//                         (arXiv 2211.17192, there with equal aᵢ)
//   iterations of n       (n + e) / E[X], at least 1
//
//   aᵢ    –       probability that draft token i is kept if those before it are
//   E[X]  tokens  acceptance length
//   n     tokens  of an answer
//   e     tokens  (E[X²]/E[X] − 1)/2: what the last iteration makes beyond the end (mean excess of a renewal process)
//
// A tree of drafts (SpecInfer, arXiv 2305.09781; EAGLE-2, arXiv 2406.16858) verifies `nodes` tokens, and some
// of its paths begin alike. The probability of a node is the product of the probabilities on its path. At
// most one node of a level is kept. So a tree is a chain of its levels, with
//
//   a₁·…·a_k  =  Σ over the nodes of level k of the products of their paths,   E[X] = 1 + Σ over all nodes
//
// `branches` are the probabilities that the first, second, … choice of the draft model is right. With them
// the nodes are those with the greatest products (EAGLE-2 chooses them so, by the confidence of the draft
// model).
//
// Mean lengths E[X] are published, some for several g. The aᵢ behind them are equal between two measured g.
// So a table of every g gives each position its own aᵢ, and one mean alone gives all positions the same.
// Where a longer draft was measured to yield less, only the mean of that g is used.
//
// sim/iteration/draft_model.hpp has the cost of drafting.
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
  mtp,  // the multi-token-prediction modules of the model; the last one again where they are too few
  eagle,  // one layer of the model's shape, with its embedding and head (arXiv 2401.15077)
  model,  // another, smaller model
  ngram,  // earlier text: costs nothing
};
std::string_view name(DraftMethod method);

// Measurements of a draft model: E[X] by g.
struct MeasuredAcceptance {
  std::string id;
  std::string name;
  std::vector<std::int64_t> draft_tokens;  // ascending
  std::vector<double> tokens_per_iteration;
};

// The `serving.speculative:` group.
struct Speculation {
  DraftMethod method = DraftMethod::ngram;
  std::int64_t draft_tokens = 0;      // g, or the levels of a tree; 0: no speculation
  std::int64_t nodes = 0;             // of a tree; 0: a chain
  std::int64_t width = 1;             // tokens of a sequence that a pass of the draft model extends
  std::vector<double> acceptance;     // aᵢ of draft_tokens positions
  std::optional<Architecture> model;  // with DraftMethod::model
  std::int64_t tensor_parallel = 1;   // of that model
  std::optional<Precision> precision;  // of the draft model; when left out, that of the model

  bool drafts() const { return draft_tokens > 0; }
  std::int64_t verified() const { return nodes > 0 ? nodes : draft_tokens; }
  std::int64_t query_tokens() const { return 1 + verified(); }
  double tokens_per_iteration() const;  // E[X]
  double squared_variation() const;     // Var X / E[X]²
  // The mean number of iterations that make so many tokens.
  double iterations(std::int64_t tokens) const;
  // X − 1, the accepted tokens of one draft, by inversion of a uniform number in [0, 1).
  std::int64_t accepted(double uniform) const;
};

// The aᵢ of `draft_tokens` positions behind measured means by draft length. Means must be measured up to that length or
// further.
std::vector<double> acceptance_of(const MeasuredAcceptance& measured, std::int64_t draft_tokens);

// The aᵢ of the levels of a tree: the tree of so many nodes with the greatest products of branches.
std::vector<double> acceptance_of_tree(const std::vector<double>& branches, std::int64_t levels,
                                       std::int64_t nodes);

void read(base::Fields& f, MeasuredAcceptance& measured);
void read(base::Fields& f, Speculation& speculation);

base::Catalog acceptance_catalog();

}  // namespace roofcast::workloads
