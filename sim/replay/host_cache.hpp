// SPDX-License-Identifier: Apache-2.0
//
// KV blocks in host memory: blocks that the KV cache of an attention-DP rank evicts, until newer ones need the memory
// (least recently used first).
//
// Capacity and bandwidth are those of one GPU: its share of the host memory, and its link to it in one direction. Loads
// follow each other on the link. A load of b bytes, asked for at t, ends at
//
//   max(t, end of the load before it) + b / bandwidth
//
// Stores use the other direction, overlapped with compute, and cost no time: transfers of vLLM's OffloadingConnector
// have streams of their own (vLLM Ascend v0.20.2rc, "KV Cache CPU Offload Guide").
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>

#include "base/units/quantity.hpp"

namespace roofcast::sim {

class HostCache {
 public:
  HostCache(std::int64_t capacity, base::BytesPerSecond bandwidth)
      : capacity_(capacity), bandwidth_(bandwidth) {}

  bool has(std::uint64_t hash) const { return units_.contains(hash); }
  // Stores a unit as the one that was used last.
  void store(std::uint64_t hash, std::int64_t bytes);
  // Marks a stored unit as the one that was used last.
  void use(std::uint64_t hash);
  // The end of a load of this many bytes.
  base::Seconds load(std::int64_t bytes, base::Seconds now);

  std::int64_t capacity() const { return capacity_; }
  std::int64_t used() const { return used_; }

 private:
  struct Unit {
    std::int64_t bytes = 0;
    std::list<std::uint64_t>::iterator place;
  };

  std::int64_t capacity_;
  base::BytesPerSecond bandwidth_;
  std::int64_t used_ = 0;
  base::Seconds link_free_;
  std::unordered_map<std::uint64_t, Unit> units_;
  std::list<std::uint64_t> order_;  // the next one to be evicted is in front
};

}  // namespace roofcast::sim
