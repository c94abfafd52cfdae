// SPDX-License-Identifier: Apache-2.0
#include "calibrate/operators/expert_kernels.hpp"

#include <algorithm>
#include <vector>

#include "base/document/fields.hpp"
#include "calibrate/platforms/named_parts.hpp"

namespace roofcast::calibrate {
const ExpertKernel& ExpertKernels::of(std::string_view kernel, std::string_view chip) {
  const std::pair<std::string, std::string> key{kernel, chip};
  const auto found = known_.find(key);
  if (found != known_.end()) {
    return found->second;
  }
  const hardware::Chip* known = chip_called(chip);
  Facts facts;
  facts.set("kernel", kernel);
  facts.set("chip.architecture", known != nullptr ? known->architecture : "");
  base::Problems problems;
  const base::Node document = run_settings(conventions_.settings(facts), problems);
  base::Fields f(document, "run", problems);
  ExpertKernel read;
  if (f.has("gated")) {
    f.flag("gated", read.gated.emplace());
  }
  f.flag("keeps_all_rows", read.keeps_all_rows, base::optional);
  f.flag("alternative_kernel", read.alternative_kernel, base::optional);
  f.flag("untuned", read.untuned, base::optional);
  f.end();
  problems.throw_if_any();
  return known_.emplace(key, read).first->second;
}

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
