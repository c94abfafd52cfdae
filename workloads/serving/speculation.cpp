// SPDX-License-Identifier: Apache-2.0
#include "workloads/serving/speculation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

namespace roofcast::workloads {

std::span<const base::CatalogEntry> embedded_acceptance();

base::Catalog acceptance_catalog() { return {"acceptance", "acceptance", embedded_acceptance()}; }

namespace {

constexpr std::int64_t kMostDraftTokens = 64;
constexpr double kMostNodes = 1024.0;

// a + a² + … + a^count.
double geometric(double a, std::int64_t count) {
  double sum = 0.0;
  double power = 1.0;
  for (std::int64_t i = 0; i < count; ++i) {
    power *= a;
    sum += power;
  }
  return sum;
}

// The a for which geometric(a, count) = sum, by bisection. 0 ≤ sum ≤ count.
double ratio_of(double sum, std::int64_t count) {
  double least = 0.0;
  double most = 1.0;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (least + most);
    (geometric(middle, count) < sum ? least : most) = middle;
  }
  return 0.5 * (least + most);
}

}  // namespace

std::string_view name(DraftMethod method) {
  switch (method) {
    case DraftMethod::mtp:
      return "mtp";
    case DraftMethod::eagle:
      return "eagle";
    case DraftMethod::model:
      return "draft model";
    case DraftMethod::ngram:
      return "ngram";
  }
  return {};
}

// In the functions below `reached` is P(X > k) = a₁·…·a_k.
double Speculation::tokens_per_iteration() const {
  double mean = 1.0;
  double reached = 1.0;
  for (const double a : acceptance) {
    reached *= a;
    mean += reached;
  }
  return mean;
}

double Speculation::squared_variation() const {
  double square = 1.0;  // E[X²] = Σ (2k + 1)·P(X > k)
  double reached = 1.0;
  for (std::size_t k = 0; k < acceptance.size(); ++k) {
    reached *= acceptance[k];
    square += static_cast<double>(2 * k + 3) * reached;
  }
  const double mean = tokens_per_iteration();
  return square / (mean * mean) - 1.0;
}

double Speculation::iterations(std::int64_t tokens) const {
  if (tokens == 0) {
    return 0.0;
  }
  const double mean = tokens_per_iteration();
  const double excess = 0.5 * ((squared_variation() + 1.0) * mean - 1.0);
  return std::max(1.0, (static_cast<double>(tokens) + excess) / mean);
}

std::int64_t Speculation::accepted(double uniform) const {
  double reached = 1.0;
  std::int64_t kept = 0;
  for (const double a : acceptance) {
    reached *= a;
    if (uniform >= reached) {
      break;
    }
    ++kept;
  }
  return kept;
}

// from, to   positions between two measured lengths
// mean       E[X] at `from`
// more       tokens that the positions between add to E[X]
// reached    probability that position `from` is kept
std::vector<double> acceptance_of(const MeasuredAcceptance& measured, std::int64_t draft_tokens) {
  std::vector<double> acceptance;
  std::int64_t from = 0;
  double mean = 1.0;
  double reached = 1.0;
  for (std::size_t i = 0; i < measured.draft_tokens.size() && from < draft_tokens; ++i) {
    const std::int64_t to = measured.draft_tokens[i];
    const double more = measured.tokens_per_iteration[i] - mean;
    const std::int64_t positions = to - from;
    if (more < 0.0 || more > reached * static_cast<double>(positions)) {
      // No chain has both means. Only that of the longer draft is used.
      acceptance.assign(static_cast<std::size_t>(to),
                        ratio_of(measured.tokens_per_iteration[i] - 1.0, to));
    } else {
      const double a = reached > 0.0 ? ratio_of(more / reached, positions) : 0.0;
      acceptance.insert(acceptance.end(), static_cast<std::size_t>(positions), a);
    }
    reached = 1.0;
    for (const double a : acceptance) {
      reached *= a;
    }
    from = to;
    mean = measured.tokens_per_iteration[i];
  }
  acceptance.resize(static_cast<std::size_t>(draft_tokens));
  return acceptance;
}

std::vector<double> acceptance_of_tree(const std::vector<double>& branches, std::int64_t levels,
                                       std::int64_t nodes) {
  std::vector<double> reached(static_cast<std::size_t>(levels), 0.0);
  std::priority_queue<std::pair<double, std::size_t>> leaves;  // product, level
  const auto grow = [&](double product, std::size_t level) {
    for (const double branch : branches) {
      leaves.emplace(product * branch, level);
    }
  };
  grow(1.0, 0);
  for (std::int64_t node = 0; node < nodes && !leaves.empty(); ++node) {
    const auto [product, level] = leaves.top();
    leaves.pop();
    reached[level] += product;
    if (level + 1 < reached.size()) {
      grow(product, level + 1);
    }
  }
  std::vector<double> acceptance;
  double before = 1.0;
  for (const double here : reached) {
    acceptance.push_back(before > 0.0 ? here / before : 0.0);
    before = here;
  }
  return acceptance;
}

void read(base::Fields& f, MeasuredAcceptance& measured) {
  measured.id = f.node().reference;
  f.text("name", measured.name);
  f.integers("draft_tokens", measured.draft_tokens, {1.0, static_cast<double>(kMostDraftTokens)});
  for (std::int64_t& each : measured.draft_tokens) {
    each = std::clamp<std::int64_t>(each, 1, kMostDraftTokens);
  }
  f.numbers("tokens_per_iteration", measured.tokens_per_iteration, {1.0, 65.0});
  if (measured.draft_tokens.size() != measured.tokens_per_iteration.size()) {
    f.problem("tokens_per_iteration", "one mean is expected for each number of draft_tokens");
    measured.tokens_per_iteration.resize(measured.draft_tokens.size(), 1.0);
  }
  for (std::size_t i = 0; i < measured.draft_tokens.size(); ++i) {
    if (i > 0 && measured.draft_tokens[i] <= measured.draft_tokens[i - 1]) {
      f.problem("draft_tokens", "must ascend");
    }
    if (measured.tokens_per_iteration[i] > static_cast<double>(measured.draft_tokens[i] + 1)) {
      f.problem("tokens_per_iteration", "a step yields at most its draft tokens and one more");
    }
  }
  f.source();
}

namespace {

void read_measured(base::Fields& f, Speculation& s) {
  f.group(
      "measured",
      [&](base::Fields& g) {
        MeasuredAcceptance measured;
        read(g, measured);
        if (measured.draft_tokens.empty() || measured.draft_tokens.back() < s.draft_tokens) {
          f.problem("draft_tokens",
                    fmt::format("{} was measured up to {}", measured.id,
                                measured.draft_tokens.empty() ? 0 : measured.draft_tokens.back()));
        } else {
          s.acceptance = acceptance_of(measured, s.draft_tokens);
        }
      },
      base::optional);
}

void read_tree(base::Fields& f, Speculation& s, std::vector<double>& branches) {
  f.group(
      "tree",
      [&](base::Fields& g) {
        g.integer("nodes", s.nodes, {1.0, kMostNodes});
        g.integer("width", s.width, {1.0, kMostNodes}, base::optional);
        g.numbers("branches", branches, base::fraction, base::optional);
        if (s.nodes > 0 && s.nodes < s.draft_tokens) {
          g.problem("nodes", "a tree has at least one node for each of its draft_tokens levels");
        }
        if (std::accumulate(branches.begin(), branches.end(), 0.0) > 1.0) {
          g.problem("branches",
                    "are probabilities of which at most one comes true: more than 1 in all");
        }
        s.nodes = std::clamp<std::int64_t>(s.nodes, 0, static_cast<std::int64_t>(kMostNodes));
      },
      base::optional);
}

void read_acceptance(base::Fields& f, Speculation& s) {
  const auto positions = static_cast<std::size_t>(s.draft_tokens);
  double each = 0.0;
  f.number("acceptance", each, base::fraction, base::optional);
  if (f.has("acceptance")) {
    s.acceptance.assign(positions, each);
  }
  std::vector<double> by_position;
  f.numbers("acceptance_by_position", by_position, base::fraction, base::optional);
  if (f.has("acceptance_by_position")) {
    if (by_position.size() < positions) {
      f.problem("acceptance_by_position", fmt::format("has {} positions, draft_tokens are {}",
                                                      by_position.size(), s.draft_tokens));
    }
    s.acceptance = by_position;
    s.acceptance.resize(positions);
  }
  double mean = 1.0;
  f.number("tokens_per_iteration", mean, base::at_least_one, base::optional);
  if (f.has("tokens_per_iteration") && s.draft_tokens > 0) {
    if (mean > static_cast<double>(s.draft_tokens + 1)) {
      f.problem("tokens_per_iteration",
                fmt::format("a step yields at most draft_tokens + 1 = {}", s.draft_tokens + 1));
    }
    s.acceptance = acceptance_of({{}, {}, {s.draft_tokens}, {mean}}, s.draft_tokens);
  }
  read_measured(f, s);
}

}  // namespace

void read(base::Fields& f, Speculation& s) {
  f.choice<DraftMethod>("method", s.method,
                        {{"mtp", DraftMethod::mtp},
                         {"eagle", DraftMethod::eagle},
                         {"draft model", DraftMethod::model},
                         {"ngram", DraftMethod::ngram}});
  f.integer("draft_tokens", s.draft_tokens, {0.0, static_cast<double>(kMostDraftTokens)});
  // A wrong value is a problem already; it must not set the size of vectors.
  s.draft_tokens = std::clamp<std::int64_t>(s.draft_tokens, 0, kMostDraftTokens);
  std::vector<double> branches;
  read_tree(f, s, branches);
  read_acceptance(f, s);
  int given = 0;
  for (const char* key :
       {"acceptance", "acceptance_by_position", "tokens_per_iteration", "measured"}) {
    given += f.has(key) ? 1 : 0;
  }
  if (!branches.empty()) {
    ++given;
    s.acceptance = acceptance_of_tree(branches, s.draft_tokens, s.nodes);
  }
  if (given != 1) {
    f.problem("acceptance",
              "one of acceptance, acceptance_by_position, tokens_per_iteration, measured and "
              "tree.branches is "
              "expected");
  }
  if (s.method == DraftMethod::model) {
    f.part("model", [&](base::Fields& g) { read(g, s.model.emplace()); });
    f.integer("tensor_parallel", s.tensor_parallel, base::at_least_one, base::optional);
  }
  f.part(
      "precision", [&](base::Fields& g) { read(g, s.precision.emplace()); }, base::optional);
}

}  // namespace roofcast::workloads
