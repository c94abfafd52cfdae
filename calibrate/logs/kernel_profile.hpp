// SPDX-License-Identifier: Apache-2.0
//
// Kernels that ran on a GPU, by name, as profilers tell them:
//
//   kernel_summary  `nsys stats --report cuda_gpu_kern_sum --format csv`: Total Time (ns), Instances, Name. Of
//                   all GPUs of the report together, without copies and without the time between kernels
//   kernel_trace    the PyTorch profiler's Chrome trace: events of category kernel, gpu_memcpy and gpu_memset
//                   with ts and dur in us; steps are the events "ProfilerStep#N". Read as a stream
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/logs/measured_log.hpp"

namespace roofcast::calibrate {

struct KernelTime {
  std::string name;
  std::int64_t runs = 0;
  double seconds = 0.0;  // of all runs
};

struct KernelProfile {
  std::string name;
  std::vector<KernelTime> kernels;  // by time, the longest first; at least one
  std::int64_t iterations = 0;      // 0 where the log tells none
  std::int64_t gpus = 1;
  // Of all GPUs, from the first kernel's start to the last one's end, and the part of it in which any runs; NaN where
  // the log does not tell when kernels ran.
  double span = std::numeric_limits<double>::quiet_NaN();
  double busy = std::numeric_limits<double>::quiet_NaN();
};

// InputError for what cannot be read.
KernelProfile read_kernel_profile(const std::filesystem::path& file, LogFormat format);

// Which operators' time a kernel's is, by its name: a category of workloads::category, "copy", or "other" where
// no pattern is in it.
std::string_view kernel_kind(std::string_view kernel);

}  // namespace roofcast::calibrate
