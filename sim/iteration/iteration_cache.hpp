// SPDX-License-Identifier: Apache-2.0
//
// What the points of a sweep share of their iterations.
//
//   terms    of a batch, whatever its context: only the attention of decodes is timed again
//   times    of a batch
//   floors   of the launches of an iteration (launch_floor)
//
// Points that differ in load, lengths or prices ask for the same iterations of the same deployment again and again. Each
// kind is a table of fixed size: what is new replaces what stood in its place. Every answer has the bits that it has
// without the cache.
//
// A deployment is recognised by where its sections stand. So these must stay where they are, unchanged, while the cache
// lives. The sections of a sweep do (sim/decide/sweep_points.hpp). Sections that an estimate makes for itself do not:
// those of pools, of post-training and of draft models.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {

class IterationCache {
 public:
  struct Key {
    std::uint64_t deployment = 0;  // 0: none
    workloads::Batch batch;
    friend bool operator==(const Key&, const Key&) = default;
  };

  // A table whose entries have one place each.
  template <class Value>
  class Table {
   public:
    explicit Table(int bits) : bits_(bits), entries_(std::size_t{1} << bits) {}
    // The value of the key, and whether it is there already; otherwise the value is to be set.
    std::pair<Value&, bool> at(const Key& key) {
      Entry& entry = entries_[place(key, bits_)];
      const bool known = entry.key == key;
      entry.key = key;
      return {entry.value, known};
    }

   private:
    struct Entry {
      Key key;
      Value value;
    };
    int bits_;
    std::vector<Entry> entries_;
  };

  // nullopt if nothing may be kept: images make a batch depend on the traffic.
  std::optional<Key> key(const ScenarioView& scenario, const workloads::Batch& batch);

  Table<IterationTerms>& terms() { return terms_; }
  Table<IterationTime>& times() { return times_; }
  Table<IterationTime>& floors() { return floors_; }

 private:
  using Deployment =
      std::tuple<const void*, const void*, const void*, const void*, const void*, bool>;
  static std::size_t place(const Key& key, int bits);

  std::map<Deployment, std::uint64_t> numbers_;
  std::uint64_t last_number_ = 0;
  Deployment latest_;  // asked for
  std::uint64_t latest_number_ = 0;
  Table<IterationTerms> terms_{9};
  Table<IterationTime> times_{13};
  Table<IterationTime> floors_{8};
};

}  // namespace roofcast::sim
