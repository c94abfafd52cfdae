// SPDX-License-Identifier: Apache-2.0
//
// The shapes that are measured. Where the time may not suffice they come in an order that leaves an even sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roofcast::bench {

// Powers of two from `least` to `most`, both included where they are powers of two.
std::vector<std::int64_t> powers_of_two(std::int64_t least, std::int64_t most);

// CTAs for a sweep of occupancy: one SM to all of them, then several a SM.
std::vector<std::int64_t> cta_counts(std::int64_t sms);

struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0;
  friend bool operator==(const GemmShape&, const GemmShape&) = default;
};
// Dimensions of the public GEMM tables, and layers of Llama-3.1-8B and 70B.
std::vector<GemmShape> gemm_shapes();
// A large square, whose power is the tensor cores', down to few rows, whose power is the memory's.
std::vector<GemmShape> power_shapes();

// Layers of gemm_shapes with as many rows as micro-batches of training have.
std::vector<GemmShape> backward_shapes();

// What the CTAs of one SM ask of the memory at once.
struct InFlightShape {
  std::int64_t ctas = 0, threads = 0, loads = 0;  // of an SM, of a CTA, of 16 bytes of a thread
  std::int64_t bytes() const { return ctas * threads * loads * 16; }
};
// All that an SM of 2048 threads holds, from few bytes to many.
std::vector<InFlightShape> in_flight_shapes();

struct AttentionShape {
  std::int64_t batch = 0, context = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t cache_bytes() const {
    return batch * context * kv_heads * head_dim * 2 * 2;
  }  // bf16
  friend bool operator==(const AttentionShape&, const AttentionShape&) = default;
};
std::vector<AttentionShape> decode_shapes();
std::vector<AttentionShape> prefill_shapes();  // context: tokens of a prompt
// FLOP of both products of causal attention.
double causal_flop(const AttentionShape& shape);

// Cached tokens that one CTA of the decode kernel takes, in tiles of `tile`: about 16 CTAs to an SM where the context
// is long enough for that, and at most 16 tiles.
std::int64_t split_tokens(const AttentionShape& shape, std::int64_t sms, std::int64_t tile);

struct GroupedShape {
  std::int64_t groups = 0, rows = 0, n = 0, k = 0;  // rows of each group
};
std::vector<GroupedShape> grouped_shapes();

struct MambaShape {
  std::int64_t batch = 0, tokens = 0, heads = 0, groups = 0, d_model = 0;
};
std::vector<MambaShape> mamba_scan_shapes();
std::vector<MambaShape> mamba_update_shapes();  // one token a sequence

// A fixed order without pattern: whatever is left out at the end is spread over all shapes.
std::vector<std::size_t> scattered(std::size_t count);
template <class T>
std::vector<T> scatter(const std::vector<T>& ordered) {
  std::vector<T> all;
  for (const std::size_t i : scattered(ordered.size())) {
    all.push_back(ordered[i]);
  }
  return all;
}

}  // namespace roofcast::bench
