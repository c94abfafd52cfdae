// SPDX-License-Identifier: Apache-2.0
#include "cli/catalog/larger_systems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"
#include "cli/catalog/catalogs.hpp"
#include "hardware/system.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kMostSystems = 6;

hardware::System system_of(const std::string& id) {
  const base::Node part = resolved(base::load_entry(hardware::system_catalog(), id), "system");
  base::Problems problems;
  hardware::System system;
  base::Fields fields(part, "", problems);
  read(fields, system);
  problems.throw_if_any();
  return system;
}

}  // namespace

std::string larger_systems(const sim::Scenario& scenario, const sim::ServingEstimate& estimate) {
  const auto* size = std::get_if<sim::infeasible::SystemSize>(&estimate.infeasible);
  if (size == nullptr) {
    return {};
  }
  std::vector<std::tuple<bool, std::int64_t, std::string>> found;  // another chip, chips, id
  for (const std::string& id : base::catalog_ids(hardware::system_catalog())) {
    const hardware::System system = system_of(id);
    if (system.chips >= size->gpus) {
      found.emplace_back(system.chip.name != scenario.platform.system.chip.name, system.chips, id);
    }
  }
  std::sort(found.begin(), found.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(found.size(), kMostSystems); ++i) {
    const auto& [other, chips, id] = found[i];
    text += fmt::format("{}{} ({}{})", i == 0 ? "systems with as many: " : ", ", id, chips,
                        other ? "" : ", the same chip");
  }
  return text;
}

}  // namespace roofcast::cli
