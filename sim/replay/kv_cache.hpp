// SPDX-License-Identifier: Apache-2.0
//
// The paged KV cache of one attention-DP rank, as a scheduler fills it.
//
// Blocks. A sequence of L tokens holds whole blocks of block_tokens (times the ranks that share its cache). They have
// the sizes of models/footprint.hpp: a layer with a window keeps no more than its window, and a recurrent layer adds a
// state of fixed size. The held bytes never exceed the capacity. A request may be promised more than it holds. Others
// are then admitted only if the promise still fits.
//
// Prefixes. The tokens of a sequence are cut into units of unit_tokens, and each unit has a hash. Equal hashes mean
// equal units after equal units. A published unit stands for all sequences that have it. It is counted once. It is held
// as long as one of them runs, and idle afterwards. A sequence that needs only the first blocks of a unit takes a copy of
// them until it publishes the unit itself. Idle units count as free; the least recently used are evicted
// first, and the end of a sequence before its start. Models with recurrent layers publish no units, because a state
// belongs to one length only.
//
// Host memory. With `serving.kv_offload`, evicted units go to the host (sim/replay/host_cache.hpp). They come back into
// new blocks when a sequence begins with them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/replay/host_cache.hpp"
#include "sim/replay/unit_table.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

// The hashes of the units of one sequence.
struct Prefix {
  std::span<const std::uint64_t> shared;  // hashes of the first units, which others may have
  std::uint64_t own = 0;                  // seed of the other hashes, which no other sequence has
  std::int64_t unit_tokens = 1;
  std::uint64_t operator[](std::int64_t unit) const;
};

// The part of the cache that one sequence holds.
struct Holding {
  std::int64_t blocks = 0;
  std::int64_t promised = 0;  // blocks that are promised to it
  std::int64_t units = 0;     // published units at its start
};

class KvCache {
 public:
  // The targets of `scenario` must outlive the cache.
  KvCache(const ScenarioView& scenario, base::Bytes capacity);

  // Whether this many tokens of one sequence fit if it is alone.
  bool could_hold(std::int64_t tokens) { return bytes(blocks(tokens)) <= capacity_; }
  // Tokens at the start of a sequence of `tokens` that are published: whole units, and where `tokens` end within a
  // published one, the whole blocks of it before that.
  std::int64_t known_tokens(const Prefix& prefix, std::int64_t tokens);

  // The same, but units may also be in host memory. 0 without host memory.
  std::int64_t restorable_tokens(const Prefix& prefix, std::int64_t tokens) const;
  // Loads the units from token `from` to `to` that only the host has. Returns the time of their arrival.
  base::Seconds restore(const Prefix& prefix, std::int64_t from, std::int64_t to,
                        base::Seconds now);

  // Admits a sequence with a promise of `promised_tokens`. It holds the published units in its first `reusable` tokens.
  // False, and nothing changes, if the held or promised bytes would exceed the capacity.
  bool admit(Holding& holding, std::int64_t promised_tokens, const Prefix& prefix,
             std::int64_t reusable);
  // Holds blocks for this many tokens. False, and nothing changes, if they do not fit.
  bool grow(Holding& holding, std::int64_t tokens) {
    return tokens <= holding.blocks * block_tokens_ || grow_blocks(holding, tokens);
  }
  // B that grow() would add.
  std::int64_t growth(const Holding& holding, std::int64_t tokens) {
    return tokens <= holding.blocks * block_tokens_ ? 0
                                                    : bytes(blocks(tokens)) - bytes(holding.blocks);
  }
  // Publishes the whole units of its first `tokens`. They must be computed.
  void publish(Holding& holding, const Prefix& prefix, std::int64_t tokens);
  void release(Holding& holding, const Prefix& prefix);

  std::int64_t capacity() const { return capacity_; }  // B
  std::int64_t used() const { return used_; }          // B, without idle units
  std::int64_t idle() const { return idle_; }
  // B, of each sequence the larger of held and promised.
  std::int64_t committed() const { return committed_; }

 private:
  std::int64_t blocks(std::int64_t tokens) const;
  bool grow_blocks(Holding& holding, std::int64_t tokens);
  // Of a sequence with so many blocks, its state included.
  std::int64_t bytes(std::int64_t blocks) {
    if (static_cast<std::size_t>(blocks) >= bytes_.size()) {
      count_bytes(blocks);
    }
    return bytes_[static_cast<std::size_t>(blocks)];
  }
  void count_bytes(std::int64_t blocks);
  std::int64_t unit_bytes(const Prefix& prefix, std::int64_t unit);
  std::int64_t own_bytes(const Holding& holding, const Prefix& prefix, std::int64_t blocks);
  // The published units at the start of a sequence of `tokens`, into found_.
  void find_units(const Prefix& prefix, std::int64_t tokens);
  void hold(UnitTable::Place unit);
  void evict_idle();

  ScenarioView scenario_;
  std::int64_t block_tokens_;
  std::int64_t state_;
  std::int64_t capacity_;
  bool keeps_prefixes_;
  std::int64_t used_ = 0;
  std::int64_t idle_ = 0;
  std::int64_t committed_ = 0;
  std::vector<std::int64_t> bytes_;  // bytes() by blocks, as far as they were asked for
  UnitTable units_;
  std::vector<UnitTable::Place> found_;  // by find_units
  std::optional<HostCache> host_;
};

}  // namespace roofcast::sim
