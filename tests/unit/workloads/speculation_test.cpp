// SPDX-License-Identifier: Apache-2.0
#include "workloads/serving/speculation.hpp"

#include <cmath>
#include <string>

#include "base/statistics/random.hpp"
#include "models/footprint.hpp"
#include "sim/estimate.hpp"
#include "sim/iteration/draft_model.hpp"
#include "sim/replay/scheduler.hpp"
#include "sim/replay/simulation_summary.hpp"
#include "sim/result/feasibility.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_workloads_speculation {
namespace {

using workloads::acceptance_of;
using workloads::Speculation;

Speculation chain(std::vector<double> acceptance) {
  Speculation s;
  s.draft_tokens = static_cast<std::int64_t>(acceptance.size());
  s.acceptance = std::move(acceptance);
  return s;
}

base::Node document(const std::string& model, const std::string& deployment,
                    const std::string& speculative, std::int64_t clients = 8) {
  return base::parse_document(
      "test", "system: hgx_h200\nmodel: " + model + "\ndeployment: " + deployment +
                  "\nserving: {stack: vllm" +
                  (speculative.empty() ? "" : ", speculative: " + speculative) +
                  "}\ntraffic: {input_tokens: 1024, output_tokens: 257, concurrency: " +
                  std::to_string(clients) + "}\n");
}
Scenario deepseek(const std::string& speculative, std::int64_t clients = 8) {
  return read_scenario(document("deepseek-v3", "{tensor_parallel: 8}", speculative, clients));
}
Speculation read(const std::string& speculative) {
  return deepseek(speculative).serving.speculation;
}

ServingEstimate run(const Scenario& s) {
  Workspace workspace;
  return estimate(view(s), workspace);
}

}  // namespace

TEST_CASE("A step yields one token and those before the first that is refused", "[unit]") {
  CHECK(chain({}).tokens_per_iteration() == 1.0);
  CHECK(chain({0.0, 1.0}).tokens_per_iteration() == 1.0);
  CHECK(chain({1.0, 1.0, 1.0}).tokens_per_iteration() == 4.0);
  CHECK(chain({0.9, 0.5}).tokens_per_iteration() == Approx(1.0 + 0.9 + 0.45));
  // (1 - a^(g+1)) / (1 - a), arXiv 2211.17192.
  CHECK(chain({0.8, 0.8, 0.8}).tokens_per_iteration() == Approx((1.0 - std::pow(0.8, 4.0)) / 0.2));
}

TEST_CASE("Steps of an answer are the mean number of draws that fill it", "[unit]") {
  for (const auto& acceptance :
       {std::vector<double>{0.85}, {0.9, 0.6, 0.3}, {0.5, 0.5, 0.5, 0.5}}) {
    const Speculation s = chain(acceptance);
    base::Random random(7, "test");
    double steps = 0.0;
    constexpr int kAnswers = 20000;
    constexpr std::int64_t kTokens = 100;
    for (int i = 0; i < kAnswers; ++i) {
      for (std::int64_t made = 0; made < kTokens; ++steps) {
        made += 1 + s.accepted(random.uniform());
      }
    }
    CHECK(s.iterations(kTokens) == Approx(steps / kAnswers).epsilon(0.002));
  }
  CHECK(chain({}).iterations(100) == 100.0);
  CHECK(chain({1.0, 1.0}).iterations(100) ==
        Approx(34.0).margin(0.5));  // equal draws: the mean over all n
  CHECK(chain({0.9}).iterations(0) == 0.0);
  CHECK(chain({1.0, 1.0, 1.0}).iterations(1) == 1.0);
}

TEST_CASE("Positions behind measured means yield these means", "[unit]") {
  const workloads::MeasuredAcceptance all{"", "", {1, 2, 3, 4}, {1.84, 2.5, 2.99, 3.33}};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto drafts = static_cast<std::int64_t>(i + 1);
    CHECK(chain(acceptance_of(all, drafts)).tokens_per_iteration() ==
          Approx(all.tokens_per_iteration[i]));
  }
  CHECK(acceptance_of(all, 2)[1] == Approx(0.66 / 0.84));
  // One mean alone: all positions are equal.
  const auto equal = acceptance_of({"", "", {7}, {5.15}}, 7);
  CHECK(chain(equal).tokens_per_iteration() == Approx(5.15));
  CHECK(equal.front() == Approx(equal.back()));
  CHECK(acceptance_of({"", "", {7}, {5.15}}, 3)[0] == Approx(equal[0]));
  // A longer draft that yielded less.
  CHECK(chain(acceptance_of({"", "", {6, 7}, {3.77, 3.73}}, 7)).tokens_per_iteration() ==
        Approx(3.73));
  CHECK(acceptance_of(all, 0).empty());
}

TEST_CASE("Acceptance is said in one of four ways", "[unit]") {
  CHECK(read("{method: mtp, draft_tokens: 2, acceptance: 0.8}").acceptance ==
        std::vector<double>{0.8, 0.8});
  CHECK(
      read("{method: mtp, draft_tokens: 2, acceptance_by_position: [0.9, 0.7, 0.2]}").acceptance ==
      std::vector<double>{0.9, 0.7});
  CHECK(read("{method: mtp, draft_tokens: 3, tokens_per_iteration: 2.4}").tokens_per_iteration() ==
        Approx(2.4));
  CHECK(read("{method: mtp, draft_tokens: 1, measured: deepseek-v3_mtp}").tokens_per_iteration() ==
        Approx(1.85));
  CHECK(read("{method: mtp, draft_tokens: 7, measured: deepseek-v3_mtp}").tokens_per_iteration() ==
        Approx(3.20));
}

TEST_CASE("A draft keeps weights and keys beside the model's", "[unit]") {
  const Scenario plain = deepseek("");
  const Scenario mtp = deepseek("{method: mtp, draft_tokens: 3, acceptance: 0.8}");
  const ServingEstimate without = run(plain);
  const ServingEstimate with = run(mtp);
  REQUIRE(with.fits());
  // One module: a MoE layer in fp8 (and MLA's absorbed copies in bf16) over 8 ranks, about 1/58 of the model, and
  // the bf16 projection 2 x 7168 to 7168.
  const double more = with.footprint.weights.si() - without.footprint.weights.si();
  CHECK(more > 2.0 * 2.0 * 7168.0 * 7168.0 + 11.5e9 / 8.0);
  CHECK(more < 2.0 * 2.0 * 7168.0 * 7168.0 + 13.0e9 / 8.0);
  // The module's latent of each token, and blocks for three more.
  const auto draft = draft_model_of(view(mtp));
  ScenarioView s = view(mtp);
  s.draft = draft.get();
  CHECK(cache_of(s).mean_request / cache_of(view(plain)).mean_request ==
        Approx(62.0 / 61.0).epsilon(0.02));
}

TEST_CASE("States of recurrent layers are kept for each token that may be the last", "[unit]") {
  const auto at = [](const std::string& speculative) {
    const Scenario s =
        read_scenario(document("nemotron-3-super-120b-a12b", "{tensor_parallel: 8}", speculative));
    return states_of(view(s)).si();
  };
  CHECK(at("{method: ngram, draft_tokens: 3, acceptance: 0.5}") == Approx(4.0 * at("")));
}

TEST_CASE("The passes of a draft are one over the step's tokens and one for each token more",
          "[unit]") {
  const Scenario s = deepseek("{method: mtp, draft_tokens: 3, acceptance: 0.8}");
  const auto [first, next] = draft_passes(view(s), {10, 4, 2000, 2, 500, 0, 1});
  CHECK(first.count == 1);
  CHECK(first.batch.tokens() == 10 * 4 + 2 * 500);
  CHECK(first.batch.logit_rows() == 12);
  CHECK(next.count == 2);
  CHECK(next.batch.tokens() == 12);
  // The step is verification and these.
  Workspace workspace;
  const auto draft = draft_model_of(view(s));
  ScenarioView with = view(s);
  with.draft = draft.get();
  const workloads::Batch batch{10, 4, 2000, 0, 0, 0, 1};
  const auto passes = draft_passes(view(s), batch);
  const IterationCost step = iteration_cost(with, batch, workspace);
  const IterationCost verified = iteration_cost(view(s), batch, workspace);
  double drafted = 0.0;
  for (const DraftPass& pass : passes) {
    drafted += static_cast<double>(pass.count) *
               iteration_cost(draft->view, pass.batch, workspace).latency.si();
  }
  const auto host = [](const IterationCost& cost) {
    return cost.by_limit[static_cast<std::size_t>(Limit::host)].si();
  };
  CHECK(drafted > 0.0);
  CHECK(step.latency.si() - host(step) ==
        Approx(verified.latency.si() - host(verified) + drafted).epsilon(1e-9));
  CHECK(host(step) <= host(verified));
}

TEST_CASE("Ranks without the draft draw nothing while it runs", "[unit]") {
  const auto drafted = [](const std::string& tensor_parallel) {
    const Scenario s = read_scenario(
        document("llama-3.1-70b", "{tensor_parallel: 8}",
                 "{method: draft model, model: llama-3.1-8b, draft_tokens: 2, acceptance: 0.8, "
                 "tensor_parallel: " +
                     tensor_parallel + "}"));
    Workspace workspace;
    const auto draft = draft_model_of(view(s));
    ScenarioView with = view(s);
    with.draft = draft.get();
    const workloads::Batch batch{8, 3, 1000, 0, 0, 0, 1};
    double joules = 0.0;  // of one rank that drafts
    for (const DraftPass& pass : draft_passes(view(s), batch)) {
      joules += static_cast<double>(pass.count) *
                iteration_cost(draft->view, pass.batch, workspace).energy_above_idle.si();
    }
    return (iteration_cost(with, batch, workspace).energy_above_idle.si() -
            iteration_cost(view(s), batch, workspace).energy_above_idle.si()) /
           joules;
  };
  CHECK(drafted("8") == Approx(1.0).epsilon(0.02));  // less what the host waits for
  CHECK(drafted("2") == Approx(0.25).epsilon(0.02));
}

TEST_CASE("TPOT alone is the step over the tokens it yields", "[unit]") {
  const Scenario s = deepseek("{method: mtp, draft_tokens: 3, acceptance: 1}", 1);
  const ServingEstimate e = run(s);
  Workspace workspace;
  const auto draft = draft_model_of(view(s));
  ScenarioView with = view(s);
  with.draft = draft.get();
  // 256 tokens in 64 steps of four.
  const double step = iteration_cost(with, {1, 4, 1024 + 128, 0, 0, 0, 1}, workspace).latency.si();
  CHECK(e.steady.tpot.si() == Approx(step / 4.0).epsilon(1e-3));
  CHECK(e.steady.tokens_per_iteration == 4.0);
}

TEST_CASE("A scheduler moves on by what is accepted", "[unit]") {
  const auto scenario = [](const std::string& acceptance) {
    return read_scenario(document(
        "llama-3.1-8b", "{}", "{method: ngram, draft_tokens: 3, acceptance: " + acceptance + "}"));
  };
  const auto iterations = [&](const std::string& acceptance, std::int64_t output) {
    const Scenario s = scenario(acceptance);
    Scheduler queue(view(s), 1e12 * base::byte);
    queue.enqueue({0, 100, 0, output});
    int count = 0;
    double context = 0.0;
    while (queue.finished().empty() && count < 1000) {
      const auto ranks = queue.schedule(0);
      REQUIRE(!ranks.empty());
      CHECK(ranks.front().context >= context);
      context = ranks.front().context;
      queue.complete(0);
      ++count;
    }
    CHECK(queue.cache_used() == 0);
    return count;
  };
  CHECK(iterations("0", 41) == 41);
  CHECK(iterations("1", 41) == 11);
  CHECK(iterations("1", 43) == 12);
  const int half = iterations("0.5", 401);
  CHECK(half > 190);  // 400 / 1.875
  CHECK(half < 240);
}

TEST_CASE("A simulated benchmark speculates as the estimate does", "[unit]") {
  for (const char* speculative : {"{method: mtp, draft_tokens: 1, acceptance: 0.85}",
                                  "{method: mtp, draft_tokens: 3, measured: deepseek-v3_mtp}"}) {
    INFO(speculative);
    base::Node node = document("deepseek-v3", "{tensor_parallel: 8}", speculative, 1);
    base::Problems problems;
    set_knob(node, {"--set", "traffic.requests=20", {}}, problems);
    const StreamedScenario s = read_streamed_scenario(std::move(node));
    Workspace workspace;
    const auto e = estimate(view(s.scenario), workspace);
    const auto run =
        simulate(view(s.scenario), workloads::draw_requests(s.stream), s.stream.concurrency);
    REQUIRE(run.reason.empty());
    CHECK(summarise(run, 0, {}).tpot.mean.si() == Approx(e.steady.tpot.si()).epsilon(0.02));
    for (const ServedRequest& request : run.requests) {
      CHECK(request.last_token > request.first_token);
    }
  }
}

TEST_CASE("A draft's weights take room from a simulated cache as from an estimate's", "[unit]") {
  const auto reasons = [](const char* draft) {
    const StreamedScenario s =
        read_streamed_scenario(document("llama-3.1-8b", "{tensor_parallel: 1}", draft));
    const auto simulated =
        simulate(view(s.scenario), workloads::draw_requests(s.stream), s.stream.concurrency);
    return std::pair{reason(run(s.scenario)), simulated.reason};
  };
  const auto [estimated, simulated] = reasons(
      "{method: draft model, model: llama-3.1-70b, tensor_parallel: 1, draft_tokens: 2, "
      "acceptance: 0.8}");
  CHECK_FALSE(estimated.empty());
  CHECK(simulated == estimated);
  CHECK(reasons("") == std::pair{std::string(), std::string()});
}

TEST_CASE("What cannot draft is a row with a reason", "[unit]") {
  const auto why = [](const std::string& model, const std::string& speculative) {
    return reason(run(read_scenario(document(model, "{tensor_parallel: 8}", speculative))));
  };
  CHECK(why("llama-3.1-70b", "{method: mtp, draft_tokens: 1, acceptance: 0.8}") ==
        "the model has no multi-token-prediction module");
  CHECK(why("llama-3.1-70b", "{method: mtp, draft_tokens: 0, acceptance: 0.8}").empty());
  CHECK(why("llama-3.1-70b", "{method: eagle, draft_tokens: 1, acceptance: 0.8}").empty());
  CHECK(why("llama-3.1-70b",
            "{method: draft model, model: llama-3.1-8b, tensor_parallel: 5, "
            "draft_tokens: 1, acceptance: 0.8}") ==
        "of the draft model, tensor_parallel does not divide the query heads");
  CHECK(why("llama-3.1-70b",
            "{method: draft model, model: llama-3.1-8b, tensor_parallel: 16, "
            "draft_tokens: 1, acceptance: 0.8}") ==
        "the draft model needs 16 ranks, a stage has 8");
}

}  // namespace roofcast::sim::unit_workloads_speculation
