// SPDX-License-Identifier: Apache-2.0
#include "calibrate/bench/chip_ids.hpp"

namespace roofcast::bench {
namespace {

constexpr std::pair<std::string_view, std::string_view> kGpus[] = {
    {"NVIDIA A10", "a10"},
    {"NVIDIA A100 80GB PCIe", "a100_pcie_80gb"},
    {"NVIDIA A100-SXM4-40GB", "a100_sxm_40gb"},
    {"NVIDIA A100-SXM4-80GB", "a100_sxm"},
    {"NVIDIA A40", "a40"},
    {"NVIDIA B200", "b200_sxm"},
    {"NVIDIA B300 SXM6 AC", "b300_sxm"},
    {"NVIDIA GB200", "gb200"},
    {"NVIDIA GB300", "gb300"},
    {"NVIDIA GH200 144G HBM3e", "gh200_141gb"},
    {"NVIDIA GH200 480GB", "gh200_96gb"},  // the 480 GB are the CPU's memory
    {"NVIDIA GeForce RTX 4090", "rtx_4090"},
    {"NVIDIA GeForce RTX 5090", "rtx_5090"},
    {"NVIDIA H100 80GB HBM3", "h100_sxm"},
    {"NVIDIA H100 NVL", "h100_nvl"},
    {"NVIDIA H100 PCIe", "h100_pcie"},
    {"NVIDIA H20", "h20"},
    {"NVIDIA H200", "h200_sxm"},
    {"NVIDIA H800", "h800_sxm"},
    {"NVIDIA L4", "l4"},
    {"NVIDIA L40S", "l40s"},
    {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx_pro_6000_server"},
    {"Tesla T4", "t4"},
    {"Tesla V100-SXM2-32GB", "v100_sxm_32gb"},
    {"Tesla V100-SXM3-32GB", "v100_sxm_32gb"},
};

}  // namespace

std::span<const std::pair<std::string_view, std::string_view>> known_gpus() { return kGpus; }

std::optional<std::string_view> chip_of(std::string_view gpu) {
  for (const auto& [name, id] : kGpus) {
    if (name == gpu) {
      return id;
    }
  }
  return std::nullopt;
}

}  // namespace roofcast::bench
