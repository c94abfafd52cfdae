// SPDX-License-Identifier: Apache-2.0
#include "calibrate/operators/expert_kernels.hpp"

#include <algorithm>
#include <vector>

#include "base/document/fields.hpp"
#include "calibrate/platforms/named_parts.hpp"

namespace roofcast::calibrate {
namespace {

ExpertKernel read_kernel(base::Fields& run) {
  ExpertKernel kernel;
  if (run.has("gated")) {
    run.flag("gated", kernel.gated.emplace());
  }
  run.flag("keeps_all_rows", kernel.keeps_all_rows, base::optional);
  run.flag("alternative_kernel", kernel.alternative_kernel, base::optional);
  run.flag("searches_experts", kernel.searches_experts, base::optional);
  run.flag("untuned", kernel.untuned, base::optional);
  run.integer("groups", kernel.groups, base::at_least_one, base::optional);
  run.integer("kept_groups", kernel.kept_groups, base::at_least_one, base::optional);
  return kernel;
}

}  // namespace

const ExpertKernel& ExpertKernels::of(std::string_view kernel, std::string_view chip,
                                      const ExpertShape& shape) {
  const std::tuple key{std::string(kernel), std::string(chip), shape};
  const auto found = known_.find(key);
  if (found != known_.end()) {
    return found->second;
  }
  const hardware::Chip* known = chip_called(chip);
  Facts facts;
  facts.set("kernel", kernel);
  facts.set("chip.architecture", known != nullptr ? known->architecture : "");
  facts.set("hidden", shape.hidden);
  facts.set("experts", shape.experts);
  facts.set("top_k", shape.top_k);
  facts.set("format", shape.format);
  return known_.emplace(key, conventions_.of(facts)).first->second;
}

ExpertKernels::ExpertKernels() : conventions_("expert_kernels", read_kernel) {}

bool has_gated_experts(std::int64_t experts, std::int64_t top_k, std::int64_t intermediate) {
  static const std::vector<const workloads::MoeShape*> all = [] {
    std::vector<const workloads::MoeShape*> shapes;
    for (const std::string& id : base::catalog_ids(workloads::model_catalog())) {
      shapes.push_back(&model_called(id)->moe);
    }
    return shapes;
  }();
  const auto found = std::find_if(all.begin(), all.end(), [&](const workloads::MoeShape* moe) {
    return moe->experts == experts && moe->top_k == top_k && moe->intermediate == intermediate;
  });
  return found == all.end() || (*found)->gated;
}

}  // namespace roofcast::calibrate
