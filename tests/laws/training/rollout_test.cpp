// SPDX-License-Identifier: Apache-2.0
//
// Answers of a batch that are all wanted at once. The queue of a rollout stands beside a simulation of the same requests.
#include "sim/training/rollout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/statistics/random.hpp"
#include "sim/iteration/memory.hpp"
#include "sim/replay/simulate.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/simulations.hpp"
#include "workloads/traffic/lengths.hpp"
#include "workloads/traffic/traffic.hpp"

namespace roofcast::sim::laws_training_rollout {
namespace {

using Tokens = std::vector<std::int64_t>;

// A replica of Qwen3-30B-A3B. On two H100 its cache holds some 600,000 tokens.
struct Engine {
  std::string serving;
  std::string deployment;
};

Engine on(const std::string& stack, int sequences = 512,
          const std::string& deployment = "{tensor_parallel: 2}") {
  return {fmt::format("stack: {}, memory_fraction: 0.8, max_sequences: {}", stack, sequences),
          deployment};
}

using workloads::Lengths;

const Lengths kLong{Lengths::Shape::lognormal, 1, 3900, 2500.0, 0.6};
const Lengths kShort{Lengths::Shape::lognormal, 1, 600, 300.0, 0.3};
const Lengths kUniform{Lengths::Shape::uniform, 500, 2500};

Lengths equal(std::int64_t tokens) { return {Lengths::Shape::fixed, tokens, tokens}; }

Tokens drawn(std::size_t count, const Lengths& lengths) {
  base::Random random(1, "responses");
  Tokens all(count);
  std::ranges::generate(all, [&] { return workloads::draw(lengths, random); });
  return all;
}

// One replica and its batch. Samples of a prompt follow each other.
class Batch {
 public:
  Batch(const Engine& engine, Tokens lengths, std::int64_t prompt_tokens, std::int64_t samples = 1)
      : lengths_(std::move(lengths)), prompt_tokens_(prompt_tokens), samples_(samples) {
    std::int64_t sum = 0;
    for (const std::int64_t length : lengths_) {
      sum += length;
    }
    const auto count = static_cast<std::int64_t>(lengths_.size());
    s_ = read_streamed_scenario(base::parse_document(
        "test",
        fmt::format("system: h100_cluster_128\nmodel: qwen3-30b-a3b\nprecision: bf16\ndeployment: "
                    "{}\nserving: {{{}}}\ntraffic: {{input_tokens: {}, output_tokens: {}, "
                    "concurrency: {}, requests: {}}}\n",
                    engine.deployment, engine.serving, prompt_tokens, sum / count, count, count)));
    laws::without_front_end(s_.scenario.serving.stack);
  }

  double rollout() const {
    const ScenarioView v = view(s_.scenario);
    const double room = footprint_of(v).cache / cache_of(v).mean_request;
    Rollout rollout(v, room * workloads::mean_context(*v.traffic));
    return rollout.time(lengths_, prompt_tokens_, samples_).si();
  }

  Simulation simulated() const {
    constexpr std::int64_t kBlock = 16;
    workloads::Requests all;
    all.block_tokens = kBlock;
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      workloads::Request r;
      r.input_tokens = prompt_tokens_;
      r.output_tokens = lengths_[i];
      r.first_block = all.blocks.size();
      r.block_count = static_cast<std::uint32_t>(prompt_tokens_ / kBlock);
      const std::uint64_t prompt = i / static_cast<std::size_t>(samples_);
      for (std::uint64_t block = 0; block < r.block_count; ++block) {
        all.blocks.push_back(1'000'000 * (prompt + 1) + block);
      }
      all.requests.push_back(r);
    }
    return simulate(view(s_.scenario), all, static_cast<std::int64_t>(lengths_.size()));
  }

 private:
  StreamedScenario s_;
  Tokens lengths_;
  std::int64_t prompt_tokens_;
  std::int64_t samples_;
};

}  // namespace

// Each answer has a prompt of its own. Of several stages or attention-DP ranks a rollout knows the mean one only.
TEST_CASE("A rollout takes the time of a simulation of the same batch", "[laws]") {
  std::int64_t preemptions = 0;
  const auto check = [&](const Engine& engine, const Lengths& lengths, std::int64_t prompt_tokens,
                         double within) {
    const Batch batch(engine, drawn(1024, lengths), prompt_tokens);
    const Simulation simulated = batch.simulated();
    INFO(engine.serving << ' ' << engine.deployment << ' ' << lengths.most);
    CHECK(batch.rollout() == Approx(simulated.end.si()).epsilon(within));
    preemptions += simulated.preemptions;
  };
  for (const char* stack : {"vllm", "sglang", "trtllm"}) {
    check(on(stack), kLong, 110, 0.03);
    check(on(stack), equal(2500), 110, 0.03);
    check(on(stack), kUniform, 1500, 0.03);
    check(on(stack, 128), kShort, 2000, 0.03);
  }
  for (const char* deployment :
       {"{tensor_parallel: 1, pipeline_parallel: 2}", "{tensor_parallel: 2, pipeline_parallel: 2}",
        "{tensor_parallel: 1, data_parallel: 4, expert_parallel: 4}"}) {
    check(on("vllm", 512, deployment), kLong, 110, 0.08);
    check(on("vllm", 512, deployment), kShort, 2000, 0.08);
  }
  CHECK(preemptions > 5000);
}

// The simulation finds a prompt in the cache only after the iteration that computes it, so it computes some twice.
TEST_CASE("A rollout with samples takes little less than a simulation of the same batch",
          "[laws]") {
  for (const char* stack : {"vllm", "sglang", "trtllm"}) {
    const auto check = [&](const Engine& engine, const Lengths& lengths,
                           std::int64_t prompt_tokens) {
      const Batch batch(engine, drawn(1024, lengths), prompt_tokens, 16);
      const double simulated = batch.simulated().end.si();
      INFO(engine.serving << ' ' << lengths.most);
      CHECK(batch.rollout() < 1.01 * simulated);
      CHECK(batch.rollout() > 0.92 * simulated);
    };
    check(on(stack), kLong, 110);
    check(on(stack), kUniform, 1500);
    check(on(stack, 128), kShort, 2000);
  }
}

// Preemption is the exception. A longer queue keeps the cache full for longer, and contexts are computed again. The
// simulation pays for it too.
TEST_CASE(
    "One queue of a batch takes no longer than its halves after one another, or 8 % longer "
    "where it preempts",
    "[laws]") {
  struct Case {
    int sequences;
    double most;
  };
  for (const Case& c : {Case{64, 1.001}, Case{128, 1.001}, Case{200, 1.001}, Case{400, 1.08},
                        Case{512, 1.08}, Case{1024, 1.08}}) {
    for (const Lengths& lengths : {kLong, kShort, kUniform, equal(2500)}) {
      for (const std::int64_t samples : {1, 32}) {
        const auto rollout = [&](const Tokens& some) {
          return Batch(on("vllm", c.sequences), some, 110, samples).rollout();
        };
        const Tokens all = drawn(1024, lengths);
        INFO(c.sequences << ' ' << lengths.most << ' ' << samples);
        CHECK(rollout(all) <= c.most * (rollout(Tokens(all.begin(), all.begin() + 512)) +
                                        rollout(Tokens(all.begin() + 512, all.end()))));
      }
    }
  }
  const Tokens all = drawn(1024, kLong);
  const double first =
      Batch(on("vllm"), Tokens(all.begin(), all.begin() + 512), 110).simulated().end.si();
  const double second =
      Batch(on("vllm"), Tokens(all.begin() + 512, all.end()), 110).simulated().end.si();
  CHECK(Batch(on("vllm"), all, 110).simulated().end.si() > 1.04 * (first + second));
}

TEST_CASE("Shorter prompts are never slower, whether or not the cache is full", "[laws]") {
  for (const int sequences : {128, 400, 512, 1024}) {
    for (const Lengths& lengths : {kLong, kUniform}) {
      for (const std::int64_t samples : {1, 32}) {
        double before = 0.0;
        for (const std::int64_t tokens : {1, 10, 50, 110, 200, 400, 1000, 2000}) {
          const double now =
              Batch(on("vllm", sequences), drawn(1024, lengths), tokens, samples).rollout();
          INFO(sequences << ' ' << lengths.most << ' ' << samples << ' ' << tokens);
          CHECK(now > 0.99 * before);
          before = std::max(before, now);
        }
      }
    }
  }
}

TEST_CASE("Samples of a prompt pay for it once, whenever they start", "[laws]") {
  constexpr std::int64_t kAnswers = 512;
  for (const int sequences : {16, 128, 256}) {
    for (const Lengths& lengths : {equal(300), kShort}) {
      const auto rollout = [&](std::int64_t samples) {
        return Batch(on("vllm", sequences), drawn(kAnswers, lengths), 2000, samples).rollout();
      };
      const double of_one = rollout(kAnswers);
      const double of_all = rollout(1);
      for (const std::int64_t samples : {2, 8, 32}) {
        INFO(sequences << ' ' << lengths.most << ' ' << samples);
        const auto prompts = static_cast<double>(kAnswers / samples);
        CHECK((rollout(samples) - of_one) / (of_all - of_one) ==
              Approx((prompts - 1.0) / (kAnswers - 1.0)).margin(0.03));
      }
    }
  }
}

TEST_CASE("Samples hold their prompt in the cache once", "[laws]") {
  // 512 answers with up to 2,400 tokens are twice what the cache holds, unless they share 2,000 of them.
  const Lengths lengths = equal(400);
  const double shared = Batch(on("vllm"), drawn(512, lengths), 2000, 512).rollout();
  const double one_wave = Batch(on("vllm"), drawn(512, lengths), 1, 512).rollout();
  const double own = Batch(on("vllm"), drawn(512, lengths), 2000).rollout();
  CHECK(shared < 2.5 * one_wave);
  CHECK(own > 2.0 * shared);
}

}  // namespace roofcast::sim::laws_training_rollout
