// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster/blast_radius.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/integers.hpp"
#include "sim/estimate.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/training/training_run.hpp"

namespace roofcast::sim {
namespace {

using base::as_double;
using base::Seconds;

class Cluster {
 public:
  Cluster(const Scenario& scenario, const BlastRadius& result)
      : s_(scenario),
        result_(result),
        run_(run_model(view(scenario), result.estimate.workflow->step(),
                       result.estimate.workflow->step_tokens(), result.estimate.gpus)) {}

  // `count` GPUs, `stride` apart from the first.
  FailedPart failed(std::string name, std::int64_t count, std::int64_t stride) const {
    const workloads::Mapping& m = s_.deployment.mapping;
    const std::int64_t all = result_.estimate.gpus;
    FailedPart part;
    part.part = std::move(name);
    std::set<std::int64_t> hosts;
    std::set<std::int64_t> replicas;
    for (std::int64_t i = 0; i < count && i * stride < all; ++i) {
      const std::int64_t gpu = i * stride;
      ++part.gpus;
      hosts.insert(gpu / result_.gpus_of_host);
      replicas.insert(gpu / replica_stride() % m.data_parallel);
    }
    part.hosts = static_cast<std::int64_t>(hosts.size());
    part.replicas = static_cast<std::int64_t>(replicas.size());
    part.lost = lost(part.hosts);
    part.gpu_hours = as_double(all) * part.lost.si() / 3600.0;
    part.usd = result_.estimate.economics.usd_per_second * part.lost.si();
    const std::int64_t left = m.data_parallel - part.replicas;
    part.rest = as_double(left - left % workloads::replicas_together(s_.model, m)) /
                as_double(m.data_parallel);
    return part;
  }

 private:
  // GPUs from one data-parallel rank to the next.
  std::int64_t replica_stride() const {
    const workloads::Mapping& m = s_.deployment.mapping;
    const bool stages_first = s_.training.rank_order == workloads::RankOrder::pipeline_then_data;
    return m.tensor_parallel * m.context_parallel * (stages_first ? m.pipeline_parallel : 1);
  }
  Seconds lost(std::int64_t hosts) const {
    const workloads::TrainingRun& run = s_.run;
    const Seconds down = run.detection + restart_time(run, result_.estimate.gpus);
    if (hosts == 1 && run.checkpoint.memory && run.checkpoint.memory->recovers > 0.0) {
      const RunModel::Tier& memory = run_.tiers.front();
      return down + 0.5 * (memory.interval + memory.stall);
    }
    return down + run_.read + 0.5 * (run_.interval + run_.stall) + run_.save;
  }

  const Scenario& s_;
  const BlastRadius& result_;
  RunModel run_;
};

double spines_of(const hardware::System& system, std::int64_t ports) {
  return as_double(ports) / 2.0 / system.oversubscription;
}

// A spine of n is gone: the step with what the others carry.
FailedPart slower_by_a_spine(const base::Node& document, const Scenario& s,
                             const BlastRadius& result, std::int64_t ports) {
  const double oversubscription = s.platform.system.oversubscription;
  const double spines = spines_of(s.platform.system, ports);
  FailedPart part;
  part.part = "spine switch";
  part.stops = false;
  base::Node slower = document;
  base::Problems problems;
  set_knob(slower,
           base::Source{"without a spine switch",
                        fmt::format("system.scale_out.oversubscription={:.17g}",
                                    oversubscription * spines / (spines - 1.0)),
                        {}},
           problems);
  problems.throw_if_any();
  Workspace workspace;
  const Scenario scenario = read_scenario(slower);
  const ServingEstimate e = estimate(view(scenario), workspace);
  part.rest = result.estimate.workflow->step() / e.workflow->step();
  return part;
}

}  // namespace

BlastRadius blast_radius(const base::Node& document, std::int64_t ports) {
  const Scenario s = read_scenario(document);
  if (!s.run.enabled()) {
    throw base::InputError(
        "error: the scenario has no `run`, which says how failures and restarts are\n");
  }
  BlastRadius result;
  Workspace workspace;
  result.estimate = estimate(view(s), workspace);
  result.replicas = s.deployment.mapping.data_parallel;
  const hardware::System& system = s.platform.system;
  result.gpus_of_host = system.gpus_of_host();
  const bool domain_is_rack = system.scale_up_domain > result.gpus_of_host;
  result.rack_is_assumed = !domain_is_rack && !system.hosts_per_rack;
  result.hosts_of_rack = system.hosts_of_rack();
  if (!result.estimate.fits()) {
    return result;
  }
  const Cluster cluster(s, result);
  const std::int64_t host = result.gpus_of_host;
  const std::int64_t domain = system.scale_up_domain;
  result.parts.push_back(cluster.failed("GPU or host", host, 1));
  if (result.hosts_of_rack > 1 && (domain > host || result.estimate.gpus > host)) {
    result.parts.push_back(cluster.failed("rack", result.hosts_of_rack * host, 1));
  }
  if (result.estimate.gpus > domain) {
    result.parts.push_back(system.rail_optimised
                               ? cluster.failed("leaf switch of a rail", ports / 2, domain)
                               : cluster.failed("leaf switch", ports / 2, 1));
    result.parts.push_back(spines_of(system, ports) > 1.0
                               ? slower_by_a_spine(document, s, result, ports)
                               : cluster.failed("spine switch", result.estimate.gpus, 1));
  }
  return result;
}

}  // namespace roofcast::sim
