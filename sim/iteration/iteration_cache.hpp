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

#include <array>
#include <bit>
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
  // Half a cache line, because most of a look-up is the wait for memory.
  struct Key {
    struct Batch {  // the numbers of a workloads::Batch
      std::int32_t decode_sequences = 0;
      std::int32_t query_tokens = 1;
      std::int32_t context = 0;
      std::int32_t prefill_sequences = 0;
      std::int32_t prefill_tokens = 0;
      std::int32_t cached_tokens = 0;
      std::int32_t groups = 0;
    };
    std::uint32_t deployment = 0;  // 0: none
    Batch batch;

    using Words = std::array<std::uint64_t, 4>;
    Words words() const { return std::bit_cast<Words>(*this); }
    friend bool operator==(const Key& a, const Key& b) {
      const Words x = a.words();
      const Words y = b.words();
      return ((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3])) == 0;
    }
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
    struct alignas(64) Entry {
      Key key;
      Value value;
    };
    int bits_;
    std::vector<Entry> entries_;
  };

  // nullopt if nothing may be kept: images make a batch depend on the traffic. Nor are batches that no server runs.
  std::optional<Key> key(const ScenarioView& scenario, const workloads::Batch& batch);

  Table<IterationTerms>& terms() { return terms_; }
  Table<IterationTime>& times() { return times_; }
  Table<IterationTime>& floors() { return floors_; }

 private:
  using Deployment =
      std::tuple<const void*, const void*, const void*, const void*, const void*, bool>;
  static std::size_t place(const Key& key, int bits);

  std::map<Deployment, std::uint32_t> numbers_;
  std::uint32_t last_number_ = 0;
  Deployment latest_;  // asked for
  std::uint32_t latest_number_ = 0;
  Table<IterationTerms> terms_{9};
  Table<IterationTime> times_{13};
  Table<IterationTime> floors_{8};
};

}  // namespace roofcast::sim
