// SPDX-License-Identifier: Apache-2.0
#include "calibrate/chip_platforms.hpp"

namespace roofcast::calibrate {
namespace {

constexpr std::pair<std::string_view, std::string_view> kSystems[] = {
    {"a100_sxm", "hgx_a100"},    {"h100_sxm", "hgx_h100"},
    {"h200_sxm", "hgx_h200"},    {"b200_sxm", "hgx_b200"},
    {"b300_sxm", "hgx_b300"},    {"gb200", "gb200_nvl72"},
    {"l40s", "l40s_pcie_x8"},    {"rtx_pro_6000_server", "rtx_pro_6000_pcie_x8"},
    {"rtx_4090", "rtx_4090_x1"},
};

}  // namespace

const sim::Platform* ChipPlatforms::find(std::string_view chip, std::string_view stack) {
  const std::pair key{std::string(chip), std::string(stack)};
  if (const auto known = platforms_.find(key); known != platforms_.end()) {
    return &known->second;
  }
  for (const auto& [name, system] : kSystems) {
    if (name == chip) {
      base::Problems problems;
      base::Node document;
      document["system"] = base::load_entry(hardware::system_catalog(), std::string(system));
      const bool names_one = document["system"].find("calibration") != nullptr;
      if (!calibration_.empty()) {
        document["system"]["calibration"] = base::scalar_node(calibration_, {});
      } else if (!names_one) {
        document["system"]["calibration"] = hardware::nearest_calibration(
            base::load_entry(hardware::chip_catalog(), std::string(chip)), stack, measured_);
      }
      sim::load_references(document, problems);
      sim::Platform platform = sim::read_platform(document, problems);
      problems.throw_if_any();
      return &platforms_.emplace(key, std::move(platform)).first->second;
    }
  }
  return nullptr;
}

}  // namespace roofcast::calibrate
