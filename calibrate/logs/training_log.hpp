// SPDX-License-Identifier: Apache-2.0
//
// The log of a training by Megatron-LM or Megatron Bridge. Both print a line for some iterations:
//
//   [2026-01-05 12:00:00] iteration 20/ 100 | consumed samples: 5120 | elapsed time per iteration (ms): 9570.1 |
//   throughput per GPU (TFLOP/s/GPU): 460.2 | power per GPU (W/GPU): 640.0 | … | global batch size: 256 | …
//
// and Megatron-LM its arguments before them, "  micro_batch_size ..... 1". (NVIDIA/Megatron-LM@d98e8a6
// megatron/training/training.py, NVIDIA-NeMo/Megatron-Bridge@067f987 training/utils/train_utils.py.)
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/logs/serving_log.hpp"

namespace roofcast::calibrate {

struct TrainingLog {
  std::string name;
  // Lines that were counted: all but the first one, in which kernels are compiled and buffers are made.
  std::size_t lines = 0;
  std::vector<MeasuredMetric> metrics;  // medians of them

  struct Setting {
    std::string knob;  // "training.micro_batch"
    std::string value;
  };
  std::vector<Setting> settings;  // sizes of the run
};

// InputError without a line of an iteration.
TrainingLog read_training_log(const std::filesystem::path& file);

}  // namespace roofcast::calibrate
