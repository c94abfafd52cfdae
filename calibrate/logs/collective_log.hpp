// SPDX-License-Identifier: Apache-2.0
//
// What nccl-tests print: one collective at growing sizes.
//
//   # nThread 1 nGpus 8 minBytes … maxBytes …
//   #  Rank  0 Group  0 Pid … on host device  0 [0x1b] NVIDIA H100 80GB HBM3
//   #       size         count      type   redop    root     time   algbw   busbw #wrong     time …
//      268435456      67108864     float     sum      -1   1119.8  239.71  419.49      0   1117.4 …
//
// The first time, algbw and busbw are out of place, in us and GB/s; algbw = size / time, busbw = algbw times
//
//   all-reduce                                2(n − 1) / n
//   all-gather, reduce-scatter, all-to-all     (n − 1) / n
//   broadcast, send/receive                    1
//
// so that busbw of a ring is the rate of each link whatever the ranks (NVIDIA/nccl-tests@dcf8189
// doc/PERFORMANCE.md). Ranks are those listed; where they are not, those that busbw / algbw tells. Which
// collective it is, the name of the program tells, and where that is not in the log a factor above 1, which
// only an all-reduce has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "workloads/graph/operator.hpp"

namespace roofcast::calibrate {

struct CollectiveTime {
  double bytes = 0.0;      // as workloads::Collective counts them
  double seconds = 0.0;    // out of place
  double algorithm = 0.0;  // bytes/s
  double bus = 0.0;
};

struct CollectiveLog {
  std::string name;
  workloads::CollectiveKind kind = workloads::CollectiveKind::all_reduce;
  std::int64_t ranks = 0;
  std::int64_t hosts = 0;             // 0 where ranks are not listed
  std::string gpu;                    // as the log calls the first rank's
  std::vector<CollectiveTime> times;  // at least one
};

double bus_factor(workloads::CollectiveKind kind, std::int64_t ranks);

// InputError for what cannot be read.
CollectiveLog read_collective_log(const std::filesystem::path& file);

}  // namespace roofcast::calibrate
