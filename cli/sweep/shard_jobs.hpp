// SPDX-License-Identifier: Apache-2.0
//
// The shards of a sweep as the work of an engine that runs many tasks: a Slurm job array, a list of commands, a Kubernetes
// indexed job. Each task is `roofcast sweep --shard I/N`, so a task that was lost is started again with the same line and
// goes on from its parts (cli/provenance/sweep_parts.hpp).
#pragma once

#include <cstddef>
#include <string>

#include "cli/sweep/asked_sweep.hpp"

namespace roofcast::cli {

struct ShardJobs {
  std::string program;  // path of roofcast where the tasks run
  std::string catalog;  // ROOFCAST_CATALOG of the tasks; none if empty
  AskedSweep asked;
  std::string csv;
  std::size_t shards = 1;
  unsigned threads = 1;  // of a task

  // Of Slurm.
  std::string directory;  // in which the tasks start
  std::string partition;  // none if empty
  std::string time;       // limit of a task; none if empty

  // Of Kubernetes.
  std::string image;
  std::string claim;  // the volume with the sweep, which gets the parts
};

// A script for sbatch.
std::string slurm_script(const ShardJobs& jobs);

// One line a shard, for GNU parallel or xargs.
std::string shell_commands(const ShardJobs& jobs);

// A Job of batch/v1. Each of its pods has an index, and does the shard of that number.
std::string kubernetes_job(const ShardJobs& jobs);

}  // namespace roofcast::cli
