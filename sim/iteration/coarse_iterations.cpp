// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/coarse_iterations.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <limits>

namespace roofcast::sim {
namespace {

using base::Seconds;

constexpr Seconds kUnknownTime = Seconds::from_si(std::numeric_limits<double>::quiet_NaN());
constexpr std::int64_t kDecodes[] = {0, 1, 16, 64, 128, 256, 512, 1024, 4096};
constexpr std::int64_t kBeside[] = {16, 256, 1024, 4096, 16384};  // prompt tokens beside decodes
constexpr std::int64_t kParts = 4;                                // prompts that a slope compares
constexpr std::int64_t kFirstCached = 256;                        // tokens before a prompt
constexpr std::int64_t kCachedRatio = 4;                          // of the next node

// The places of x among ascending nodes: the one at or below, and the share of the way to the next.
template <class Nodes>
std::pair<std::size_t, double> place(const Nodes& nodes, double x) {
  std::size_t above = 1;
  while (above + 1 < std::size(nodes) && static_cast<double>(nodes[above]) < x) {
    ++above;
  }
  const auto from = static_cast<double>(nodes[above - 1]);
  const auto to = static_cast<double>(nodes[above]);
  return {above - 1, std::max(0.0, (x - from) / (to - from))};
}

// What `at` says of the nodes around a place, linear between them.
template <class At>
Seconds between(const std::pair<std::size_t, double>& place, const At& at) {
  const auto [node, beyond] = place;
  const Seconds below = at(node);
  return beyond == 0.0 ? below : below + beyond * (at(node + 1) - below);
}

constexpr std::int64_t kEnd = 256;  // the multiple where the rows of the largest fixed tiles end

std::int64_t middle_of_tile(std::int64_t rows) { return rows - rows % kEnd + kEnd / 2; }

// The nodes of tokens. Where kernels have fixed tiles (models/operators/fixed_tiles.hpp), all but the first are in the middle of
// those: as many rows are absent as at the mean number of tokens, and none at a power of 2. Prompts that are all as long have a
// node of their own, and so have both sides of the most tokens that CUDA graphs cover.
std::vector<std::int64_t> nodes(std::int64_t most, std::int64_t by_graph,
                                const workloads::Traffic& traffic, bool fixed_tiles) {
  std::vector<std::int64_t> all;
  const auto add = [&](std::int64_t n) {
    if (!fixed_tiles || n <= 16) {
      all.push_back(n);
    } else if (n < kEnd) {
      all.push_back(3 * n / 4);
    } else {
      all.push_back(middle_of_tile(n));
    }
  };
  for (std::int64_t n = 16; n < most; n *= 2) {
    add(n);
    if (n >= 64) {
      add(n + n / 2);
    }
  }
  if (by_graph > 16 && by_graph < most) {
    all.push_back(by_graph);
    all.push_back(by_graph + 1);
  }
  const std::int64_t length = traffic.input_tokens - traffic.cached_tokens;
  if (fixed_tiles && length > 16 && length < most &&
      workloads::squared_variation(traffic.input) == 0.0) {
    all.push_back(length);
  }
  all.push_back(std::max<std::int64_t>(32, most));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<std::int64_t> cached_nodes(std::int64_t most) {
  std::vector<std::int64_t> all = {0};
  for (std::int64_t k = kFirstCached; k < most; k *= kCachedRatio) {
    all.push_back(k);
  }
  all.push_back(std::max(kFirstCached, most));
  return all;
}

bool has_fixed_tiles(const models::Machine& machine) {
  return std::any_of(machine.tile_rules.begin(), machine.tile_rules.end(),
                     [](models::TileRule rule) { return rule != models::TileRule::none; });
}

}  // namespace

CoarseIterations::CoarseIterations(const ScenarioView& s, Workspace& workspace, std::int64_t groups)
    : s_(s),
      workspace_(workspace),
      groups_(groups),
      context_(static_cast<std::int64_t>(workloads::mean_context(*s.traffic))),
      query_(s.serving->speculation.query_tokens()),
      fixed_tiles_(has_fixed_tiles(s.platform->machine)),
      lengths_(nodes(s.serving->limits.max_tokens_per_iteration, s.serving->stack.graph_tokens,
                     *s.traffic, fixed_tiles_)),
      cached_(cached_nodes(s.model->max_context)) {
  prompts_.assign(lengths_.size(), {kUnknownTime, 1.0, kUnknownTime});
  prefixes_.assign(lengths_.size() * cached_.size(), kUnknownTime);
  mixed_.assign(std::size(kDecodes) * std::size(kBeside), kUnknownTime);
  for (const std::size_t which : {0U, 1U, 2U, 3U}) {
    workloads::Batch batch;
    batch.decode_sequences = static_cast<std::int64_t>(which / 2);
    batch.query_tokens = batch.decode_sequences > 0 ? query_ : 1;
    batch.context = context_;
    batch.prefill_sequences = 1;
    batch.prefill_tokens = which % 2 == 0 ? 1 : s.serving->stack.graph_tokens + 1;
    batch.groups = groups;
    floors_[which] = launch_floor(s, batch, workspace).latency;
  }
  s_.launches_ahead = true;
}

Seconds CoarseIterations::cost(const workloads::Batch& batch) {
  return iteration_cost(s_, batch, workspace_).latency;
}

const CoarseIterations::Prompt& CoarseIterations::prompt(std::size_t node) {
  Prompt& p = prompts_[node];
  if (std::isnan(p.time.si())) {
    const std::int64_t n = lengths_[node];
    const IterationCost alone = iteration_cost(s_, {0, 1, 0, 1, n, 0, groups_}, workspace_);
    p.time = alone.latency;
    p.period = alone.period / alone.latency;
    const auto square = static_cast<double>(n) * static_cast<double>(n);
    p.less = (p.time - cost({0, 1, 0, kParts, n / kParts, 0, groups_})) /
             (0.5 * square * (1.0 - 1.0 / static_cast<double>(kParts)));
  }
  return p;
}

IterationTime CoarseIterations::prompts(double tokens, double fewer) {
  const auto [node, beyond] = place(lengths_, tokens);
  const Prompt& below = prompt(node);
  const Prompt& above = prompt(node + 1);
  const Seconds slope = below.less + beyond * (above.less - below.less);
  const Seconds time =
      below.time + beyond * (above.time - below.time) - base::max(Seconds{}, slope) * fewer;
  return {time, time * (below.period + beyond * (above.period - below.period))};
}

Seconds CoarseIterations::prefix_at(std::size_t node, std::size_t cached) {
  Seconds& entry = prefixes_[node * cached_.size() + cached];
  if (std::isnan(entry.si())) {
    entry = cached == 0
                ? Seconds{}
                : cost({0, 1, 0, 1, lengths_[node], cached_[cached], groups_}) - prompt(node).time;
  }
  return entry;
}

Seconds CoarseIterations::prefix(double tokens, double cached) {
  const auto k = place(cached_, cached);
  const auto of_a_token = [&](std::size_t n) {
    return between(k, [&](std::size_t i) { return prefix_at(n, i); }) /
           static_cast<double>(lengths_[n]);
  };
  return base::max(Seconds{}, between(place(lengths_, tokens), of_a_token)) * tokens;
}

Seconds CoarseIterations::decodes_at(std::size_t d, std::size_t n) {
  Seconds& entry = mixed_[d * std::size(kBeside) + n];
  if (std::isnan(entry.si())) {
    const std::int64_t decoding = kDecodes[d] * query_;
    const std::int64_t rows = decoding + kBeside[n];
    // Both in the middle of the same tile: an iteration that power slows wastes less there than one that it does not. Where
    // that leaves fewer prompt tokens, it is the next tile.
    std::int64_t all = fixed_tiles_ && rows >= kEnd ? middle_of_tile(rows) : rows;
    all += all < rows ? kEnd : 0;
    assert(all - decoding >= kBeside[n]);
    entry = decoding == 0 ? Seconds{}
                          : cost({kDecodes[d], query_, context_, 1, all - decoding, 0, groups_}) -
                                cost({0, 1, 0, 1, all, 0, groups_});
  }
  return entry;
}

Seconds CoarseIterations::decodes(double decodes, double tokens) {
  const auto n = place(kBeside, tokens);
  return between(place(kDecodes, decodes), [&](std::size_t d) {
    return between(n, [&](std::size_t i) { return decodes_at(d, i); });
  });
}

IterationTime CoarseIterations::operator()(std::int64_t decodes, double tokens, double attended) {
  const auto d = static_cast<double>(decodes);
  const double all = tokens + d * static_cast<double>(query_);
  // The pairs of the decodes are in decodes().
  const double more = attended - 0.5 * tokens * tokens;
  const IterationTime prompt = prompts(all, std::max(0.0, -more));
  const Seconds time = prompt.latency + (more > 0.0 ? prefix(tokens, more / tokens) : Seconds{}) +
                       (decodes > 0 ? this->decodes(d, tokens) : Seconds{});
  const bool covered = all <= static_cast<double>(s_.serving->stack.graph_tokens);
  const std::size_t floor = (decodes > 0 ? 2U : 0U) + (covered ? 0U : 1U);
  const Seconds latency = base::max(time, floors_[floor]);
  return {latency, latency * (prompt.period / prompt.latency)};
}

}  // namespace roofcast::sim
