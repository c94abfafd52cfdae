// SPDX-License-Identifier: Apache-2.0
//
// Kernels that ran on a GPU, by name, as profilers tell them:
//
//   kernel_summary  `nsys stats --report cuda_gpu_kern_sum --format csv`: Total Time (ns), Instances, Name. Of
//                   all GPUs of the report together, without copies and without the time between kernels
//   kernel_list     `nsys stats --report cuda_gpu_trace --format csv`: Start (ns), Duration (ns), Device, Name. With
//                   copies
//   kernel_counters `ncu --csv`: Kernel Name with Duration or gpu__time_duration.sum, a line for each metric or for each
//                   kernel (--page raw)
//   kernel_trace    the PyTorch profiler's Chrome trace: events of category kernel, gpu_memcpy and gpu_memset
//                   with ts and dur in us; steps are the events "ProfilerStep#N". Read as a stream
#pragma once

#include <filesystem>
#include <string_view>

#include "calibrate/logs/kernel_times.hpp"
#include "calibrate/logs/measured_log.hpp"

namespace roofcast::calibrate {

// InputError for what cannot be read.
KernelProfile read_kernel_profile(const std::filesystem::path& file, LogFormat format);

// Which operators' time a kernel's is, by its name: a category of workloads::category, "copy", or "other" where
// no pattern is in it.
std::string_view kernel_kind(std::string_view kernel);

}  // namespace roofcast::calibrate
