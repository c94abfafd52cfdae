// SPDX-License-Identifier: Apache-2.0
//
// What a measured kernel of experts does: calibrate/conventions/expert_kernels.yaml.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "calibrate/conventions/read_settings.hpp"

namespace roofcast::calibrate {

struct ExpertKernel {
  std::optional<bool> gated;  // none: as the model has it
  // Rows of other ranks' experts are activated and combined too, as zeros.
  bool keeps_all_rows = false;
  bool alternative_kernel = false;  // GroupedGemm::alternative_kernel
  bool untuned = false;             // no parameter is fitted to it
};

class ExpertKernels {
 public:
  ExpertKernels();
  const ExpertKernel& of(std::string_view kernel, std::string_view chip);

 private:
  ReadSettings<ExpertKernel> conventions_;
  std::map<std::pair<std::string, std::string>, ExpertKernel, std::less<>> known_;
};

// Whether the experts of the catalog's model with so many experts of that width, of which a token takes top_k, have a
// gate; true where no model has such experts.
bool has_gated_experts(std::int64_t experts, std::int64_t top_k, std::int64_t intermediate);

}  // namespace roofcast::calibrate
