// SPDX-License-Identifier: Apache-2.0
//
// One kernel with all that the models know of it. Every figure comes from the cost that an estimate uses
// (models/operators/explained_cost.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/document/problems.hpp"
#include "cli/kernels/occupancy.hpp"
#include "models/operators/explained_cost.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::cli {

struct KernelChoices {
  bool eager = false;     // the host launches it, without a CUDA graph
  std::string algorithm;  // of a collective: "ring LL128", "ring"; empty: the fastest
  std::string protocol;   // of a collective: "LL", "LL128", "Simple"; empty: of the fastest
  std::string tile;       // of a GEMM: "128x256", or "128x256x4" with the depth in 4 parts
};

// A kernel that runs again and again, for some 10 ms and longer: what the GPU draws, and how far its clock falls at the
// power cap (models/power.hpp).
struct SustainedRun {
  base::Seconds time;    // of one run, with the host
  double clock = 1.0;    // share of the full clock
  double running = 1.0;  // share of the SMs: others stand still
  base::Watts power;     // mean
  base::Joules energy;   // of one run
  base::Watts cap;
};

struct ExplainedKernel {
  std::string reason;  // why the system cannot run it; then the rest is empty
  models::Cost cost;   // on the GPU
  models::Anatomy anatomy;
  base::Seconds host;  // the host takes so much longer than the GPU; only in eager mode
  base::Seconds time;  // with it
  base::Seconds low;   // 90 % interval of `time`
  base::Seconds high;
  std::vector<models::Share> shares;  // of `time`, greatest first; they add up to 1
  models::Cause verdict = models::Cause::launch;
  std::vector<models::Roof> roofs;
  base::MathType math = base::MathType::fp32;  // of the tensor cores, or fp32
  double peak_share = 0.0;                     // of the dense tensor peak
  base::Bytes in_flight;          // of all SMs that load; 0 where nothing comes from memory
  base::Bytes needed_in_flight;   // stream rate · latency
  std::optional<double> l2_hits;  // share of the bytes that the L2 serves
  std::optional<Occupancy> occupancy;
  base::Seconds untied;  // with the tile that is taken where none is forced; 0 where none is
  std::optional<SustainedRun> sustained;  // nothing where the TDP is not known
  double algbw = 0.0;                     // B/s, of a collective
  double busbw = 0.0;
};

// A tile, algorithm or protocol that there is, but not for this kernel on this system.
struct ImpossibleChoice : base::InputError {
  ImpossibleChoice(const std::string& option, std::string why);
  std::string reason;  // "these ranks have no tree: …"
};

// Throws ImpossibleChoice, and InputError where a choice is misspelt.
ExplainedKernel explain_kernel(const workloads::Operator& op, const sim::Platform& platform,
                               const KernelChoices& choices);

}  // namespace roofcast::cli
