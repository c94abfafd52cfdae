// SPDX-License-Identifier: Apache-2.0
#include "sim/training/jitter.hpp"

#include <algorithm>
#include <string>

#include "base/statistics/random.hpp"
#include "tests/catch.hpp"
#include "tests/unit/sim/training/step_of.hpp"

namespace roofcast::sim::unit_sim_training_jitter {
namespace {

TrainingStep step(const std::string& gpus, const std::string& jitter) {
  return step_of(read_scenario(base::parse_document(
      "test", "system: {base: h100_cluster_128, chips: " + gpus +
                  "}\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: {data_parallel: " + gpus +
                  "}\ntraining: {sequence_length: 2048, recompute: full, global_batch: " + gpus +
                  jitter + ", trainer: megatron}\n")));
}

}  // namespace

TEST_CASE("A step waits for its slowest rank as drawn ranks and slow hosts do", "[unit]") {
  const workloads::Jitter jitter{0.015, 0.005, 0.1};
  base::Random random(1, "jitter");
  constexpr int kDraws = 4000;
  constexpr int kHosts = 64;
  double mean = 0.0;
  for (int draw = 0; draw < kDraws; ++draw) {
    double slowest = 0.0;
    bool slow = false;
    for (int rank = 0; rank < 8 * kHosts; ++rank) {
      slowest = std::max(slowest, random.normal(0.0, jitter.deviation));
    }
    for (int host = 0; host < kHosts; ++host) {
      slow = slow || random.uniform() < jitter.slow_hosts;
    }
    mean += (slowest + (slow ? jitter.slower_by : 0.0)) / kDraws;
  }
  CHECK(waits_for_slowest(jitter, 8.0 * kHosts, kHosts) == Approx(mean).epsilon(0.03));
}

TEST_CASE("Jitter lengthens the passes and nothing else of a step", "[unit]") {
  const std::string published = ", jitter: {deviation: 0.015, slow_hosts: 0.005, slower_by: 0.1}";
  const TrainingStep without = step("128", "");
  const TrainingStep with = step("128", published);
  CHECK(without.jitter == base::Seconds{});
  CHECK((with.time - with.jitter).si() == Approx(without.time.si()));
  CHECK(with.jitter / with.passes ==
        Approx(waits_for_slowest({0.015, 0.005, 0.1}, 128.0, 16.0)).epsilon(1e-9));
  CHECK(step("1024", published).jitter > with.jitter);
  CHECK(step("128", ", jitter: {slow_hosts: 0.005}").jitter == base::Seconds{});
}

}  // namespace roofcast::sim::unit_sim_training_jitter
