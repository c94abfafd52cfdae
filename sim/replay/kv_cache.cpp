// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/kv_cache.hpp"

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"
#include "base/scatter.hpp"
#include "sim/iteration/memory.hpp"

namespace roofcast::sim {

std::uint64_t Prefix::operator[](std::int64_t unit) const {
  const auto index = static_cast<std::size_t>(unit);
  if (index < shared.size()) {
    return shared[index];
  }
  // One to one, so different units have different hashes.
  return base::scatter((own << 32U) ^ static_cast<std::uint64_t>(unit) ^ base::kGoldenRatio);
}

KvCache::KvCache(const ScenarioView& s, base::Bytes capacity)
    : scenario_(s),
      block_tokens_(s.serving->stack.kv_block_tokens * s.mapping->cache_parts()),
      state_(std::llround(states_of(s).si())),
      capacity_(static_cast<std::int64_t>(capacity.si())),
      keeps_prefixes_(s.serving->policy.prefix_cache && state_ == 0) {
  const workloads::KvOffload& offload = s.serving->kv_offload;
  const auto link = offload.bandwidth ? offload.bandwidth : s.platform->system.chip.host_link();
  const auto share = static_cast<std::int64_t>(offload.capacity.si()) / s.mapping->ranks();
  if (keeps_prefixes_ && share > 0 && link) {
    host_.emplace(share, *link);
  }
}

std::int64_t KvCache::blocks(std::int64_t tokens) const {
  return base::ceil_div(tokens, block_tokens_);
}

void KvCache::count_bytes(std::int64_t blocks) {
  while (static_cast<std::size_t>(blocks) >= bytes_.size()) {
    const auto tokens = static_cast<std::int64_t>(bytes_.size()) * block_tokens_;
    bytes_.push_back(state_ + std::llround(keys_of(static_cast<double>(tokens), scenario_).si()));
  }
}

std::int64_t KvCache::unit_bytes(const Prefix& prefix, std::int64_t unit) {
  return bytes(blocks((unit + 1) * prefix.unit_tokens)) - bytes(blocks(unit * prefix.unit_tokens));
}

// Bytes of a sequence with `all` blocks, without its published units. The difference drops the state; bytes(0) adds it
// again.
std::int64_t KvCache::own_bytes(const Holding& holding, const Prefix& prefix, std::int64_t all) {
  return bytes(all) - bytes(blocks(holding.units * prefix.unit_tokens)) + bytes(0);
}

void KvCache::find_units(const Prefix& prefix, std::int64_t tokens) {
  found_.clear();
  UnitTable::Place last = UnitTable::kNone;
  for (std::int64_t unit = 0; keeps_prefixes_ && (unit + 1) * prefix.unit_tokens <= tokens;
       ++unit) {
    last = units_.find_after(last, prefix[unit]);
    if (last == UnitTable::kNone) {
      return;
    }
    found_.push_back(last);
  }
}

std::int64_t KvCache::known_tokens(const Prefix& prefix, std::int64_t tokens) {
  find_units(prefix, tokens);
  const auto units = static_cast<std::int64_t>(found_.size());
  const std::int64_t whole = units * prefix.unit_tokens;
  const std::int64_t in_blocks = tokens - tokens % block_tokens_;
  const bool ends_within = whole < in_blocks && in_blocks < whole + prefix.unit_tokens;
  if (!keeps_prefixes_ || !ends_within) {
    return whole;
  }
  const UnitTable::Place last = found_.empty() ? UnitTable::kNone : found_.back();
  return units_.find_after(last, prefix[units]) == UnitTable::kNone ? whole : in_blocks;
}

std::int64_t KvCache::restorable_tokens(const Prefix& prefix, std::int64_t tokens) const {
  std::int64_t unit = 0;
  while (host_ && (unit + 1) * prefix.unit_tokens <= tokens &&
         (units_.find(prefix[unit]) != UnitTable::kNone || host_->has(prefix[unit]))) {
    ++unit;
  }
  return unit * prefix.unit_tokens;
}

base::Seconds KvCache::restore(const Prefix& prefix, std::int64_t from, std::int64_t to,
                               base::Seconds now) {
  std::int64_t sum = 0;
  for (std::int64_t unit = from / prefix.unit_tokens; unit < to / prefix.unit_tokens; ++unit) {
    if (units_.find(prefix[unit]) == UnitTable::kNone) {
      // Units that admission evicted may have pushed it out of the host in the meantime. It is read before that.
      if (host_->has(prefix[unit])) {
        host_->use(prefix[unit]);
      }
      sum += unit_bytes(prefix, unit);
    }
  }
  return host_->load(sum, now);
}

void KvCache::hold(UnitTable::Place place) {
  UnitTable::Unit& unit = units_[place];
  if (unit.holders++ == 0) {
    units_.remove_idle(place);
    idle_ -= unit.bytes;
    used_ += unit.bytes;
    committed_ += unit.bytes;
  }
}

// Two conditions: all promises must fit, and all that is held must fit.
//
//   units      published units at the start of the sequence      start      blocks of these
//   held       B, of these units, those that others hold         promised   blocks that are promised
//   woken      B, of these units, those that are idle            bytes(0)   B, the state
bool KvCache::admit(Holding& holding, std::int64_t promised_tokens, const Prefix& prefix,
                    std::int64_t reusable) {
  std::int64_t held = 0;
  std::int64_t woken = 0;
  find_units(prefix, reusable);
  for (const UnitTable::Place place : found_) {
    const UnitTable::Unit& known = units_[place];
    (known.holders > 0 ? held : woken) += known.bytes;
  }
  const auto units = static_cast<std::int64_t>(found_.size());
  const std::int64_t start = blocks(units * prefix.unit_tokens);
  const std::int64_t promised = std::max(start, blocks(promised_tokens));
  if (committed_ + bytes(promised) - held > capacity_ || used_ + woken + bytes(0) > capacity_) {
    return false;
  }
  holding = {start, promised, units};
  for (const UnitTable::Place place : found_) {
    hold(place);
  }
  used_ += bytes(0);
  committed_ += own_bytes(holding, prefix, promised);
  evict_idle();
  return true;
}

bool KvCache::grow_blocks(Holding& holding, std::int64_t tokens) {
  const std::int64_t wanted = blocks(tokens);
  const std::int64_t more = bytes(wanted) - bytes(holding.blocks);
  if (used_ + more > capacity_) {
    return false;
  }
  used_ += more;
  const std::int64_t covered = std::max(holding.blocks, holding.promised);
  committed_ += std::max<std::int64_t>(0, bytes(wanted) - bytes(covered));
  holding.blocks = wanted;
  evict_idle();
  return true;
}

void KvCache::publish(Holding& holding, const Prefix& prefix, std::int64_t tokens) {
  if (!keeps_prefixes_) {
    return;
  }
  for (; (holding.units + 1) * prefix.unit_tokens <= tokens; ++holding.units) {
    const std::int64_t size = unit_bytes(prefix, holding.units);
    const auto [place, fresh] = units_.insert(prefix[holding.units], size);
    if (!fresh) {
      // Another sequence published the same unit meanwhile. One copy is enough.
      used_ -= size;
      committed_ -= size;
      hold(place);
    }
  }
}

void KvCache::release(Holding& holding, const Prefix& prefix) {
  used_ -= own_bytes(holding, prefix, holding.blocks);
  committed_ -= own_bytes(holding, prefix, std::max(holding.blocks, holding.promised));
  find_units(prefix, holding.units * prefix.unit_tokens);
  for (; !found_.empty(); found_.pop_back()) {
    UnitTable::Unit& unit = units_[found_.back()];
    if (--unit.holders == 0) {
      used_ -= unit.bytes;
      committed_ -= unit.bytes;
      idle_ += unit.bytes;
      units_.append_idle(found_.back());
    }
  }
  holding = {};
}

// Evicts idle units until the rest fits.
void KvCache::evict_idle() {
  while (used_ + idle_ > capacity_) {
    const UnitTable::Place least = units_.first_idle();
    if (host_) {
      host_->store(units_[least].hash, units_[least].bytes);
    }
    idle_ -= units_[least].bytes;
    units_.erase(least);
  }
}

}  // namespace roofcast::sim
