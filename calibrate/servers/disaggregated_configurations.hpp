// SPDX-License-Identifier: Apache-2.0
//
// The disaggregated deployments that InferenceX publishes it measures: .github/configs/nvidia-master.yaml of
// SemiAnalysisAI/InferenceX (formerly InferenceMAX). Dumps of its results name the parallel sizes of a pool at
// most, not how many workers it has nor whether they speculated.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "workloads/serving/deployment.hpp"

namespace roofcast::calibrate {

struct Configuration {
  std::int64_t year = 0;  // in which it was measured
  std::string_view stack, chip;
  std::string_view precision;  // fp8, fp4; gpt-oss: of that model
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  bool speculates = false;  // multi-token prediction
  workloads::Pools pools;
  std::vector<std::int64_t> concurrencies;  // of the whole deployment
};
const std::vector<Configuration>& disaggregated_configurations();

}  // namespace roofcast::calibrate
