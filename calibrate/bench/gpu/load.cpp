// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "calibrate/bench/gpu/load.cuh"

namespace roofcast::bench {
namespace {

constexpr int kWeightCopies = 5;
constexpr int kCopies = 4;
constexpr double kRound = 10e-3;  // seconds

}  // namespace

GemmLoad::GemmLoad(const Stream& stream, const GemmType& type, const GemmShape& shape)
    : stream_(stream), gemm_(type, shape), operands_(stream, type, shape, kWeightCopies) {
  const auto launch = [&](int turn) { operands_.launch(gemm_, turn, stream_); };
  Timing quick;
  quick.turns = kWeightCopies;
  quick.samples = 3;
  const double once = time_launches(stream_, launch, quick).median;
  gemms_ = kWeightCopies * std::max(1, static_cast<int>(kRound / once) / kWeightCopies);
  graph_ = std::make_unique<Graph>(stream_, [&] {
    for (int i = 0; i < gemms_; ++i) {
      launch(i);
    }
  });
}

void GemmLoad::round() const {
  graph_->launch(stream_);
  stream_.wait();
}

std::size_t CopyLoad::most_bytes() { return std::min(std::size_t{2} << 30, free_memory() / 4); }

CopyLoad::CopyLoad(const Stream& stream, std::size_t bytes)
    : stream_(stream), from_(bytes), to_(bytes) {
  fill_random(from_.as<void>(), bytes / sizeof(float), Format::fp32, 1.0F, 1, stream);
}

void CopyLoad::round() const {
  for (int i = 0; i < kCopies; ++i) {
    check(cudaMemcpyAsync(to_.as<void>(), from_.as<void>(), from_.bytes(), cudaMemcpyDeviceToDevice,
                          stream_),
          "copying on the GPU");
  }
  stream_.wait();
}

double CopyLoad::bytes() const { return kCopies * 2.0 * static_cast<double>(from_.bytes()); }

}  // namespace roofcast::bench
