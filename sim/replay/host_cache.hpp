// SPDX-License-Identifier: Apache-2.0
//
// KV blocks in host memory: what an attention-DP rank's KV cache evicts, until newer ones need the room
// (least recently used first).
//
// Figures are of one GPU: its share of the host memory, and its link to it in one direction. Loads follow
// each other on the link; a load of b bytes that is asked for at t ends at max(t, end of the one before)
// + b / bandwidth. Stores take the other direction beside what is computed and cost no time: transfers of
// vLLM's OffloadingConnector have streams of their own (vLLM Ascend v0.20.2rc, "KV Cache CPU Offload Guide").
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
  // Keeps a unit of so many bytes, as the one used last.
  void store(std::uint64_t hash, std::int64_t bytes);
  void use(std::uint64_t hash);  // one that it has
  // When a load of so many bytes ends; s.
  double load(std::int64_t bytes, double now);

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
  double link_free_ = 0.0;
  std::unordered_map<std::uint64_t, Unit> units_;
  std::list<std::uint64_t> order_;  // the one to go first in front
};

}  // namespace roofcast::sim
