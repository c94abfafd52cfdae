// SPDX-License-Identifier: Apache-2.0
//
// Which activations the backward pass computes again in place of keeping them.
//
//   full                whole layers: each keeps its input only (arXiv 1604.06174)
//   or modules, each of which keeps what it starts from:
//   norms               the normalised inputs of linear layers           Megatron: layernorm
//   attention           the core of attention (selective in arXiv 2205.05198)      core_attn
//   mla_up              MLA's queries, keys and values from its latents            mla_up_proj
//   mlp                 the dense feed-forward                                     mlp
//   expert_activation   the activation function of experts                         moe_act
//   experts             the mixture, with its exchanges and shared experts         moe
//   shared_experts      shared experts                                             shared_experts
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace roofcast::workloads {

enum class Module : std::uint8_t {
  norms,
  attention,
  mla_up,
  mlp,
  expert_activation,
  experts,
  shared_experts,
};
inline constexpr std::array<std::string_view, 7> kModuleNames = {
    "norms", "attention", "mla_up", "mlp", "expert_activation", "experts", "shared_experts"};

struct Recompute {
  bool full = false;
  std::int64_t layers = 0;  // of a stage, with full; 0: all
  std::array<bool, kModuleNames.size()> modules{};

  bool has(Module module) const { return modules[static_cast<std::size_t>(module)]; }
  void add(Module module) { modules[static_cast<std::size_t>(module)] = true; }
};

}  // namespace roofcast::workloads
