// SPDX-License-Identifier: Apache-2.0
//
// Whether better hardware makes a scenario slower: a law that every estimate should keep.
//
//   lost     1 less the requests per second that the servers can serve with the better hardware, over those without it: where
//            an open loop saturates, and what a closed loop serves
//   slower   time from end to end, and of agents time of a task, with the better hardware over that without it, less 1
//
// Everything else stays: the deployment, the traffic, the calibration of the chip. Tiles and algorithms are whole, so that a
// thousandth in the wrong direction means nothing. In an open loop some thousand requests are followed. Which of them meet
// depends on each iteration, so that their time has the error of a sample: some percent.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/accuracy/random_scenarios.hpp"
#include "sim/result/serving_estimate.hpp"

namespace roofcast::calibrate {

inline constexpr std::string_view kBetterHardware[] = {
    "system.chip.compute.sms=x1.15",
    "system.chip.compute.clock=x1.1",
    "system.chip.tensor.*=x1.5",
    "system.chip.hbm.bandwidth=x1.5",
    "system.chip.hbm.capacity=x2",
    "system.chip.l2.slices=x2",
    "system.chip.nvlink.bandwidth_bidirectional=x2",
    "system.chip.power.tdp=x1.25",
};
inline constexpr double kWorse = 0.01;  // more than this breaks the law

// NaN where one of both does not fit.
struct WithBetter {
  double lost = 0.0;
  double slower = 0.0;
};

// Systems that were changed, kept for all scenarios and threads.
class BetterHardware {
 public:
  // By kBetterHardware.
  std::vector<WithBetter> with(const RandomScenario& scenario, const sim::ServingEstimate& estimate,
                               sim::Workspace& workspace);

 private:
  const sim::Platform& changed(const RandomScenario& scenario, std::string_view setting);

  std::mutex reading_;
  std::map<std::string, std::unique_ptr<const sim::Platform>> known_;
};

}  // namespace roofcast::calibrate
