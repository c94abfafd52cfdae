// SPDX-License-Identifier: Apache-2.0
#include "calibrate/chip_platforms.hpp"

namespace roofcast::calibrate {
namespace {

constexpr std::pair<std::string_view, std::string_view> kSystems[] = {
    {"a100_sxm", "hgx_a100"}, {"h100_sxm", "hgx_h100"},
    {"h200_sxm", "hgx_h200"}, {"b200_sxm", "hgx_b200"},
    {"b300_sxm", "hgx_b300"}, {"gb200", "gb200_nvl72"},
    {"l40s", "l40s_pcie_x8"}, {"rtx_pro_6000_server", "rtx_pro_6000_pcie_x8"},
};

}  // namespace

const sim::Platform* ChipPlatforms::find(std::string_view chip) {
  if (const auto known = platforms_.find(chip); known != platforms_.end()) {
    return &known->second;
  }
  for (const auto& [name, system] : kSystems) {
    if (name == chip) {
      base::Problems problems;
      base::Node document;
      document["system"] = base::scalar_node(std::string(system), {});
      if (!calibration_.empty()) {
        sim::set_knob(document, "system.calibration", {}, base::scalar_node(calibration_, {}),
                      problems);
      }
      sim::load_references(document, problems);
      sim::Platform platform = sim::read_platform(document, problems);
      problems.throw_if_any();
      return &platforms_.emplace(std::string(chip), std::move(platform)).first->second;
    }
  }
  return nullptr;
}

}  // namespace roofcast::calibrate
