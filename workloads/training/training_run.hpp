// SPDX-License-Identifier: Apache-2.0
//
// The `run:` section: the whole training run around the optimizer step.
//
//   run:
//     tokens: 15.6e12               # or `steps`, or `days`: how much is trained in them
//     failures: llama3_h100         # a catalog id, a path, or rates per 1,000 GPU-days by cause; without it, kUsualFailures
//     detection: 2 min              # from a failure to its discovery
//     silent_detection: 1 h         # of silent corruption: what is computed meanwhile is lost
//     restart: {time: 5 min, per_thousand_gpus: 5 s}
//     repair: 1 d                   # of a host that failed; it goes back to the spares
//     spare_hosts: 16               # without it there is always one
//     checkpoint:
//       interval: 10 min            # of useful time; without it, the best one
//       bytes_per_parameter: 14     # bf16 parameter, fp32 parameter, two moments; follows `training` without it
//       write: 1 TB/s               # all ranks together, to storage
//       read: 1 TB/s
//       asynchronous: true          # ranks go on once they have a snapshot; false: they wait for the write
//       snapshot: 25 GB/s           # of each GPU; without it, the chip's PCIe port
//       memory: {interval: 1 min, recovers: 0.6}   # copies in the memory of other hosts; the best interval without one
//       disk: {recovers: 0.2, write: 4 GB/s}       # on the hosts' own disks, of each GPU; as often as is best
//     maintenance: {every: 30 d, time: 8 h}
//     start_up: 1 h                 # once
//     stragglers: 0.02              # by which slow ranks lengthen every step
//     evaluation: {every_steps: 500, time: 2 min}    # the job stops training for it
//     shrinks: true                 # without a spare it goes on with the hosts that are left
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"
#include "base/units/quantity.hpp"

namespace roofcast::workloads {

// Why a run is interrupted.
enum class FailureCause : std::uint8_t { gpu, hbm, nic, host, network, software, silent };

struct FailureCauseKind {
  std::string_view name;
  bool takes_host;  // out of service until it is repaired
};
inline constexpr std::array<FailureCauseKind, 7> kFailureCauses = {{
    {"gpu", true},
    {"hbm", true},
    {"nic", true},
    {"host", true},
    {"network", false},
    {"software", false},
    {"silent", true},
}};

// Of a run that does not tell its failures: the largest published table with all causes.
inline constexpr std::string_view kUsualFailures = "llama3_h100";

// Interruptions of a job that nobody planned.
struct FailureRates {
  std::string id;
  std::string name;
  std::array<double, kFailureCauses.size()> per_thousand_gpu_days{};

  double total() const;  // of all causes
};

// Checkpoints nearer than storage: in the memory of other hosts, or on the hosts' own disks.
struct NearCheckpoints {
  std::optional<base::Seconds> interval;  // none: the best one
  double recovers = 0;                    // share of all failures that go on from here
  // Of each GPU, of disks.
  std::optional<base::BytesPerSecond> write;
  std::optional<base::BytesPerSecond> read;  // none: as fast as they write
};

struct Checkpoints {
  std::optional<base::Seconds> interval;
  std::optional<double> bytes_per_parameter;
  base::BytesPerSecond write;
  std::optional<base::BytesPerSecond> read;  // none: as fast as it writes
  bool asynchronous = true;
  std::optional<base::BytesPerSecond> snapshot;
  std::optional<NearCheckpoints> memory;
  std::optional<NearCheckpoints> disk;
};

struct Maintenance {
  base::Seconds every;
  base::Seconds time;
};

struct Evaluation {
  std::int64_t every_steps = 1;
  base::Seconds time;
};

struct TrainingRun {
  // One of them; the others are 0.
  double tokens = 0;
  double steps = 0;
  double days = 0;
  FailureRates failures;
  base::Seconds detection;
  std::optional<base::Seconds> silent_detection;  // none: as all failures
  base::Seconds restart;
  base::Seconds restart_per_thousand_gpus;
  base::Seconds repair;
  std::optional<std::int64_t> spare_hosts;
  Checkpoints checkpoint;
  std::optional<Maintenance> maintenance;
  base::Seconds start_up;
  double stragglers = 0;
  std::optional<Evaluation> evaluation;
  bool shrinks = false;

  bool enabled() const { return tokens > 0.0 || steps > 0.0 || days > 0.0; }
};

void read(base::Fields& f, FailureRates& failures);
void read(base::Fields& f, TrainingRun& run);

base::Catalog failure_catalog();

}  // namespace roofcast::workloads
