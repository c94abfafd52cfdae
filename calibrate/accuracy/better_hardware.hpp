// SPDX-License-Identifier: Apache-2.0
//
// Whether better hardware makes a scenario slower: a law that every estimate should keep.
//
//   lost     1 less the requests per second that the servers can serve with the better hardware, over those without it: where
//            an open loop saturates, and what a closed loop serves
//   slower   time from end to end, and of agents time of a task, with the better hardware over that without it, less 1
//
// Everything else stays: the deployment, the traffic, the calibration of the chip. Tiles and algorithms are whole, so that a
// thousandth in the wrong direction means nothing.
//
// A server that is faster can have longer answers: with more memory it begins more prompts, which hold up those that decode.
// And an estimate that follows some thousand requests has the error of a sample. So what breaks the law is looked at
// again:
//
//   sample         it keeps the law once kLonger times as many requests are followed, or four times that
//   confirmed      the simulation of the same requests is slower too, by half as much at least: d > 0 and
//                  d + 2 SE >= slower / 2, with SE the standard error of its difference d, from batches of requests. Where a
//                  server saturates, the simulation has more arrivals than it can serve
//   undecided      it is not, but its standard error is too large to say so: d + 2 SE >= slower / 2
//   contradicted   it is not: the estimate is wrong
//   marked         contradicted, where the estimate says of itself that it may be far off (sim/confirm/doubt.hpp)
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/no_number.hpp"
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
inline constexpr std::int64_t kLonger = 16;

enum class Law { kept, sample, confirmed, undecided, marked, contradicted };
inline constexpr std::string_view kLaws[] = {"kept",      "sample", "confirmed",
                                             "undecided", "marked", "contradicted"};

// NaN where one of both does not fit.
struct WithBetter {
  double lost = 0.0;
  double slower = 0.0;
  Law law = Law::kept;
  // NaN where it was not looked at again:
  double longer =
      base::kNoNumber;  // `slower` of the longer sample, or `lost` if that alone breaks the law
  double simulated = base::kNoNumber;  // d
  double error = base::kNoNumber;      // SE
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
