// SPDX-License-Identifier: Apache-2.0
//
// Causal attention of a prompt in bf16, grouped queries, with the softmax kept from tile to tile (FlashAttention-2, T. Dao,
// arXiv 2307.08691): a CTA takes 64 queries of a head, 16 a warp, and goes through the keys up to its diagonal, 64 at a
// time. Scores and the output stay in registers; a tile of keys and one of values lie in shared memory, and each is loaded
// while the tensor cores work on the other.
//
// Layout: q, out [batch][heads][capacity][dim], k, v [batch][kv_heads][capacity][dim]; capacity is the number of tokens
// rounded up to 64.
//
// Fragments are those of mma.m16n8k16 (PTX ISA, "Matrix Fragments for mma.m16n8k16"): thread l of a warp has of A the rows
// l/4 and l/4 + 8, of B the column l/4, of C the rows of A, and in each a pair of neighbours at 2·(l mod 4).
#include <cuda_pipeline_primitives.h>

#include <cmath>

#include "calibrate/bench/gpu/attention.cuh"
#include "calibrate/bench/gpu/timing.cuh"

namespace roofcast::bench {
namespace {

using bf16 = __nv_bfloat16;

constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kTile = 64;                 // queries of a CTA, keys in shared memory
constexpr int kKeyFragments = kTile / 8;  // of a warp's scores
constexpr int kPad = 8;                   // bf16 elements that keep rows off each other's banks
constexpr unsigned kAll = 0xffffffffU;

struct Problem {
  const bf16* q;
  const bf16* k;
  const bf16* v;
  bf16* out;
  int heads, kv_heads, tokens, capacity;
  float scale;
};

__device__ unsigned pair_at(const bf16* two) { return *reinterpret_cast<const unsigned*>(two); }

__device__ unsigned packed(float low, float high) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&both);
}

// c += a · b
__device__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Of 16 rows and 8 columns: what a thread has of B, whose columns are these columns. `row` is that of lane % 16.
__device__ void load_transposed(unsigned& b0, unsigned& b1, const bf16* row) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
               : "=r"(b0), "=r"(b1)
               : "r"(address));
}

template <int kDim>
__device__ void begin_load(bf16 (*tile)[kDim + kPad], const bf16* rows) {
  constexpr int kVectors = kDim / 8;  // of 16 bytes a row
  for (int i = static_cast<int>(threadIdx.x); i < kTile * kVectors; i += kThreads) {
    const int row = i / kVectors;
    const int column = i % kVectors * 8;
    __pipeline_memcpy_async(&tile[row][column],
                            rows + static_cast<std::size_t>(row) * kDim + column, 16);
  }
  __pipeline_commit();
}

__device__ void end_load() {
  __pipeline_wait_prior(0);
  __syncthreads();
}

__device__ float quad_max(float value) {
  value = fmaxf(value, __shfl_xor_sync(kAll, value, 1));
  return fmaxf(value, __shfl_xor_sync(kAll, value, 2));
}
__device__ float quad_sum(float value) {
  value += __shfl_xor_sync(kAll, value, 1);
  return value + __shfl_xor_sync(kAll, value, 2);
}

// Grid: tiles of queries, the last one first since it has most keys; heads; sequences.
template <int kDim>
__global__ void __launch_bounds__(kThreads) prefill_kernel(Problem p) {
  constexpr int kSteps = kDim / 16;  // of the depth of a score
  constexpr int kColumns = kDim / 8;
  __shared__ alignas(16) bf16 keys[kTile][kDim + kPad];
  __shared__ alignas(16) bf16 values[kTile][kDim + kPad];

  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int query_tile = static_cast<int>(gridDim.x - 1 - blockIdx.x);
  const int head = static_cast<int>(blockIdx.y);
  const std::size_t sequence = blockIdx.z;
  const int kv_head = head / (p.heads / p.kv_heads);
  const std::size_t own = (sequence * p.heads + head) * p.capacity * kDim;
  const std::size_t cache = (sequence * p.kv_heads + kv_head) * p.capacity * kDim;
  const int row = query_tile * kTile + static_cast<int>(threadIdx.x) / 32 * 16 + lane / 4;
  const int pair = 2 * (lane % 4);

  unsigned query[kSteps][4];
  const bf16* q = p.q + own + static_cast<std::size_t>(row) * kDim + pair;
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    query[s][0] = pair_at(q + 16 * s);
    query[s][1] = pair_at(q + 16 * s + 8 * kDim);
    query[s][2] = pair_at(q + 16 * s + 8);
    query[s][3] = pair_at(q + 16 * s + 8 * kDim + 8);
  }
  float out[kColumns][4] = {};
  float largest[2] = {-INFINITY, -INFINITY};  // of the rows `row` and `row` + 8
  float sum[2] = {};                          // of this thread's columns

  begin_load<kDim>(keys, p.k + cache);
  for (int tile = 0; tile <= query_tile; ++tile) {
    end_load();
    begin_load<kDim>(values, p.v + cache + static_cast<std::size_t>(tile) * kTile * kDim);
    float scores[kKeyFragments][4] = {};
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
#pragma unroll
      for (int n = 0; n < kKeyFragments; ++n) {
        const bf16* key = &keys[8 * n + lane / 4][16 * s + pair];
        multiply(scores[n], query[s], pair_at(key), pair_at(key + 8));
      }
    }
    end_load();
    if (tile < query_tile) {
      begin_load<kDim>(keys, p.k + cache + static_cast<std::size_t>(tile + 1) * kTile * kDim);
    }

    float before[2] = {largest[0], largest[1]};
#pragma unroll
    for (int n = 0; n < kKeyFragments; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int key = tile * kTile + 8 * n + pair + i % 2;
        const bool seen = key <= row + 8 * (i / 2) && key < p.tokens;
        scores[n][i] = seen ? scores[n][i] * p.scale : -INFINITY;
        largest[i / 2] = fmaxf(largest[i / 2], scores[n][i]);
      }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      largest[half] = quad_max(largest[half]);
      const float rescale = __expf(before[half] - largest[half]);  // 0 at the first tile
      sum[half] *= rescale;
#pragma unroll
      for (int n = 0; n < kColumns; ++n) {
        out[n][2 * half] *= rescale;
        out[n][2 * half + 1] *= rescale;
      }
    }
#pragma unroll
    for (int n = 0; n < kKeyFragments; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        scores[n][i] = __expf(scores[n][i] - largest[i / 2]);
        sum[i / 2] += scores[n][i];
      }
    }
#pragma unroll
    for (int s = 0; s < kTile / 16; ++s) {
      const float* left = scores[2 * s];
      const float* right = scores[2 * s + 1];
      const unsigned weights[4] = {packed(left[0], left[1]), packed(left[2], left[3]),
                                   packed(right[0], right[1]), packed(right[2], right[3])};
#pragma unroll
      for (int n = 0; n < kColumns; ++n) {
        unsigned b0 = 0;
        unsigned b1 = 0;
        load_transposed(b0, b1, &values[16 * s + lane % 16][8 * n]);
        multiply(out[n], weights, b0, b1);
      }
    }
  }

#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float whole = quad_sum(sum[half]);
    bf16* to = p.out + own + static_cast<std::size_t>(row + 8 * half) * kDim + pair;
#pragma unroll
    for (int n = 0; n < kColumns; ++n) {
      *reinterpret_cast<unsigned*>(to + 8 * n) =
          packed(out[n][2 * half] / whole, out[n][2 * half + 1] / whole);
    }
  }
}

// The same, one step after the other in fp32. Grid: tokens, heads, sequences; a thread for each element of a head.
__global__ void reference_kernel(Problem p, float* out) {
  const auto dim = static_cast<int>(blockDim.x);
  const auto token = static_cast<int>(blockIdx.x);
  const std::size_t head = static_cast<std::size_t>(blockIdx.z) * p.heads + blockIdx.y;
  const std::size_t kv_head =
      static_cast<std::size_t>(blockIdx.z) * p.kv_heads + blockIdx.y / (p.heads / p.kv_heads);
  const bf16* q = p.q + (head * p.capacity + token) * dim;
  const bf16* k = p.k + kv_head * p.capacity * dim;
  const bf16* v = p.v + kv_head * p.capacity * dim;
  float largest = -INFINITY;
  float sum = 0.0F;
  float value = 0.0F;
  for (int t = 0; t <= token; ++t) {
    float score = 0.0F;
    for (int d = 0; d < dim; ++d) {
      score += __bfloat162float(q[d]) * __bfloat162float(k[static_cast<std::size_t>(t) * dim + d]);
    }
    score *= p.scale;
    const float above = fmaxf(largest, score);
    const float rescale = expf(largest - above);
    const float weight = expf(score - above);
    sum = sum * rescale + weight;
    value = value * rescale +
            weight * __bfloat162float(v[static_cast<std::size_t>(t) * dim + threadIdx.x]);
    largest = above;
  }
  out[(head * p.tokens + token) * dim + threadIdx.x] = value / sum;
}

class Prefill {
 public:
  Prefill(const Stream& stream, const AttentionShape& shape, float query_scale) : shape_(shape) {
    const std::int64_t capacity = (shape.context + kTile - 1) / kTile * kTile;
    const auto row = static_cast<std::size_t>(capacity * shape.head_dim);
    const auto queries = static_cast<std::size_t>(shape.batch * shape.heads) * row;
    const auto cache = static_cast<std::size_t>(shape.batch * shape.kv_heads) * row;
    q_ = DeviceMemory(queries * sizeof(bf16));
    out_ = DeviceMemory(queries * sizeof(bf16));
    k_ = DeviceMemory(cache * sizeof(bf16));
    v_ = DeviceMemory(cache * sizeof(bf16));
    fill_random(q_.as<void>(), queries, Format::bf16, query_scale, 1, stream);
    fill_random(k_.as<void>(), cache, Format::bf16, 1.0F, 2, stream);
    fill_random(v_.as<void>(), cache, Format::bf16, 1.0F, 3, stream);
    check(cudaMemsetAsync(out_.as<void>(), 0, out_.bytes(), stream), "clearing a buffer");
    stream.wait();
    problem_ = {q_.as<bf16>(),
                k_.as<bf16>(),
                v_.as<bf16>(),
                out_.as<bf16>(),
                static_cast<int>(shape.heads),
                static_cast<int>(shape.kv_heads),
                static_cast<int>(shape.context),
                static_cast<int>(capacity),
                1.0F / std::sqrt(static_cast<float>(shape.head_dim))};
  }

  void launch(const Stream& stream) const {
    const dim3 grid(static_cast<unsigned>(problem_.capacity / kTile),
                    static_cast<unsigned>(shape_.heads), static_cast<unsigned>(shape_.batch));
    if (shape_.head_dim == 128) {
      prefill_kernel<128><<<grid, kThreads, 0, stream>>>(problem_);
    } else if (shape_.head_dim == 64) {
      prefill_kernel<64><<<grid, kThreads, 0, stream>>>(problem_);
    } else {
      throw std::runtime_error("the kernel has heads of 64 and 128");
    }
    check_launch("attention of a prompt");
  }

  // Against the reference: the largest difference over the largest value.
  double error(const Stream& stream) const {
    const auto dim = static_cast<std::size_t>(shape_.head_dim);
    const auto heads = static_cast<std::size_t>(shape_.batch * shape_.heads);
    const auto tokens = static_cast<std::size_t>(shape_.context);
    const DeviceMemory expected(heads * tokens * dim * sizeof(float));
    const dim3 grid(static_cast<unsigned>(tokens), static_cast<unsigned>(shape_.heads),
                    static_cast<unsigned>(shape_.batch));
    reference_kernel<<<grid, static_cast<unsigned>(dim), 0, stream>>>(problem_,
                                                                      expected.as<float>());
    check_launch("the reference of a prompt");
    launch(stream);
    stream.wait();
    const auto capacity = static_cast<std::size_t>(problem_.capacity);
    const std::vector<float> padded = floats(to_host(out_.as<bf16>(), heads * capacity * dim));
    std::vector<float> got;
    for (std::size_t head = 0; head < heads; ++head) {
      const auto* begin = padded.data() + head * capacity * dim;
      got.insert(got.end(), begin, begin + tokens * dim);
    }
    return relative_error(got, to_host(expected.as<float>(), heads * tokens * dim));
  }

 private:
  AttentionShape shape_;
  DeviceMemory q_, k_, v_, out_;
  Problem problem_{};
};

// Empty, or by how much the kernel misses the reference, for these heads: prompts that end within a tile, at its end and
// behind it, and several tiles.
std::string wrong(const Stream& stream, AttentionShape shape) {
  constexpr double kTolerance = 0.02;
  shape.batch = 2;
  for (const std::int64_t tokens : {1, 37, 64, 65, 300}) {
    shape.context = tokens;
    const double error = Prefill(stream, shape, 4.0F).error(stream);
    if (!(error <= kTolerance)) {
      return "the kernel is off its reference by " + std::to_string(error) + " at a prompt of " +
             std::to_string(tokens);
    }
  }
  return {};
}

}  // namespace

void run_prefill(SuiteRun& run) {
  const Stream stream;
  run_attention(
      run, prefill_shapes(),
      {"attention_context", "roofcast_flash",
       [&](const AttentionShape& s) { return wrong(stream, s); },
       [&](const AttentionShape& s) {
         const Prefill prefill(stream, s, 1.0F);
         return time_launches(stream, [&](int) { prefill.launch(stream); });
       },
       [](const AttentionShape& s, double seconds) { return causal_flop(s) / seconds * 1e-12; }});
}

}  // namespace roofcast::bench
