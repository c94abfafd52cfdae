// SPDX-License-Identifier: Apache-2.0
#include "calibrate/platforms/chip_platforms.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/section_readers.hpp"

#include <span>

namespace roofcast::calibrate {
namespace {

constexpr std::pair<std::string_view, std::string_view> kSystems[] = {
    {"a100_sxm", "hgx_a100"},    {"h100_sxm", "hgx_h100"},
    {"h200_sxm", "hgx_h200"},    {"b200_sxm", "hgx_b200"},
    {"b300_sxm", "hgx_b300"},    {"gb200", "gb200_nvl72"},
    {"l40s", "l40s_pcie_x8"},    {"rtx_pro_6000_server", "rtx_pro_6000_pcie_x8"},
    {"rtx_4090", "rtx_4090_x1"},
};

constexpr std::pair<std::string_view, std::string_view> kClusters[] = {
    {"a100_sxm", "a100_cluster_128"}, {"h100_sxm", "h100_cluster_128"},
    {"h200_sxm", "h200_cluster_128"}, {"b200_sxm", "b200_cluster_128"},
    {"gb200", "gb200_nvl72"},
};

std::string_view system_of(std::span<const std::pair<std::string_view, std::string_view>> systems,
                           std::string_view chip) {
  for (const auto& [name, system] : systems) {
    if (name == chip) {
      return system;
    }
  }
  return {};
}

}  // namespace

const sim::Platform* ChipPlatforms::find(std::string_view chip, std::string_view stack) {
  return load(system_of(kSystems, chip), chip, stack);
}

const sim::Platform* ChipPlatforms::find_cluster(std::string_view chip, std::string_view stack) {
  return load(system_of(kClusters, chip), chip, stack);
}

const sim::Platform* ChipPlatforms::load(std::string_view system, std::string_view chip,
                                         std::string_view stack) {
  if (system.empty()) {
    return nullptr;
  }
  const std::pair key{std::string(system), std::string(stack)};
  if (const auto known = platforms_.find(key); known != platforms_.end()) {
    return &known->second;
  }
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

}  // namespace roofcast::calibrate
