// SPDX-License-Identifier: Apache-2.0
//
// The deployments that a model can have on a budget of GPUs.
//
//   mapping     TP a power of two inside a scale-up domain.
//               EP 1 or TP; with attention DP, which is for models with experts only, EP = TP · DP.
//               PP a power of two, without attention DP, where TP fills the domain or GPUs are joined by PCIe.
//               Whatever does not divide the model is left out (workloads/architecture/mapping.hpp).
//   one pool    replicas of one mapping
//   two pools   replicas that compute prompts, and replicas that decode; both without PP
//
//   load        replicas of one pool               replicas of two pools
//   free        as many as the budget holds        prompts get 1/8 to 6/8 of the GPUs, the decodes what is left
//   fixed       1, 2, … 16, 18, … as many          1, 2, 3, 4, 6, 8, 12, … of each, as many
//               as the budget holds                as the budget holds
//
// With a free load, more clients come with more replicas. With a fixed one, fewer replicas may do. So the deployments of
// a fixed load are also among those of a larger budget.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hardware/system.hpp"
#include "workloads/serving/deployment.hpp"

namespace roofcast::sim {

enum class Load : std::uint8_t { free, fixed };

// 1, 2, … up to `most`: `per_octave` numbers from one power of two to the next, all of them while they are fewer.
std::vector<std::int64_t> counts(std::int64_t most, std::int64_t per_octave);

// A deployment and its number of replicas. Limits of its pools are those of `serving:`.
struct Shape {
  workloads::Pool main;                    // all replicas, or those that decode
  std::optional<workloads::Pool> prompts;  // of two pools

  std::int64_t gpus() const { return main.ranks() + (prompts ? prompts->ranks() : 0); }
};

// "8 x TP4 EP4", "prefill 2 x TP4, decode 3 x TP2 DP4 EP8". Unlike shapes have unlike names.
std::string name(const Shape& shape);

std::vector<workloads::Mapping> legal_mappings(const workloads::Architecture& model,
                                               const hardware::System& system, std::int64_t gpus);

std::vector<Shape> shapes_of_one_pool(const std::vector<workloads::Mapping>& mappings,
                                      std::int64_t gpus, Load load);

// The pool that computes prompts stays inside a scale-up domain of so many GPUs.
std::vector<Shape> shapes_of_two_pools(const std::vector<workloads::Mapping>& mappings,
                                       std::int64_t domain, std::int64_t gpus, Load load);

}  // namespace roofcast::sim
