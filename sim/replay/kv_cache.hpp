// SPDX-License-Identifier: Apache-2.0
//
// The paged KV cache of one attention-DP rank, as a scheduler fills it.
//
// A sequence of L tokens holds whole blocks of block_tokens (times the ranks that share its cache),
// priced as in models/footprint.hpp: layers with a window keep no more than it, recurrent layers add a
// state of fixed size. What is held never exceeds the capacity. A request may be promised more than it
// holds; then others are admitted only beside the promise.
//
// Prefixes. A sequence is named by hashes of its units, runs of unit_tokens: equal hashes mean equal units
// after equal units. A unit that was published stands for all who have it: it is counted once, held as long
// as one of them runs, and idle afterwards. Idle units are free room; those used least recently make way
// first, the end of a sequence before its start. Models with recurrent layers keep none: a state is of one
// length only.
//
// With `serving.kv_offload` units that make way go to the host (sim/replay/host_cache.hpp), and come back into
// blocks of their own when a sequence begins with them.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/replay/host_cache.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

// The units of one sequence's tokens.
struct Prefix {
  std::span<const std::uint64_t> shared;  // hashes of the first ones, which others may have
  std::uint64_t own = 0;                  // names the rest, which nobody else has
  std::int64_t unit_tokens = 1;
  std::uint64_t operator[](std::int64_t unit) const;
};

// One sequence's part of a cache.
struct Holding {
  std::int64_t blocks = 0;
  std::int64_t promised = 0;  // blocks it may grow to without asking
  std::int64_t units = 0;     // published ones at its start, of its blocks
};

class KvCache {
 public:
  // What `scenario` points to outlives it.
  KvCache(const ScenarioView& scenario, base::Bytes capacity);

  // Whether so many tokens of one sequence fit, were it alone.
  bool could_hold(std::int64_t tokens) { return bytes(blocks(tokens)) <= capacity_; }
  // Tokens at the start of a sequence of `tokens` that are published, in whole units.
  std::int64_t known_tokens(const Prefix& prefix, std::int64_t tokens) const;

  // The same with units that lie in host memory among them; 0 without any.
  std::int64_t restorable_tokens(const Prefix& prefix, std::int64_t tokens) const;
  // Asks the host at `now` for the units from token `from` to `to` that it alone has; when they are here.
  double restore(const Prefix& prefix, std::int64_t from, std::int64_t to, double now);

  // Takes in a sequence with a promise of so many tokens, and the units at its start that are published
  // and lie in its first `reusable` tokens; false and unchanged when what all hold or were promised would
  // exceed the capacity.
  bool admit(Holding& holding, std::int64_t promised_tokens, const Prefix& prefix,
             std::int64_t reusable);
  // Blocks for so many tokens; false and unchanged when they do not fit.
  bool grow(Holding& holding, std::int64_t tokens);
  // Publishes the whole units of its first `tokens`, which it has computed.
  void publish(Holding& holding, const Prefix& prefix, std::int64_t tokens);
  void release(Holding& holding, const Prefix& prefix);

  std::int64_t capacity() const { return capacity_; }  // bytes
  std::int64_t used() const { return used_; }          // without idle units
  std::int64_t idle() const { return idle_; }
  std::int64_t committed() const { return committed_; }  // held or promised, whichever is more

 private:
  struct Unit {
    std::int64_t bytes = 0;
    std::int64_t holders = 0;
    std::list<std::uint64_t>::iterator place;  // among the idle, where it has no holder
  };

  std::int64_t blocks(std::int64_t tokens) const;
  std::int64_t bytes(std::int64_t blocks);  // with the state
  std::int64_t unit_bytes(const Prefix& prefix, std::int64_t unit);
  std::int64_t own_bytes(const Holding& holding, const Prefix& prefix, std::int64_t blocks);
  void hold(Unit& unit);
  void make_room();

  ScenarioView scenario_;
  std::int64_t block_tokens_;
  std::int64_t state_;
  std::int64_t capacity_;
  bool keeps_prefixes_;
  std::int64_t used_ = 0;
  std::int64_t idle_ = 0;
  std::int64_t committed_ = 0;
  std::vector<std::int64_t> bytes_;  // by blocks, as far as they were asked
  std::unordered_map<std::uint64_t, Unit> units_;
  std::list<std::uint64_t> idle_order_;  // the one to go first in front
  std::optional<HostCache> host_;
};

}  // namespace roofcast::sim
