// SPDX-License-Identifier: Apache-2.0
//
// Blast radius: what a training run loses when a part of the cluster fails.
//
// GPUs are numbered through the cluster: those of a host one after another, hosts of a scale-up domain one after another.
// Rank i is on GPU i, in the order of `training.rank_order`. The first part of each kind fails.
//
//   part            takes out
//   GPU, host       its host: the GPUs of a scale-up domain, at most 8
//   rack            a whole scale-up domain, where it has several hosts; otherwise `hosts_per_rack` of the system, or
//                   hardware::kUsualHostsPerRack
//   leaf switch     P/2 NICs of a switch of P ports: in a rail-optimised fabric those at the same position of P/2 domains,
//                   otherwise those of consecutive GPUs
//   spine switch    no GPU. One of n = P/(2·oversubscription) spines: the others carry 1 − 1/n of what all did
//
//   GPUs, hosts     that are out of service
//   replicas        data-parallel ranks with a GPU among them
//   lost            detection + restart + read of the checkpoint + (interval + stall)/2 + save: time of all GPUs
//                   Copies in the memory of other hosts instead, where the part is one host: half of their interval.
//   rest            throughput while the part is out, if the job goes on without those replicas, or with fewer spines.
//                   Where replicas share experts, whole groups of those that do are left
//
// The whole job stops unless no GPU is out. Valid where links and switches have no spare of their own. Sources: the
// process of sim/training/run_model.hpp; leaves and spines of a folded Clos network, stas00/ml-engineering@744d01e network.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/document/node.hpp"
#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

struct FailedPart {
  std::string part;
  std::int64_t gpus = 0;
  std::int64_t hosts = 0;
  std::int64_t replicas = 0;
  bool stops = true;
  base::Seconds lost;
  double gpu_hours = 0;
  double usd = 0;  // NaN if the price is not known
  double rest = 0;
};

struct BlastRadius {
  ServingEstimate estimate;  // of the run; the parts are empty where it does not fit
  std::int64_t replicas = 0;
  std::int64_t gpus_of_host = 0;
  std::int64_t hosts_of_rack = 0;
  bool rack_is_assumed = false;  // nobody told how many hosts it has
  std::vector<FailedPart> parts;
};

// `ports`: of a switch. Throws InputError if the scenario has no `run`.
BlastRadius blast_radius(const base::Node& document, std::int64_t ports);

}  // namespace roofcast::sim
