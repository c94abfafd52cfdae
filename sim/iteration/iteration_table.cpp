// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/iteration_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace roofcast::sim {
namespace {

constexpr auto kUnknown = base::Seconds::from_si(std::numeric_limits<double>::quiet_NaN());
constexpr IterationTime kEmpty{kUnknown, kUnknown};
constexpr std::int64_t kSmall = 4096;      // integers below it find their node by look-up
constexpr std::int64_t kTile = 64;         // rows; times jump after its multiples
constexpr std::int64_t kTiledUpTo = 2048;  // beyond, one more tile changes little

bool is_empty(IterationTime t) { return std::isnan(t.latency.si()); }
IterationTime operator+(IterationTime a, IterationTime b) {
  return {a.latency + b.latency, a.period + b.period};
}
IterationTime operator-(IterationTime a, IterationTime b) {
  return {a.latency - b.latency, a.period - b.period};
}
IterationTime between(IterationTime a, IterationTime b, double beyond) {
  return {a.latency + beyond * (b.latency - a.latency), a.period + beyond * (b.period - a.period)};
}

// Nodes: every integer from `first` to `whole`, then steps by `ratio` until one is beyond `last`.
std::vector<std::int64_t> spaced(std::int64_t first, std::int64_t whole, double ratio,
                                 std::int64_t last) {
  std::vector<std::int64_t> nodes{first};
  while (nodes.back() < last || nodes.size() < 2) {
    const std::int64_t node = nodes.back();
    const auto next = static_cast<std::int64_t>(std::llround(static_cast<double>(node) * ratio));
    nodes.push_back(node < whole ? node + 1 : std::max(node + 1, next));
  }
  return nodes;
}

// Nodes on both sides of every jump between tiles of attention.
std::vector<std::int64_t> tiled(std::int64_t last) {
  std::vector<std::int64_t> nodes{1, 16};
  for (std::int64_t tile = kTile; tile <= kTiledUpTo; tile += kTile) {
    nodes.insert(nodes.end(), {tile, tile + 1});
  }
  while (nodes.back() < last) {
    const double next = 1.1 * static_cast<double>(nodes.back());
    nodes.push_back(std::llround(next / kTile) * kTile);
  }
  return nodes;
}

// Nodes on both sides of every jump of the head. Its rows are the tokens of the decodes and the last token of a prompt.
std::vector<std::int64_t> with_rows(std::vector<std::int64_t> nodes, std::int64_t query) {
  const std::int64_t last = std::min(nodes.back() * query, kTiledUpTo);
  for (std::int64_t rows = kTile; rows <= last; rows += kTile) {
    const std::int64_t below = (rows - 1) / query;
    nodes.insert(nodes.end(), {below, below + 1});
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

}  // namespace

IterationTable::Axis::Axis(std::vector<std::int64_t> nodes) : nodes_(std::move(nodes)) {
  below_.resize(static_cast<std::size_t>(std::min(kSmall, nodes_.back())) + 1);
  std::size_t node = 0;
  for (std::size_t i = 0; i < below_.size(); ++i) {
    while (node + 2 < nodes_.size() && nodes_[node + 1] <= static_cast<std::int64_t>(i)) {
      ++node;
    }
    below_[i] = static_cast<std::uint16_t>(node);
  }
}

// Beyond the last node, the line through the last two nodes is continued.
IterationTable::Axis::Place IterationTable::Axis::place(double x) const {
  std::size_t node = 0;
  if (x < static_cast<double>(below_.size())) {
    node = below_[static_cast<std::size_t>(std::max(x, 0.0))];
  } else {
    const auto above = std::upper_bound(nodes_.begin(), nodes_.end(), static_cast<std::int64_t>(x));
    node = std::min(static_cast<std::size_t>(above - nodes_.begin()), nodes_.size() - 1) - 1;
  }
  const auto from = static_cast<double>(nodes_[node]);
  const auto to = static_cast<double>(nodes_[node + 1]);
  return {node, std::max(0.0, (x - from) / (to - from))};
}

IterationTable::IterationTable(const ScenarioView& scenario, std::int64_t groups)
    : scenario_(scenario),
      groups_(groups),
      query_(scenario.serving->speculation.query_tokens()),
      contexts_(spaced(16, 0, 1.25, scenario.model->max_context)),
      decodes_(with_rows(spaced(0, 32, 1.125, scenario.serving->limits.max_sequences), query_)),
      mixed_prompts_(spaced(1, 0, 1.4, scenario.serving->limits.max_tokens_per_iteration)),
      prompts_(spaced(1, 8, 1.2, scenario.serving->limits.max_sequences)),
      lengths_(tiled(scenario.serving->limits.max_tokens_per_iteration)),
      cached_(spaced(0, 0, 1.3, scenario.model->max_context)),
      with_decodes_(decodes_.size() * contexts_.size() * mixed_prompts_.size(), kEmpty),
      with_prefixes_(prompts_.size() * lengths_.size() * cached_.size(), kEmpty) {
  workspace_.costs.emplace();
  const std::int64_t by_graph = scenario.serving->stack.graph_tokens;
  for (const std::int64_t which : {0, 1, 2, 3}) {
    const std::int64_t decodes = which / 2;
    workloads::Batch batch;
    batch.decode_sequences = decodes;
    batch.query_tokens = decodes > 0 ? query_ : 1;
    batch.context = 1024;
    batch.prefill_sequences = 1;
    batch.prefill_tokens = which % 2 == 0 ? 1 : by_graph + 1;
    batch.groups = groups;
    floors_[which] = launch_floor(scenario, batch, workspace_);
  }
  scenario_.launches_ahead = true;
}

IterationTime IterationTable::cost(const workloads::Batch& batch) {
  ++costs_;
  return iteration_time(scenario_, batch, workspace_);
}

// prompt(T) of the header.
IterationTime IterationTable::prompt(std::int64_t tokens) {
  const auto index = static_cast<std::size_t>(tokens);
  if (index >= prompt_.size()) {
    prompt_.resize(std::max(index + 1, 2 * prompt_.size()), kEmpty);
  }
  if (is_empty(prompt_[index])) {
    prompt_[index] = cost({0, 1, 0, 1, tokens, 0, groups_});
  }
  return prompt_[index];
}

// Every D, linear in C.
IterationTable::Line IterationTable::line(std::int64_t decodes, double context) {
  const Axis::Place c = contexts_.place(context);
  const std::size_t index = static_cast<std::size_t>(decodes) * contexts_.size() + c.node;
  if (index + 1 >= alone_.size()) {
    alone_.resize(std::max(index + 2, 2 * alone_.size()), kEmpty);
  }
  for (const std::size_t next : {std::size_t{0}, std::size_t{1}}) {
    if (is_empty(alone_[index + next])) {
      alone_[index + next] = cost({decodes, query_, contexts_[c.node + next], 0, 0, 0, groups_});
    }
  }
  const bool last = c.node + 2 == contexts_.size();
  const auto to = static_cast<double>(contexts_[c.node + 1]);
  return {static_cast<double>(contexts_[c.node]), to,
          last ? std::numeric_limits<double>::infinity() : to, alone_[index], alone_[index + 1]};
}

// decodes(D, C, N) of the header. d, c and n are the places of D, C and N on their axes.
IterationTime IterationTable::decodes(const Iteration& iteration) {
  const Axis::Place d = decodes_.place(static_cast<double>(iteration.decodes));
  const Axis::Place c = contexts_.place(iteration.context);
  const Axis::Place n = mixed_prompts_.place(static_cast<double>(iteration.prompt_tokens));
  const auto node = [&](std::size_t i, std::size_t j, std::size_t k) {
    IterationTime& entry = with_decodes_[(i * contexts_.size() + j) * mixed_prompts_.size() + k];
    if (is_empty(entry)) {
      const std::int64_t tokens = mixed_prompts_[k];
      entry = decodes_[i] == 0 ? IterationTime{}
                               : cost({decodes_[i], query_, contexts_[j], 1, tokens, 0, groups_}) -
                                     prompt(decodes_[i] * query_ + tokens);
    }
    return entry;
  };
  const auto over_prompts = [&](std::size_t i, std::size_t j) {
    return between(node(i, j, n.node), node(i, j, n.node + 1), n.beyond);
  };
  const auto over_contexts = [&](std::size_t i) {
    return between(over_prompts(i, c.node), over_prompts(i, c.node + 1), c.beyond);
  };
  return d.beyond == 0.0 ? over_contexts(d.node)
                         : between(over_contexts(d.node), over_contexts(d.node + 1), d.beyond);
}

// prefixes(S, P, K) of the header. s, p and k are the places of S, P and K on their axes.
IterationTime IterationTable::prefixes(const Iteration& iteration) {
  const auto sequences = static_cast<double>(iteration.prompts);
  const Axis::Place s = prompts_.place(sequences);
  const Axis::Place p = lengths_.place(static_cast<double>(iteration.prompt_tokens) / sequences);
  const Axis::Place k = cached_.place(iteration.cached);
  const auto node = [&](std::size_t i, std::size_t j, std::size_t l) {
    IterationTime& entry = with_prefixes_[(i * lengths_.size() + j) * cached_.size() + l];
    if (is_empty(entry)) {
      entry = cost({0, 1, 0, prompts_[i], lengths_[j], cached_[l], groups_}) -
              prompt(prompts_[i] * lengths_[j]);
    }
    return entry;
  };
  const auto over_cached = [&](std::size_t i, std::size_t j) {
    return k.beyond == 0.0 ? node(i, j, k.node)
                           : between(node(i, j, k.node), node(i, j, k.node + 1), k.beyond);
  };
  const auto over_lengths = [&](std::size_t i) {
    return between(over_cached(i, p.node), over_cached(i, p.node + 1), p.beyond);
  };
  return s.beyond == 0.0 ? over_lengths(s.node)
                         : between(over_lengths(s.node), over_lengths(s.node + 1), s.beyond);
}

// The sum of the header, at least the time of the launches. covered: CUDA graphs cover the tokens.
IterationTime IterationTable::operator()(const Iteration& iteration) {
  if (iteration.prompts == 0) {
    return line(iteration.decodes, iteration.context)(iteration.context);
  }
  IterationTime time = prompt(iteration.decodes * query_ + iteration.prompt_tokens);
  if (iteration.decodes > 0) {
    time = time + decodes(iteration);
  }
  if (iteration.prompts > 1 || iteration.cached > 0.0) {
    time = time + prefixes(iteration);
  }
  const bool covered =
      iteration.prompt_tokens + iteration.decodes * query_ <= scenario_.serving->stack.graph_tokens;
  const IterationTime& floor = floors_[(iteration.decodes > 0 ? 2 : 0) + (covered ? 0 : 1)];
  return {std::max(time.latency, floor.latency), std::max(time.period, floor.period)};
}

}  // namespace roofcast::sim
