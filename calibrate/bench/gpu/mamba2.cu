// SPDX-License-Identifier: Apache-2.0
//
// Mamba-2: the scan of a prompt and the update of one token, for heads of 64 and states of 128.
//
//   S_t = exp(A·dt_t)·S_{t−1} + dt_t·x_t⊗B_t,   y_t = S_t·C_t    (Dao and Gu, arXiv 2405.21060)
//
// The scan works in chunks of 64 tokens, as the paper does: what each chunk adds to the state, the states at the
// starts of the chunks one after the other, the outputs of all chunks. Plain kernels on the tensor cores: an upper
// bound of the time, not the best one. The skip D·x and the gate are not in it.
//
// Layouts: x, y [batch][tokens][heads][64], dt [batch][tokens][heads], A [heads], B, C [batch][tokens][groups][128] in
// bf16 (dt, A fp32), states [batch][chunks][heads][64][128] fp32.
#include <mma.h>

#include <cmath>

#include "calibrate/bench/gpu/timing.cuh"
#include "calibrate/bench/grids.hpp"
#include "calibrate/bench/measure.hpp"

namespace roofcast::bench {
namespace {

namespace wmma = nvcuda::wmma;
using bf16 = __nv_bfloat16;

constexpr int kHead = 64;
constexpr int kState = 128;
constexpr int kChunk = 64;
constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kSide = 16;
constexpr int kPad = 8;
static_assert(kChunk == kWarps * kSide && kHead == kWarps * kSide);

template <class Layout>
using Left = wmma::fragment<wmma::matrix_a, kSide, kSide, kSide, bf16, Layout>;
template <class Layout>
using Right = wmma::fragment<wmma::matrix_b, kSide, kSide, kSide, bf16, Layout>;
using Sum = wmma::fragment<wmma::accumulator, kSide, kSide, kSide, float>;

struct Problem {
  const bf16* x;
  const float* dt;
  const float* a;
  const bf16* b;
  const bf16* c;
  bf16* y;
  float* states;  // of the chunks; of the update [batch][heads][64][128]
  float* decays;  // [batch][chunks][heads]: of a whole chunk
  int tokens, heads, groups, chunks;
};

// Of one head in one chunk of one sequence.
struct Part {
  int chunk, head;
  std::size_t sequence;
  std::size_t first_token;  // of all sequences
  std::size_t state;        // its place in `states`
  int group;
};
__device__ Part part_of(const Problem& p) {
  const auto chunk = static_cast<int>(blockIdx.x);
  const auto head = static_cast<int>(blockIdx.y);
  const std::size_t sequence = blockIdx.z;
  return {chunk,
          head,
          sequence,
          sequence * p.tokens + static_cast<std::size_t>(chunk) * kChunk,
          ((sequence * p.chunks + chunk) * p.heads + head) * kHead * kState,
          head / (p.heads / p.groups)};
}

// steps[t] = dt_t, sums[t] = A·(dt_0 + … + dt_t) within the chunk.
__device__ void load_steps(const Problem& p, const Part& at, float* steps, float* sums) {
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread < kChunk) {
    steps[thread] = p.dt[(at.first_token + thread) * p.heads + at.head];
  }
  __syncthreads();
  if (thread == 0) {
    float sum = 0.0F;
    for (int t = 0; t < kChunk; ++t) {
      sum += steps[t] * p.a[at.head];
      sums[t] = sum;
    }
  }
  __syncthreads();
}

// kChunk rows of kWidth elements, `stride` apart.
template <int kWidth>
__device__ void load_rows(bf16 (*to)[kWidth + kPad], const bf16* from, std::size_t stride) {
  constexpr int kVectors = kWidth / 8;
  for (int i = static_cast<int>(threadIdx.x); i < kChunk * kVectors; i += kThreads) {
    const int row = i / kVectors;
    const int column = i % kVectors * 8;
    *reinterpret_cast<uint4*>(&to[row][column]) =
        *reinterpret_cast<const uint4*>(from + row * stride + column);
  }
}

// What a chunk adds to the state: Σ_t exp(sums_last − sums_t)·dt_t·x_t⊗B_t. Grid: chunks, heads, sequences.
__global__ void __launch_bounds__(kThreads) chunk_state_kernel(Problem p) {
  __shared__ alignas(32) bf16 x[kChunk][kHead + kPad];
  __shared__ alignas(32) bf16 b[kChunk][kState + kPad];
  __shared__ float steps[kChunk], sums[kChunk];
  const Part at = part_of(p);
  load_steps(p, at, steps, sums);
  load_rows<kHead>(x, p.x + (at.first_token * p.heads + at.head) * kHead,
                   static_cast<std::size_t>(p.heads) * kHead);
  load_rows<kState>(b, p.b + (at.first_token * p.groups + at.group) * kState,
                    static_cast<std::size_t>(p.groups) * kState);
  __syncthreads();
  const float whole = sums[kChunk - 1];
  for (int i = static_cast<int>(threadIdx.x); i < kChunk * kHead; i += kThreads) {
    const int t = i / kHead;
    bf16& value = x[t][i % kHead];
    value = __float2bfloat16(__bfloat162float(value) * steps[t] * __expf(whole - sums[t]));
  }
  if (threadIdx.x == 0) {
    p.decays[(at.sequence * p.chunks + at.chunk) * p.heads + at.head] = __expf(whole);
  }
  __syncthreads();
  const int row = static_cast<int>(threadIdx.x) / 32 * kSide;  // of the head
  for (int column = 0; column < kState; column += kSide) {
    Sum sum;
    wmma::fill_fragment(sum, 0.0F);
    for (int t = 0; t < kChunk; t += kSide) {
      Left<wmma::col_major> left;  // xᵀ
      Right<wmma::row_major> right;
      wmma::load_matrix_sync(left, &x[t][row], kHead + kPad);
      wmma::load_matrix_sync(right, &b[t][column], kState + kPad);
      wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(p.states + at.state + row * kState + column, sum, kState,
                            wmma::mem_row_major);
  }
}

// In place: what each chunk adds becomes the state it starts with. Grid: elements of the states of
// all heads, sequences.
__global__ void pass_states_kernel(Problem p) {
  const std::size_t element = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::size_t all = static_cast<std::size_t>(p.heads) * kHead * kState;
  if (element >= all) {
    return;
  }
  const std::size_t sequence = blockIdx.y;
  const std::size_t head = element / (kHead * kState);
  float state = 0.0F;
  for (int chunk = 0; chunk < p.chunks; ++chunk) {
    const std::size_t place = sequence * p.chunks + chunk;
    float& stored = p.states[place * all + element];
    const float added = stored;
    stored = state;
    state = p.decays[place * p.heads + head] * state + added;
  }
}

struct OutputShared {
  alignas(32) bf16 c[kChunk][kState + kPad];
  alignas(32) bf16 b[kChunk][kState + kPad];  // then the state at the start, [head][state]
  alignas(32) bf16 x[kChunk][kHead + kPad];
  alignas(32) bf16 weights[kChunk][kChunk + kPad];
  alignas(32) float scores[kChunk][kChunk + 4];  // then the outputs
  float steps[kChunk], sums[kChunk];
};

// y_t = Σ_{s≤t} (C_t·B_s)·exp(sums_t − sums_s)·dt_s·x_s + exp(sums_t)·S·C_t. Grid: chunks, heads, sequences.
__global__ void __launch_bounds__(kThreads) chunk_output_kernel(Problem p) {
  extern __shared__ __align__(128) unsigned char memory[];
  OutputShared& s = *reinterpret_cast<OutputShared*>(memory);
  const Part at = part_of(p);
  const auto thread = static_cast<int>(threadIdx.x);
  const int row = thread / 32 * kSide;  // of the chunk: 16 tokens a warp
  load_steps(p, at, s.steps, s.sums);
  const std::size_t shared_place = (at.first_token * p.groups + at.group) * kState;
  const std::size_t shared_stride = static_cast<std::size_t>(p.groups) * kState;
  load_rows<kState>(s.c, p.c + shared_place, shared_stride);
  load_rows<kState>(s.b, p.b + shared_place, shared_stride);
  load_rows<kHead>(s.x, p.x + (at.first_token * p.heads + at.head) * kHead,
                   static_cast<std::size_t>(p.heads) * kHead);
  __syncthreads();

  for (int column = 0; column <= row; column += kSide) {
    Sum sum;
    wmma::fill_fragment(sum, 0.0F);
    for (int n = 0; n < kState; n += kSide) {
      Left<wmma::row_major> left;
      Right<wmma::col_major> right;  // Bᵀ
      wmma::load_matrix_sync(left, &s.c[row][n], kState + kPad);
      wmma::load_matrix_sync(right, &s.b[column][n], kState + kPad);
      wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(&s.scores[row][column], sum, kChunk + 4, wmma::mem_row_major);
  }
  __syncthreads();

  for (int i = thread; i < kChunk * kChunk; i += kThreads) {
    const int t = i / kChunk;
    const int from = i % kChunk;
    const float weight =
        from <= t ? s.scores[t][from] * __expf(s.sums[t] - s.sums[from]) * s.steps[from] : 0.0F;
    s.weights[t][from] = __float2bfloat16(weight);
  }
  for (int i = thread; i < kChunk * kState; i += kThreads) {
    const int t = i / kState;
    const int n = i % kState;
    s.c[t][n] = __float2bfloat16(__bfloat162float(s.c[t][n]) * __expf(s.sums[t]));
    s.b[t][n] = __float2bfloat16(p.states[at.state + i]);  // kHead rows, as many as kChunk
  }
  __syncthreads();

  for (int column = 0; column < kHead; column += kSide) {
    Sum sum;
    wmma::fill_fragment(sum, 0.0F);
    for (int from = 0; from <= row; from += kSide) {
      Left<wmma::row_major> left;
      Right<wmma::row_major> right;
      wmma::load_matrix_sync(left, &s.weights[row][from], kChunk + kPad);
      wmma::load_matrix_sync(right, &s.x[from][column], kHead + kPad);
      wmma::mma_sync(sum, left, right, sum);
    }
    for (int n = 0; n < kState; n += kSide) {
      Left<wmma::row_major> left;
      Right<wmma::col_major> right;  // Sᵀ
      wmma::load_matrix_sync(left, &s.c[row][n], kState + kPad);
      wmma::load_matrix_sync(right, &s.b[column][n], kState + kPad);
      wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(&s.scores[row][column], sum, kChunk + 4, wmma::mem_row_major);
  }
  __syncthreads();
  for (int i = thread; i < kChunk * kHead; i += kThreads) {
    const int t = i / kHead;
    p.y[((at.first_token + t) * p.heads + at.head) * kHead + i % kHead] =
        __float2bfloat16(s.scores[t][i % kHead]);
  }
}

// One token: the state is read and written once. A warp takes rows of the head, a lane four elements of the state.
// Grid: heads, sequences.
__global__ void __launch_bounds__(kThreads) update_kernel(Problem p) {
  const std::size_t sequence = blockIdx.y;
  const int head = static_cast<int>(blockIdx.x);
  const int group = head / (p.heads / p.groups);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::size_t own = sequence * p.heads + head;
  const float step = p.dt[own];
  const float decay = __expf(step * p.a[head]);
  const std::size_t shared_place = (sequence * p.groups + group) * kState + lane * 4;
  float b[4];
  float c[4];
  for (int i = 0; i < 4; ++i) {
    b[i] = __bfloat162float(p.b[shared_place + i]) * step;
    c[i] = __bfloat162float(p.c[shared_place + i]);
  }
  auto* state = reinterpret_cast<float4*>(p.states + own * kHead * kState);
#pragma unroll 4
  for (int row = static_cast<int>(threadIdx.x) / 32; row < kHead; row += kWarps) {
    const float x = __bfloat162float(p.x[own * kHead + row]);
    float4 s = state[row * (kState / 4) + lane];
    s.x = s.x * decay + x * b[0];
    s.y = s.y * decay + x * b[1];
    s.z = s.z * decay + x * b[2];
    s.w = s.w * decay + x * b[3];
    state[row * (kState / 4) + lane] = s;
    float y = s.x * c[0] + s.y * c[1] + s.z * c[2] + s.w * c[3];
    for (int offset = 16; offset > 0; offset /= 2) {
      y += __shfl_xor_sync(0xffffffffU, y, offset);
    }
    if (lane == 0) {
      p.y[own * kHead + row] = __float2bfloat16(y);
    }
  }
}

// Token by token in fp32, a thread for each row of a head. Grid: heads, sequences; kHead threads.
__global__ void reference_kernel(Problem p, const float* first_states, float* out) {
  const std::size_t sequence = blockIdx.y;
  const int head = static_cast<int>(blockIdx.x);
  const int row = static_cast<int>(threadIdx.x);
  const int group = head / (p.heads / p.groups);
  float state[kState];
  for (int n = 0; n < kState; ++n) {
    state[n] = first_states == nullptr
                   ? 0.0F
                   : first_states[((sequence * p.heads + head) * kHead + row) * kState + n];
  }
  for (int t = 0; t < p.tokens; ++t) {
    const std::size_t token = sequence * p.tokens + t;
    const float step = p.dt[token * p.heads + head];
    const float decay = expf(step * p.a[head]);
    const float x = __bfloat162float(p.x[(token * p.heads + head) * kHead + row]);
    float y = 0.0F;
    for (int n = 0; n < kState; ++n) {
      const std::size_t place = (token * p.groups + group) * kState + n;
      state[n] = state[n] * decay + step * x * __bfloat162float(p.b[place]);
      y += state[n] * __bfloat162float(p.c[place]);
    }
    out[(token * p.heads + head) * kHead + row] = y;
  }
}

// Uniform values u become base + factor · |u|.
__global__ void one_sided_kernel(float* values, std::size_t count, float base, float factor) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) {
    values[i] = base + factor * fabsf(values[i]);
  }
}

class Layer {
 public:
  Layer(const Stream& stream, const MambaShape& shape)
      : shape_(shape), update_(shape.tokens == 1), tokens_(at(shape.batch * shape.tokens)) {
    const auto heads = at(shape.heads);
    const auto groups = at(shape.groups);
    const std::size_t chunks = update_ ? 1 : at(shape.tokens) / kChunk;
    if (!update_ && shape.tokens % kChunk != 0) {
      throw std::runtime_error("the scan takes whole chunks of 64 tokens");
    }
    x_ = DeviceMemory(tokens_ * heads * kHead * sizeof(bf16));
    y_ = DeviceMemory(x_.bytes());
    b_ = DeviceMemory(tokens_ * groups * kState * sizeof(bf16));
    c_ = DeviceMemory(b_.bytes());
    dt_ = DeviceMemory(tokens_ * heads * sizeof(float));
    a_ = DeviceMemory(heads * sizeof(float));
    states_ = DeviceMemory(at(shape.batch) * chunks * heads * kHead * kState * sizeof(float));
    decays_ = DeviceMemory(at(shape.batch) * chunks * heads * sizeof(float));
    fill(x_, Format::bf16, sizeof(bf16), 1, stream);
    fill(b_, Format::bf16, sizeof(bf16), 2, stream);
    fill(c_, Format::bf16, sizeof(bf16), 3, stream);
    fill(dt_, Format::fp32, sizeof(float), 4, stream);
    fill(a_, Format::fp32, sizeof(float), 5, stream);
    fill(states_, Format::fp32, sizeof(float), 6, stream);
    one_sided(dt_, 0.001F, 0.1F, stream);
    one_sided(a_, -0.5F, -4.0F, stream);
    stream.wait();
    problem_ = {x_.as<bf16>(),
                dt_.as<float>(),
                a_.as<float>(),
                b_.as<bf16>(),
                c_.as<bf16>(),
                y_.as<bf16>(),
                states_.as<float>(),
                decays_.as<float>(),
                static_cast<int>(shape.tokens),
                static_cast<int>(shape.heads),
                static_cast<int>(shape.groups),
                static_cast<int>(chunks)};
    check(cudaFuncSetAttribute(chunk_output_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(sizeof(OutputShared))),
          "asking for shared memory");
  }

  void launch(const Stream& stream) const {
    const auto heads = static_cast<unsigned>(shape_.heads);
    const auto batch = static_cast<unsigned>(shape_.batch);
    if (update_) {
      update_kernel<<<dim3(heads, batch), kThreads, 0, stream>>>(problem_);
      check_launch("updating a state");
      return;
    }
    const dim3 parts(static_cast<unsigned>(problem_.chunks), heads, batch);
    chunk_state_kernel<<<parts, kThreads, 0, stream>>>(problem_);
    check_launch("states of chunks");
    constexpr unsigned kPassThreads = 256;
    pass_states_kernel<<<dim3(heads * kHead * kState / kPassThreads, batch), kPassThreads, 0,
                         stream>>>(problem_);
    check_launch("passing states on");
    chunk_output_kernel<<<parts, kThreads, sizeof(OutputShared), stream>>>(problem_);
    check_launch("outputs of chunks");
  }

  double error(const Stream& stream) const {
    const std::size_t values = tokens_ * at(shape_.heads) * kHead;
    const DeviceMemory expected(values * sizeof(float));
    const dim3 grid(static_cast<unsigned>(shape_.heads), static_cast<unsigned>(shape_.batch));
    reference_kernel<<<grid, kHead, 0, stream>>>(problem_, update_ ? problem_.states : nullptr,
                                                 expected.as<float>());
    check_launch("the reference of a scan");
    launch(stream);
    stream.wait();
    return relative_error(floats(to_host(y_.as<bf16>(), values)),
                          to_host(expected.as<float>(), values));
  }

 private:
  static std::size_t at(std::int64_t count) { return static_cast<std::size_t>(count); }
  static void fill(const DeviceMemory& memory, Format format, std::size_t size, std::uint32_t seed,
                   const Stream& stream) {
    fill_random(memory.as<void>(), memory.bytes() / size, format, 1.0F, seed, stream);
  }
  static void one_sided(const DeviceMemory& memory, float base, float factor,
                        const Stream& stream) {
    const std::size_t count = memory.bytes() / sizeof(float);
    one_sided_kernel<<<static_cast<unsigned>((count + 255) / 256), 256, 0, stream>>>(
        memory.as<float>(), count, base, factor);
    check_launch("steps and decays");
  }

  MambaShape shape_;
  bool update_;
  std::size_t tokens_;
  DeviceMemory x_, y_, b_, c_, dt_, a_, states_, decays_;
  Problem problem_{};
};

// Empty, or by how much the kernels miss the reference.
std::string wrong(const Stream& stream, std::int64_t tokens) {
  constexpr double kTolerance = 0.03;
  const double error = Layer(stream, {2, tokens, 16, 8, 0}).error(stream);
  return error <= kTolerance ? std::string()
                             : "the kernel is off its reference by " + std::to_string(error);
}

}  // namespace

void run_mamba2(SuiteRun& run) {
  const Stream stream;
  Table table(run.directory, layout("mamba2"), run.subject);
  for (const bool update : {true, false}) {
    std::string reason = "the kernel was not checked";
    for (const MambaShape& s : update ? mamba_update_shapes() : mamba_scan_shapes()) {
      run.row(table,
              {std::string(update ? "selective_state_update" : "mamba_chunk_scan_combined"),
               std::string(update ? "generation" : "context"), s.batch, s.tokens,
               s.batch * s.tokens, s.d_model, std::int64_t{kState}, std::int64_t{4}, s.heads,
               std::int64_t{kHead}, s.groups, std::int64_t{kChunk}, std::string()},
              [&] {
                if (!reason.empty()) {
                  reason = wrong(stream, update ? 1 : 5 * kChunk);
                }
                if (!reason.empty()) {
                  throw std::runtime_error(reason);
                }
                const Layer layer(stream, s);
                return cells_of(time_launches(stream, [&](int) { layer.launch(stream); }), 1e3);
              });
    }
  }
}

}  // namespace roofcast::bench
