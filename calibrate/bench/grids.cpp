// SPDX-License-Identifier: Apache-2.0
#include "calibrate/bench/grids.hpp"

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <random>
#include <utility>

namespace roofcast::bench {

std::vector<std::int64_t> powers_of_two(std::int64_t least, std::int64_t most) {
  std::vector<std::int64_t> all;
  for (std::int64_t value = 1; value <= most; value *= 2) {
    if (value >= least) {
      all.push_back(value);
    }
  }
  return all;
}

std::vector<std::int64_t> cta_counts(std::int64_t sms) {
  std::vector<std::int64_t> all = powers_of_two(1, sms - 1);
  for (const std::int64_t eighths : {6, 7}) {
    if (const std::int64_t some = sms * eighths / 8; some > all.back()) {
      all.push_back(some);
    }
  }
  all.push_back(sms);
  all.push_back(2 * sms);
  return all;
}

namespace {

std::vector<GemmShape> layers_with(std::initializer_list<std::int64_t> rows) {
  constexpr std::pair<std::int64_t, std::int64_t> kLayers[] = {
      {512, 512},    {1024, 1024},  {2048, 2048},  {4096, 4096}, {8192, 8192},  {16384, 16384},
      {1024, 4096},  {4096, 1024},  {1280, 8192},  {8192, 1024}, {6144, 4096},  {10240, 8192},
      {28672, 4096}, {4096, 14336}, {7168, 8192},  {8192, 3584}, {57344, 8192}, {8192, 28672},
      {2048, 7168},  {7168, 2048},  {128256, 4096}};
  std::vector<GemmShape> all;
  for (const auto& [n, k] : kLayers) {
    for (const std::int64_t m : rows) {
      all.push_back({m, n, k});
    }
  }
  return scatter(all);
}

}  // namespace

std::vector<GemmShape> gemm_shapes() {
  return layers_with(
      {1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192, 16384});
}

std::vector<GemmShape> backward_shapes() { return layers_with({1024, 2048, 4096, 8192}); }

std::vector<InFlightShape> in_flight_shapes() {
  constexpr std::int64_t kThreadsOfSm = 2048;
  std::vector<InFlightShape> all;
  for (const std::int64_t ctas : {1, 2, 4, 8}) {
    for (const std::int64_t threads : {32, 64, 128, 256, 512, 1024}) {
      for (const std::int64_t loads : {1, 2, 4, 8}) {
        if (ctas * threads <= kThreadsOfSm) {
          all.push_back({ctas, threads, loads});
        }
      }
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const InFlightShape& a, const InFlightShape& b) {
    return a.bytes() < b.bytes();
  });
  return all;
}

std::vector<GemmShape> power_shapes() {
  return {{8192, 8192, 8192}, {16, 16384, 16384}, {1024, 8192, 8192}, {128, 8192, 8192}};
}

std::vector<AttentionShape> decode_shapes() {
  constexpr AttentionShape kHeads[] = {{0, 0, 32, 8, 128}, {0, 0, 8, 1, 128},   {0, 0, 64, 8, 128},
                                       {0, 0, 64, 8, 64},  {0, 0, 32, 32, 128}, {0, 0, 16, 1, 128}};
  constexpr std::int64_t kMostBytes = std::int64_t{8} << 30;
  std::vector<AttentionShape> all;
  for (AttentionShape shape : kHeads) {
    for (const std::int64_t batch : {1, 2, 4, 8, 16, 32, 64, 128, 256}) {
      for (const std::int64_t context : {128, 512, 1024, 2048, 4096, 8192, 16384, 32768, 131072}) {
        shape.batch = batch;
        shape.context = context;
        if (shape.cache_bytes() <= kMostBytes) {
          all.push_back(shape);
        }
      }
    }
  }
  return scatter(all);
}

std::vector<AttentionShape> prefill_shapes() {
  constexpr AttentionShape kHeads[] = {
      {0, 0, 32, 8, 128}, {0, 0, 8, 1, 128}, {0, 0, 64, 8, 64}, {0, 0, 32, 32, 128}};
  constexpr std::int64_t kMostTokens = 65536;
  std::vector<AttentionShape> all;
  for (AttentionShape shape : kHeads) {
    for (const std::int64_t batch : {1, 2, 4, 8}) {
      for (const std::int64_t tokens : {128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768}) {
        shape.batch = batch;
        shape.context = tokens;
        if (batch * tokens <= kMostTokens) {
          all.push_back(shape);
        }
      }
    }
  }
  return scatter(all);
}

double causal_flop(const AttentionShape& s) {
  const auto tokens = static_cast<double>(s.context);
  const double pairs = tokens * (tokens + 1.0) / 2.0;
  return 4.0 * static_cast<double>(s.batch * s.heads * s.head_dim) * pairs;
}

std::int64_t split_tokens(const AttentionShape& shape, std::int64_t sms, std::int64_t tile) {
  const std::int64_t tiles = shape.batch * shape.kv_heads * ((shape.context + tile - 1) / tile);
  return tile * std::clamp<std::int64_t>(tiles / (16 * sms), 1, 16);
}

std::vector<GroupedShape> grouped_shapes() {
  // Experts of Mixtral-8x7B, Qwen3-30B-A3B and DeepSeek-V3 (32 of 256 on a rank): up and down projections.
  constexpr GroupedShape kExperts[] = {{8, 0, 28672, 4096},  {8, 0, 4096, 14336},
                                       {128, 0, 1536, 2048}, {128, 0, 2048, 768},
                                       {32, 0, 4096, 7168},  {32, 0, 7168, 2048}};
  std::vector<GroupedShape> all;
  for (GroupedShape shape : kExperts) {
    for (const std::int64_t rows : {1, 4, 16, 64, 128, 256, 512}) {
      shape.rows = rows;
      all.push_back(shape);
    }
  }
  return scatter(all);
}

namespace {

// Heads, groups and width of Nemotron-3 Nano, Super and Ultra as the public tables have them.
constexpr MambaShape kMambaModels[] = {
    {0, 0, 64, 8, 2688}, {0, 0, 128, 8, 4096}, {0, 0, 256, 8, 8192}};

}  // namespace

std::vector<MambaShape> mamba_scan_shapes() {
  std::vector<MambaShape> all;
  for (MambaShape shape : kMambaModels) {
    for (const std::int64_t batch : {1, 4, 16}) {
      for (const std::int64_t tokens : {64, 256, 1024, 4096, 16384}) {
        shape.batch = batch;
        shape.tokens = tokens;
        if (batch * tokens <= 32768) {
          all.push_back(shape);
        }
      }
    }
  }
  return scatter(all);
}

std::vector<MambaShape> mamba_update_shapes() {
  std::vector<MambaShape> all;
  for (MambaShape shape : kMambaModels) {
    for (const std::int64_t batch : {1, 4, 16, 64, 256, 1024}) {
      shape.batch = batch;
      shape.tokens = 1;
      all.push_back(shape);
    }
  }
  return all;
}

std::vector<std::size_t> scattered(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(1);
  for (std::size_t i = count; i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(random() % i)]);
  }
  return order;
}

}  // namespace roofcast::bench
