// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/scheduler.hpp"

#include <string>

#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_replay_scheduler {
namespace {

constexpr double kToken = 131072.0;  // bytes of llama-3.1-8b's cache in bf16
constexpr double kPlenty = 1e6;      // tokens

Scenario scenario(const std::string& serving, const std::string& deployment = "{}") {
  return read_scenario(base::parse_document(
      "test", "system: hgx_h200\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: " + deployment +
                  "\nserving: " + serving +
                  "\ntraffic: {input_tokens: 1024, output_tokens: 128, concurrency: 8}\n"));
}

Scheduler scheduler(const Scenario& s, double cache_tokens = kPlenty) {
  return {view(s), cache_tokens * kToken * base::byte};
}

// The next iteration of the only rank and micro-batch.
Iteration next(Scheduler& scheduler) {
  const std::span<const Iteration> ranks = scheduler.schedule(0);
  const Iteration first = ranks.empty() ? Iteration{} : ranks.front();
  if (!ranks.empty()) {
    scheduler.complete(0);
  }
  return first;
}

// Prompts of the next iteration, on all ranks of the only micro-batch.
std::int64_t prompts_of(Scheduler& scheduler) {
  std::int64_t sum = 0;
  for (const Iteration& rank : scheduler.schedule(0)) {
    sum += rank.prompts;
  }
  scheduler.complete(0);
  return sum;
}

}  // namespace

TEST_CASE("A prompt longer than the budget is computed in chunks over its own prefix", "[unit]") {
  const Scenario s = scenario("{stack: vllm, max_tokens_per_iteration: 1000}");
  Scheduler queue = scheduler(s);
  queue.enqueue({0, 2500, 0, 3});
  Iteration i = next(queue);
  CHECK(i.prompt_tokens == 1000);
  CHECK(i.cached == 0.0);
  i = next(queue);
  CHECK(i.prompt_tokens == 1000);
  CHECK(i.cached == 1000.0);
  CHECK(queue.first_tokens().empty());
  i = next(queue);
  CHECK(i.prompt_tokens == 500);
  CHECK(i.cached == 2000.0);
  CHECK(queue.first_tokens().size() == 1);
  i = next(queue);
  CHECK(i.decodes == 1);
  CHECK(i.context == 2500.0);
  i = next(queue);
  CHECK(i.context == 2501.0);
  CHECK(queue.finished().size() == 1);
  CHECK(queue.cache_used() == 0);
  CHECK(next(queue).decodes == 0);
}

TEST_CASE("Prompts of different lengths attend to as many tokens as their mean does", "[unit]") {
  const Scenario s = scenario("{stack: vllm, max_tokens_per_iteration: 400}");
  Scheduler queue = scheduler(s);
  queue.enqueue({0, 500, 0, 1});
  queue.enqueue({1, 300, 0, 1});
  CHECK(next(queue).prompt_tokens == 400);
  const Iteration i = next(queue);
  CHECK(i.prompts == 2);
  CHECK(i.prompt_tokens == 400);
  // (100·(400 + 50) + 300·150) / 400 − 100
  CHECK(i.cached == Approx(125.0));
}

TEST_CASE("Decodes and prompts share an iteration, or prompts go first", "[unit]") {
  const auto second_iteration = [](const std::string& order) {
    const Scenario s =
        scenario("{stack: vllm, scheduler: {order: " + order + ", plans_ahead: false}}");
    Scheduler queue = scheduler(s);
    queue.enqueue({0, 100, 0, 10});
    next(queue);
    queue.enqueue({1, 200, 0, 10});
    return next(queue);
  };
  const Iteration mixed = second_iteration("mixed");
  CHECK(mixed.decodes == 1);
  CHECK(mixed.prompt_tokens == 200);
  const Iteration first = second_iteration("prompts first");
  CHECK(first.decodes == 0);
  CHECK(first.prompt_tokens == 200);
}

TEST_CASE("A prompt that is not to be cut waits for an iteration that holds it", "[unit]") {
  const Scenario s = scenario(
      "{stack: vllm, max_tokens_per_iteration: 1000, scheduler: {chunked_prompts: false}}");
  Scheduler queue = scheduler(s);
  queue.enqueue({0, 700, 0, 1});
  queue.enqueue({1, 700, 0, 1});
  CHECK(next(queue).prompt_tokens == 700);
  CHECK(next(queue).prompt_tokens == 700);
  queue.enqueue({2, 1500, 0, 1});  // none ever holds it
  CHECK(next(queue).prompt_tokens == 1000);
  CHECK(next(queue).prompt_tokens == 500);
}

TEST_CASE("Requests are admitted in the order of their arrival", "[unit]") {
  const Scenario s = scenario("{stack: vllm, max_sequences: 2}");
  Scheduler queue = scheduler(s);
  for (const std::int32_t id : {0, 1, 2, 3}) {
    queue.enqueue({id, 100, 0, 2 + id});
  }
  std::vector<std::int32_t> order;
  while (queue.running() + queue.waiting() > 0) {
    queue.schedule(0);
    for (const Scheduler::Start& start : queue.started()) {
      order.push_back(start.id);
    }
    CHECK(queue.running() <= 2);
    queue.complete(0);
  }
  CHECK(order == std::vector<std::int32_t>{0, 1, 2, 3});
}

TEST_CASE("Who cannot grow takes the blocks of the request admitted last, which computes all again",
          "[unit]") {
  const Scenario s = scenario("{stack: vllm, scheduler: {prefix_cache: false}}");
  Scheduler queue = scheduler(s, 160.0);  // ten blocks
  queue.enqueue({0, 64, 0, 40});
  queue.enqueue({1, 64, 0, 40});
  std::int64_t prompt_tokens = 0;
  std::int64_t tokens = 0;
  std::vector<std::int32_t> preempted;
  for (int i = 0; i < 500 && queue.running() + queue.waiting() > 0; ++i) {
    const std::span<const Iteration> ranks = queue.schedule(0);
    REQUIRE_FALSE(ranks.empty());
    prompt_tokens += ranks.front().prompt_tokens;
    preempted.insert(preempted.end(), queue.preempted().begin(), queue.preempted().end());
    CHECK(queue.cache_used() <= queue.cache_capacity());
    queue.complete(0);
    tokens += queue.tokens();
  }
  CHECK(preempted == std::vector<std::int32_t>{1});
  // Both hold five blocks up to 80 tokens; with the 81st the second gives way, having 17 tokens.
  CHECK(prompt_tokens == 64 + 64 + 64 + 17);
  CHECK(tokens == 80);
}

TEST_CASE("A request whose blocks are reserved is never preempted", "[unit]") {
  const Scenario s = scenario("{stack: vllm, scheduler: {reserves: request, reserved_output: 1}}");
  Scheduler queue = scheduler(s, 160.0);
  queue.enqueue({0, 64, 0, 40});
  queue.enqueue({1, 64, 0, 40});
  while (queue.running() + queue.waiting() > 0) {
    queue.schedule(0);
    CHECK(queue.preempted().empty());
    CHECK(queue.running() <= 1);
    queue.complete(0);
  }
}

TEST_CASE("A slot that is freed late is free an iteration later", "[unit]") {
  const auto admitted_in = [](const std::string& late) {
    const Scenario s = scenario(
        "{stack: vllm, max_sequences: 2, scheduler: {plans_ahead: false, delayed_release: " + late +
        "}}");
    Scheduler queue = scheduler(s);
    queue.enqueue({0, 100, 0, 1});
    queue.enqueue({1, 100, 0, 10});
    next(queue);
    queue.enqueue({2, 100, 0, 1});
    int iterations = 1;
    while (next(queue).prompts == 0) {
      ++iterations;
    }
    return iterations;
  };
  CHECK(admitted_in("false") == 1);
  CHECK(admitted_in("true") == 2);
}

TEST_CASE("A slot that is freed late is free at once when nothing runs", "[unit]") {
  const Scenario s =
      scenario("{stack: vllm, max_sequences: 1, scheduler: {delayed_release: true}}");
  Scheduler queue = scheduler(s);
  queue.enqueue({0, 100, 0, 1});
  queue.enqueue({1, 100, 0, 1});
  CHECK(next(queue).prompts == 1);
  CHECK(next(queue).prompts == 1);
  CHECK(queue.waiting() == 0);
}

TEST_CASE("A prompt waits one iteration more where iterations are planned ahead", "[unit]") {
  const auto prompts_after = [](const std::string& policy) {
    const Scenario s = scenario("{stack: vllm, max_sequences: 4, scheduler: {" + policy + "}}");
    Scheduler queue = scheduler(s);
    queue.enqueue({0, 100, 0, 10});
    next(queue);
    queue.enqueue({1, 100, 0, 10});
    int iterations = 0;
    while (next(queue).prompts == 0) {
      ++iterations;
    }
    return iterations;
  };
  CHECK(prompts_after("plans_ahead: false") == 0);
  CHECK(prompts_after("plans_ahead: true") == 1);
}

TEST_CASE("A prompt that came for the next plan runs at once when nothing else does", "[unit]") {
  const Scenario s = scenario(
      "{stack: vllm, max_sequences: 1, scheduler: {plans_ahead: true, delayed_release: true}}");
  Scheduler queue = scheduler(s);
  queue.enqueue({0, 100, 0, 1});
  CHECK(next(queue).prompts == 1);  // done, but keeps its slot
  queue.enqueue({1, 100, 0, 1});
  CHECK(next(queue).prompts == 1);
  CHECK(queue.waiting() == 0);
}

TEST_CASE("Prompts wait for more of them as many iterations as they may, unless they are enough",
          "[unit]") {
  const Scenario s = scenario(
      "{stack: vllm, max_tokens_per_iteration: 1000, scheduler: {batch_wait_iterations: 5, "
      "batch_wait_fill: 0.9, plans_ahead: false}}");
  Scheduler queue = scheduler(s);
  queue.enqueue({0, 100, 0, 100});
  CHECK(next(queue).prompts == 1);  // nothing to disturb
  queue.enqueue({1, 100, 0, 100});
  for (int i = 0; i < 5; ++i) {
    CHECK(next(queue).prompts == 0);
  }
  CHECK(next(queue).prompts == 1);
  queue.enqueue({2, 950, 0, 100});
  CHECK(next(queue).prompts == 1);
}

TEST_CASE("Prompts wait for one on each rank while all decode, as many iterations as they may",
          "[unit]") {
  const Scenario s =
      scenario("{stack: vllm, scheduler: {rank_wait_iterations: 5, plans_ahead: false}}",
               "{data_parallel: 2}");
  Scheduler queue = scheduler(s);
  const auto prompts = [&] { return prompts_of(queue); };
  queue.enqueue({0, 100, 0, 100});
  CHECK(prompts() == 1);  // a rank has nothing to disturb
  queue.enqueue({1, 100, 0, 100});
  CHECK(prompts() == 1);
  queue.enqueue({2, 100, 0, 100});
  for (int i = 0; i < 4; ++i) {
    CHECK(prompts() == 0);
  }
  CHECK(prompts() == 1);
  queue.enqueue({3, 100, 0, 100});
  CHECK(prompts() == 0);
  queue.enqueue({4, 100, 0, 100});
  CHECK(prompts() == 2);
}

// Both ranks have one sequence, and the first prompt leaves its rank no budget.
TEST_CASE("A prompt goes to a rank that has budget, though another is as little loaded", "[unit]") {
  const Scenario s =
      scenario("{stack: vllm, max_tokens_per_iteration: 1000, scheduler: {plans_ahead: false}}",
               "{data_parallel: 2}");
  Scheduler queue = scheduler(s);
  queue.enqueue({0, 3000, 0, 100});
  queue.enqueue({1, 100, 0, 100});
  CHECK(prompts_of(queue) == 2);
  queue.enqueue({2, 100, 0, 100});
  CHECK(prompts_of(queue) ==
        2);  // the second chunk of the first one, and the third on the other rank
}

TEST_CASE("Prompts wait for one on each rank, however many a rank has that lost its sequences",
          "[unit]") {
  const Scenario s =
      scenario("{stack: vllm, scheduler: {rank_wait_iterations: 5, plans_ahead: false}}",
               "{data_parallel: 2}");
  Scheduler queue = scheduler(s);
  const auto prompts = [&] { return prompts_of(queue); };
  for (const std::int32_t id : {0, 1, 2, 3, 4, 5}) {
    queue.enqueue({id, 100, 0, id == 0 || id == 2 ? 2 : 100});
  }
  CHECK(prompts() == 6);
  CHECK(prompts() == 0);  // now the first rank has one sequence and the second three
  queue.enqueue({6, 100, 0, 100});
  queue.enqueue({7, 100, 0, 100});
  for (int i = 0; i < 3; ++i) {
    CHECK(prompts() == 0);
  }
  CHECK(prompts() == 2);
}

TEST_CASE("Requests go to the attention-DP rank with the fewest", "[unit]") {
  const Scenario s = scenario("{stack: vllm}", "{data_parallel: 4}");
  Scheduler queue = scheduler(s);
  for (const std::int32_t id : {0, 1, 2, 3, 4, 5}) {
    queue.enqueue({id, 100, 0, 5});
  }
  const std::span<const Iteration> ranks = queue.schedule(0);
  REQUIRE(ranks.size() == 4);
  CHECK(ranks[0].prompts == 2);
  CHECK(ranks[1].prompts == 2);
  CHECK(ranks[2].prompts == 1);
  CHECK(ranks[3].prompts == 1);
}

TEST_CASE("Pipeline micro-batches share the requests", "[unit]") {
  const Scenario s = scenario("{stack: vllm}", "{pipeline_parallel: 2}");
  Scheduler queue = scheduler(s);
  for (const std::int32_t id : {0, 1, 2, 3, 4, 5}) {
    queue.enqueue({id, 100, 0, 5});
  }
  CHECK(queue.schedule(0).front().prompts == 3);
  CHECK(queue.schedule(1).front().prompts == 3);
  CHECK(queue.waiting() == 0);
}

TEST_CASE("By priority the greatest is admitted first, of equal ones the first to come", "[unit]") {
  const Scenario s = scenario("{stack: vllm, max_sequences: 1, scheduler: {queue: priority}}");
  Scheduler queue = scheduler(s);
  for (const std::int32_t id : {0, 1, 2, 3}) {
    queue.enqueue({id, 100, 0, 1, {}, id < 2 ? 1 : 7});
  }
  std::vector<std::int32_t> order;
  while (queue.running() + queue.waiting() > 0) {
    queue.schedule(0);
    for (const Scheduler::Start& start : queue.started()) {
      order.push_back(start.id);
    }
    queue.complete(0);
  }
  CHECK(order == std::vector<std::int32_t>{2, 3, 0, 1});
}

TEST_CASE("By priority the least loses its blocks, wherever it stands", "[unit]") {
  const Scenario s = scenario("{stack: vllm, scheduler: {queue: priority, prefix_cache: false}}");
  Scheduler queue = scheduler(s, 160.0);
  queue.enqueue({0, 64, 0, 40, {}, 1});
  queue.enqueue({1, 64, 0, 40, {}, 2});
  std::vector<std::int32_t> preempted;
  std::vector<std::int32_t> finished;
  std::int64_t tokens = 0;
  while (queue.running() + queue.waiting() > 0) {
    queue.schedule(0);
    preempted.insert(preempted.end(), queue.preempted().begin(), queue.preempted().end());
    queue.complete(0);
    finished.insert(finished.end(), queue.finished().begin(), queue.finished().end());
    tokens += queue.tokens();
  }
  CHECK(preempted == std::vector<std::int32_t>{0});
  CHECK(finished == std::vector<std::int32_t>{1, 0});
  CHECK(tokens == 80);
}

}  // namespace roofcast::sim::unit_sim_replay_scheduler
