// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/ahead.hpp"

#include <string>
#include <vector>

#include "sim/replay/scheduler.hpp"
#include "sim/replay/timeline.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_replay_ahead {
namespace {

Scenario scenario(const std::string& serving, const std::string& deployment = "{}") {
  return read_scenario(base::parse_document(
      "test", "system: hgx_h200\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: " + deployment +
                  "\nserving: " + serving +
                  "\ntraffic: {input_tokens: 1024, output_tokens: 128, concurrency: 8}\n"));
}

Scheduler scheduler(const Scenario& s, double cache_tokens = 1e6) {
  return {view(s), cache_tokens * 131072.0 * base::byte};
}

// Two requests, until both decode. The iteration that it returns is in flight.
Iteration both_decode(Scheduler& queue, std::int64_t first_answer = 50) {
  queue.enqueue({0, 500, 0, first_answer});
  queue.enqueue({1, 90, 0, 40});
  for (;;) {
    const Iteration i = queue.schedule(0).front();
    if (i.prompts == 0) {
      return i;
    }
    queue.complete(0);
  }
}

}  // namespace

TEST_CASE("Iterations that repeat leave a scheduler as they do one by one", "[unit]") {
  for (const char* serving : {"{stack: vllm}", "{stack: sglang}", "{stack: trtllm}"}) {
    INFO(serving);
    const Scenario s = scenario(serving);
    Scheduler jumps = scheduler(s);
    Scheduler steps = scheduler(s);
    both_decode(jumps);
    both_decode(steps);
    REQUIRE(jumps.repeats() == 38);  // 40 tokens: the first of the prompt, the last ends it
    jumps.repeat(30);
    CHECK(jumps.repeats() == 8);
    for (int i = 0; i < 30; ++i) {
      steps.complete(0);
      steps.schedule(0);
    }
    CHECK(jumps.cache_used() == steps.cache_used());
    for (int i = 0; i < 12; ++i) {
      jumps.complete(0);
      steps.complete(0);
      CHECK(jumps.finished().size() == steps.finished().size());
      const Iteration a = jumps.schedule(0).front();
      const Iteration b = steps.schedule(0).front();
      CHECK(a.decodes == b.decodes);
      CHECK(a.context == b.context);
    }
  }
}

TEST_CASE("Nothing repeats while a prompt runs or a request waits", "[unit]") {
  const Scenario s = scenario("{stack: vllm}");
  Scheduler queue = scheduler(s);
  queue.enqueue({0, 500, 0, 50});
  queue.schedule(0);
  CHECK(queue.repeats() == 0);
  queue.complete(0);
  queue.schedule(0);
  CHECK(queue.repeats() == 48);
  queue.enqueue({1, 90, 0, 40});
  CHECK(queue.repeats() == 0);
}

TEST_CASE("Iterations repeat only as far as the KV cache has blocks", "[unit]") {
  const Scenario s = scenario("{stack: vllm}");
  Scheduler queue = scheduler(s, 656.0);  // 41 blocks; prompts fill 38
  both_decode(queue);
  const std::int64_t repeats = queue.repeats();
  CHECK(repeats > 0);
  CHECK(repeats < 38);
  queue.repeat(repeats);
  CHECK(queue.cache_used() <= queue.cache_capacity());
}

TEST_CASE("Iterations planned ahead take the times that they have one by one", "[unit]") {
  const Scenario s = scenario("{stack: vllm}", "{tensor_parallel: 2}");
  ReplicaIterations times(view(s));
  const double first = 3999.5;  // nodes of the context lie beyond
  const Iteration in_flight{2, first, 0, 0, 0.0};
  Ahead ahead;
  ahead.plan(times, {&in_flight, 1}, {1.0 * base::second, 1.0 * base::second}, 500);
  REQUIRE(ahead.left() == 500);
  base::Seconds now = 1.0 * base::second;
  for (std::size_t i = 1; i <= 500; ++i) {
    const Iteration next{2, first + static_cast<double>(i), 0, 0, 0.0};
    CHECK(ahead.start(i) == now);
    const IterationTime time = times({&next, 1});
    CHECK(ahead[i].end == now + time.latency);
    now = std::max(now + time.latency, now + time.period);
  }
  CHECK(ahead.last_end() == ahead[500].end);
  CHECK(ahead.started_before(ahead.start(3)) == 2);
  ahead.pass(2);
  CHECK(ahead.left() == 498);
  CHECK(ahead.started_before(ahead.start(1)) == 0);
}

TEST_CASE("A KV cache that grows evenly is counted with its mean in each second", "[unit]") {
  std::vector<SimulatedSecond> seconds;
  Timeline timeline(seconds, 1);
  timeline.count(0, {}, {1, 0, 0, 100});
  timeline.grow(0, 2.0 * base::second, 80);
  timeline.count(0, 3.0 * base::second, {0, 0, 0, 100});
  REQUIRE(seconds.size() == 3);
  CHECK(seconds[0].cache == Approx(0.2));
  CHECK(seconds[1].cache == Approx(0.6));
  CHECK(seconds[2].cache == Approx(0.8));
}

}  // namespace roofcast::sim::unit_sim_replay_ahead
