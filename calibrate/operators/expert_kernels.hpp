// SPDX-License-Identifier: Apache-2.0
//
// What a measured kernel of experts does: calibrate/conventions/expert_kernels.yaml.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "calibrate/conventions/read_settings.hpp"

namespace roofcast::calibrate {

struct ExpertKernel {
  std::optional<bool> gated;  // none: as the model has it
  // Rows of other ranks' experts are activated and combined too, as zeros.
  bool keeps_all_rows = false;
  bool alternative_kernel = false;  // GroupedGemm::alternative_kernel
  bool searches_experts = false;    // ExpertRouting::searched_experts
  bool untuned = false;             // no parameter is fitted to it
  // A token's choices are in at most so many groups of experts, of so many.
  std::int64_t groups = 1;
  std::int64_t kept_groups = 1;
};

// The fused experts of a row.
struct ExpertShape {
  std::int64_t hidden = 0;
  std::int64_t experts = 0;
  std::int64_t top_k = 0;
  std::string format;  // as the table names it
  friend auto operator<=>(const ExpertShape&, const ExpertShape&) = default;
};

class ExpertKernels {
 public:
  ExpertKernels();
  const ExpertKernel& of(std::string_view kernel, std::string_view chip, const ExpertShape& shape);

 private:
  ReadSettings<ExpertKernel> conventions_;
  std::map<std::tuple<std::string, std::string, ExpertShape>, ExpertKernel> known_;
};

// Whether the experts of the catalog's model with so many experts of that width, of which a token takes top_k, have a
// gate; true where no model has such experts.
bool has_gated_experts(std::int64_t experts, std::int64_t top_k, std::int64_t intermediate);

}  // namespace roofcast::calibrate
