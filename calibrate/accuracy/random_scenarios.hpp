// SPDX-License-Identifier: Apache-2.0
//
// Random scenarios of serving, on which estimates are held against simulations (calibrate/accuracy/agreement.hpp).
//
//   parts          a system, a stack, a model with its precision and tensor parallelism: random_scenarios.yaml
//   ranks          one in five has attention-DP ranks or pipeline stages, drawn by itself: the others are what they
//                  would be without these
//   drafts         15 % predict 1 to 4 tokens, each of which is accepted with a probability of 0.4 to 0.95
//   replicas       1 to 8, on at most 8 GPUs; half of the draws have one
//   lengths        means of 128 to 8,000 tokens in and 16 to 1,024 out, log-uniform. Each is fixed, uniform or lognormal
//   open loops     24,000 requests at 10 to 90 % of the rate at which the estimate saturates; gamma arrivals with a
//                  variation of 0.5, 2 or 3, and cv² times as many requests; two phases of Poisson arrivals, the busier one
//                  at most at 92 %, with 100 cycles of 4,000 requests at most: of 12 cycles, the simulated TPOT of one
//                  scenario was 19 to 33 ms by the seed of its requests
//   closed loops   1 to 512 clients, log-uniform, each with 15 requests or more where 12,000 suffice for that
//   agents         1 to 128, log-uniform, each with ten tasks of 4 to 16 turns on average, all with 200 or more
//   requests       each scenario has a seed of its own
//   two pools      of replicas that are alike; open or closed
//
// What the estimate refuses is drawn again; an open loop only when it refuses nearly no traffic. So another estimate
// draws somewhat other scenarios from the same seed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/statistics/random.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::calibrate {

struct RandomKind {
  std::string_view name;
  double weight;
};
inline constexpr RandomKind kRandomKinds[] = {
    {"open Poisson", 3}, {"open gamma", 1}, {"open two-phase", 1}, {"closed fixed", 2},
    {"closed drawn", 3}, {"agents", 1},     {"two pools", 1}};

// Of one replica.
struct RandomRanks {
  std::int64_t tensor = 1;
  std::int64_t data = 1;
  std::int64_t pipeline = 1;
  std::int64_t count() const { return tensor * data * pipeline; }
};

struct RandomScenario {
  std::size_t kind = 0;  // of kRandomKinds
  std::string yaml;
  sim::StreamedScenario streamed;
  double warm_up = 0;  // share of the requests, at the start, that a comparison leaves out
};

class RandomScenarios {
 public:
  explicit RandomScenarios(std::uint64_t seed);

  // The same for the same seed and number, from any thread.
  RandomScenario draw(std::size_t number, sim::Workspace& workspace) const;

 private:
  struct Model {
    std::string id;
    std::string precision;
    std::vector<std::int64_t> tensor_parallel;
    std::vector<RandomRanks> spread;  // with attention-DP ranks or pipeline stages
  };
  // Each cause of chance has its own.
  struct Streams {
    base::Random all;
    base::Random ranks;
    base::Random drafts;
  };
  // `seed` draws the requests.
  std::optional<RandomScenario> attempt(std::size_t kind, std::int64_t seed, Streams& streams,
                                        sim::Workspace& workspace) const;
  sim::StreamedScenario read(const std::string& parts, const std::string& rest) const;

  std::uint64_t seed_;
  std::vector<std::string> systems_;
  std::vector<std::string> stacks_;
  std::vector<Model> models_;
  // What was read of system, model, precision and stack: reading these takes longer than an estimate.
  mutable std::mutex reading_;
  mutable std::map<std::string, std::unique_ptr<const sim::Scenario>> known_;
};

}  // namespace roofcast::calibrate
