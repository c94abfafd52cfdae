// SPDX-License-Identifier: Apache-2.0
//
// Where the metrics of an estimate are right: what `roofcast explain METRIC` says of it.
#pragma once

#include <string_view>

namespace roofcast::sim::validity {

inline constexpr std::string_view kLatency =
    "steady traffic, where means are mostly within 10 % of the simulator. Near saturation, with "
    "bursts, with preemption and with clients in step, take the replayed value "
    "(docs/concepts/open_loop.md, closed_loop.md)";
inline constexpr std::string_view kTails =
    "steady traffic, and less certain than means: the closed form mostly says too little of a "
    "tail. "
    "Take the replayed value (docs/concepts/open_loop.md)";
inline constexpr std::string_view kRates =
    "a steady state below saturation; preemption and unevenly filled attention-DP ranks are in "
    "`roofcast simulate` only";
inline constexpr std::string_view kCosts =
    "GPUs alone, at the price of the system or of the section `prices`; idle hours count where "
    "`prices` has a utilisation (docs/scenarios/prices.md)";
inline constexpr std::string_view kPower =
    "GPUs alone, fitted to GEMMs of H200, B200 and GB200; other chips follow from TDP and peaks "
    "(docs/concepts/energy.md)";
inline constexpr std::string_view kSite =
    "the power that a site must deliver, or draws on average, at the PUE of the section `prices` "
    "(docs/scenarios/prices.md)";
inline constexpr std::string_view kCounts =
    "counted, not fitted: exact for the shapes, formats and stack of the scenario "
    "(docs/concepts/memory.md)";
inline constexpr std::string_view kDrafts =
    "acceptance as measured or given, and the same for every request "
    "(docs/concepts/speculation.md)";
inline constexpr std::string_view kTraining =
    "optimizer steps and rollouts one after another, without checkpoints, failures and data "
    "loading (docs/concepts/training.md)";
inline constexpr std::string_view kScores =
    "the published benchmark alone; nothing is interpolated between models or precisions "
    "(docs/scenarios/accuracy.md)";
inline constexpr std::string_view kAgents =
    "agents whose turns return to the replica with their context (docs/scenarios/agents.md)";
inline constexpr std::string_view kInterval =
    "the described traffic, and software like that measured (docs/concepts/uncertainty.md)";

}  // namespace roofcast::sim::validity
