// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/closed_loop.hpp"

#include <algorithm>
#include <cmath>

#include "sim/estimate.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/serving/front_end_load.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"
#include "workloads/traffic/length_cells.hpp"

namespace roofcast::unit_sim_serving_closed_loop {

using workloads::Lengths;

namespace {

Lengths lognormal(double mean, double cv) {
  return {.shape = Lengths::Shape::lognormal, .least = 1, .most = 100'000, .mean = mean, .cv = cv};
}

const workloads::Serving& serving(std::string_view stack) {
  const auto& all = laws::servings();
  return *std::find_if(all.begin(), all.end(),
                       [&](const workloads::Serving& s) { return s.stack.id == stack; });
}

// Llama-3.1-8B in fp8 on an H200 under vLLM.
sim::Scenario scenario(std::int64_t clients) {
  sim::Scenario s;
  s.platform = laws::platform("hgx_h200");
  s.model = laws::model("llama-3.1-8b");
  s.precision = laws::precision("fp8");
  s.serving = serving("vllm");
  s.traffic.input_tokens = 1000;
  s.traffic.output_tokens = 200;
  s.traffic.concurrency = clients;
  s.traffic.input = lognormal(1000.0, 0.5);
  s.traffic.output = lognormal(200.0, 0.7);
  return s;
}

}  // namespace

TEST_CASE("Cells of lengths have the weight and the mean of what is drawn", "[unit]") {
  for (const Lengths& lengths :
       {lognormal(20.0, 1.2), lognormal(500.0, 0.4),
        Lengths{.shape = Lengths::Shape::uniform, .least = 3, .most = 90},
        Lengths{.shape = Lengths::Shape::uniform, .least = 1, .most = 5000}}) {
    double weight = 0.0;
    double mean = 0.0;
    for (const workloads::WeightedLength& cell : workloads::cells_of(lengths)) {
      weight += cell.weight;
      mean += cell.weight * cell.tokens;
    }
    CHECK(weight == Approx(1.0));
    CHECK(mean == Approx(workloads::mean(lengths)).epsilon(0.01));
  }
}

TEST_CASE("Short answers are told apart one by one", "[unit]") {
  double inverse = 0.0;  // E[1/n] of 1..40 is the 40th harmonic number over 40
  double harmonic = 0.0;
  const Lengths lengths{.shape = Lengths::Shape::uniform, .least = 1, .most = 40};
  for (const workloads::WeightedLength& cell : workloads::cells_of(lengths)) {
    inverse += cell.weight / cell.tokens;
  }
  for (int n = 1; n <= 40; ++n) {
    harmonic += 1.0 / n;
  }
  CHECK(inverse == Approx(harmonic / 40.0).epsilon(1e-3));
}

// M/D/1 waits ρS/2(1−ρ); a burst of m that fills a share of the time leaves m/2 of it to who meets it.
TEST_CASE("A front end without messages is M/D/1, without intakes a burst", "[unit]") {
  const sim::FrontEndLoad intakes{.rate = 50.0 * base::hertz,
                                  .intake = 10.0 * base::millisecond,
                                  .intake_square = square(10.0 * base::millisecond)};
  CHECK(intakes.wait().si() == Approx(0.5 * 0.01 / (2.0 * 0.5)));
  const sim::FrontEndLoad messages{.messages = 0.4, .burst = 2.0 * base::millisecond};
  CHECK(messages.wait().si() == Approx(0.4 * 0.001));
  CHECK(messages.wait_after_messages() == base::Seconds{});
  CHECK(messages.delay(messages.burst).si() == Approx(0.002));
}

// A simulation of SGLang serves 2.4 % fewer requests of 1024 clients, who wait for slots, than of 512.
TEST_CASE("More clients of varied requests are served hardly fewer requests, in no less time each",
          "[unit]") {
  sim::Workspace workspace;
  for (const std::string_view stack : {"vllm", "sglang", "trtllm"}) {
    double rate = 0.0;
    double stay = 0.0;
    for (const std::int64_t clients : {1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512, 2048}) {
      sim::Scenario s = scenario(clients);
      s.serving = serving(stack);
      const sim::ServingEstimate e = sim::estimate(sim::view(s), workspace);
      INFO(stack << ", " << clients << " clients");
      REQUIRE(e.fits());
      CHECK(e.steady.requests_per_second >= 0.96 * rate);
      CHECK(e.steady.end_to_end.si() >= 0.99 * stay);
      CHECK(e.steady.requests_per_second * e.steady.end_to_end.si() ==
            Approx(static_cast<double>(clients)));
      rate = e.steady.requests_per_second;
      stay = e.steady.end_to_end.si();
    }
  }
}

}  // namespace roofcast::unit_sim_serving_closed_loop
