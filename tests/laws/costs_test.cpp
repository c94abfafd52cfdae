// SPDX-License-Identifier: Apache-2.0
//
// Laws of what tokens cost.
#include "sim/result/costs.hpp"
#include "sim/estimate.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "sim/result/metrics.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::laws::laws_costs {
namespace {

// Eight H100, owned, with figures that are easy to reckon with.
constexpr const char* kOwned = R"(
system: {base: hgx_h100, purchase: {price: 80 kUSD, gpus: 8, date: today, source: invented for this test},
         host_power: {per_gpu: 300 W, source: invented for this test}, source: invented for this test}
model: llama-3.1-70b
precision: fp8
deployment: {tensor_parallel: 8}
serving: {stack: vllm}
traffic: {input_tokens: 4000, output_tokens: 500, concurrency: 64, cached_tokens: 3000}
prices:
  pay: ownership
  depreciation: {years: 4, source: invented for this test}
  electricity: {price: 0.1 USD/kWh, source: invented for this test}
  hosting: {per_kw_month: 150 USD, source: invented for this test}
  pue: {ratio: 1.25, source: invented for this test}
  grid: {co2_g_per_kwh: 400, source: invented for this test}
  assumed: {utilisation: 0.5, upkeep_per_year: 0.05, source: invented for this test}
  power_budget: 100 kW
)";

struct Priced {
  sim::ServingEstimate estimate;
  sim::CostParts parts;
  std::string missing;
  double value(std::string_view metric) const { return sim::find_metric(metric)->value(estimate); }
};

Priced priced(const std::vector<std::string>& changes) {
  base::Node document = base::parse_document("scenario", kOwned);
  base::Problems problems;
  for (const std::string& change : changes) {
    sim::set_knob(document, {"--set", change, {}}, problems);
  }
  problems.throw_if_any();
  const sim::Scenario scenario = sim::read_scenario(document);
  const sim::ScenarioView view = sim::view(scenario);
  sim::Workspace workspace;
  Priced p{sim::estimate(view, workspace), {}, {}};
  REQUIRE(p.estimate.fits());
  p.parts = sim::cost_parts(view, p.estimate);
  p.missing = sim::missing_price(view, p.estimate);
  return p;
}

}  // namespace

TEST_CASE("The cost of what is owned is its parts, by hand", "[laws]") {
  const Priced p = priced({});
  const double hour = 3600.0 / 8.0;  // USD a GPU-hour of USD a second of all
  const double year = 8766.0;        // hours
  CHECK(p.parts.capital * hour == Approx(10'000.0 / (4.0 * year) / 0.5));
  CHECK(p.parts.upkeep * hour == Approx(10'000.0 * 0.05 / year / 0.5));
  CHECK(p.parts.hosting * hour == Approx(150.0 * 12.0 / year * 1.0 / 0.5));  // of 700 W and 300 W
  const double watts = p.value("power_w_per_gpu");
  const double idle = laws::platform("hgx_h100").machine.power.idle.si();  // as long as it serves
  CHECK(p.parts.electricity * hour == Approx(0.1 * 1.25 * (watts + idle + 600.0) / 1000.0));
  CHECK(p.parts.rent == 0.0);
  CHECK(p.value("cost_usd_per_mtok") ==
        Approx(1e6 * p.parts.total() / p.value("throughput_tok_per_s")));
  CHECK(p.missing.empty());
}

TEST_CASE("Each part of the cost is linear in its price and leaves the others", "[laws]") {
  const Priced before = priced({});
  struct Knob {
    const char* path;
    double sim::CostParts::*part;
  };
  const Knob knobs[] = {{"system.purchase.price", &sim::CostParts::capital},
                        {"prices.assumed.upkeep_per_year", &sim::CostParts::upkeep},
                        {"prices.hosting.per_kw_month", &sim::CostParts::hosting},
                        {"prices.electricity.price", &sim::CostParts::electricity},
                        {"prices.pue.ratio", &sim::CostParts::electricity}};
  for (const Knob& knob : knobs) {
    INFO(knob.path);
    const Priced after = priced({std::string(knob.path) + "=x3"});
    CHECK(after.parts.*knob.part == Approx(3.0 * before.parts.*knob.part));
    const double upkeep =
        knob.part == &sim::CostParts::capital ? 2.0 * before.parts.upkeep : 0.0;  // of the purchase
    CHECK(after.parts.total() - before.parts.total() ==
          Approx(2.0 * before.parts.*knob.part + upkeep));
  }
}

TEST_CASE("Half the utilisation doubles what is paid while idle", "[laws]") {
  const Priced busy = priced({"prices.assumed.utilisation=1"});
  const Priced idle = priced({"prices.assumed.utilisation=0.5"});
  CHECK(idle.parts.capital == Approx(2.0 * busy.parts.capital));
  CHECK(idle.parts.upkeep == Approx(2.0 * busy.parts.upkeep));
  CHECK(idle.parts.hosting == Approx(2.0 * busy.parts.hosting));
  const double on = 1.0 + (laws::platform("hgx_h100").machine.power.idle.si() + 300.0) /
                              (busy.value("power_w_per_gpu") + 300.0);
  CHECK(idle.parts.electricity == Approx(on * busy.parts.electricity));
  CHECK(idle.value("co2_g_per_mtok") == Approx(on * busy.value("co2_g_per_mtok")));
}

TEST_CASE("With free power, hosting and upkeep only the purchase is paid", "[laws]") {
  const Priced p =
      priced({"prices.electricity.price=0 USD/kWh", "prices.hosting.per_kw_month=0 USD",
              "prices.assumed.upkeep_per_year=0"});
  CHECK(p.parts.total() == p.parts.capital);
}

TEST_CASE("A rent that equals what owning costs buys tokens at the same price", "[laws]") {
  const Priced owned = priced({});
  const double rent = owned.parts.total() * 3600.0 / 8.0;
  const Priced rented =
      priced({"prices.pay=rental", fmt::format("system.price.per_gpu_hour={:.17g} USD/h", rent)});
  for (const char* metric : {"cost_usd_per_mtok", "input_cost_usd_per_mtok",
                             "cached_cost_usd_per_mtok", "output_cost_usd_per_mtok"}) {
    INFO(metric);
    CHECK(rented.value(metric) == Approx(owned.value(metric)));
  }
}

TEST_CASE("A request pays its input, cached and output tokens and no more", "[laws]") {
  struct Load {
    const char* traffic;
    double input;  // tokens that are not cached
    double cached;
  };
  const Load loads[] = {
      {"{input_tokens: 4000, output_tokens: 500, concurrency: 64, cached_tokens: 3000}", 1e3, 3e3},
      {"{input_tokens: 4000, output_tokens: 500, concurrency: 1, cached_tokens: 3000}", 1e3, 3e3},
      {"{input_tokens: 30000, output_tokens: 100, concurrency: 16}", 3e4, 0.0},
      {"{input_tokens: {uniform: [1000, 3000]}, output_tokens: 300, concurrency: 32}", 2e3, 0.0},
      {"{input_tokens: 2000, output_tokens: 200, arrivals: {process: poisson, rate: 2 /s}}", 2e3,
       0.0}};
  for (const Load& load : loads) {
    INFO(load.traffic);
    const Priced p = priced({fmt::format("traffic={}", load.traffic)});
    const double input = p.value("input_cost_usd_per_mtok");
    const double output = p.value("output_cost_usd_per_mtok");
    const double cached = p.value("cached_cost_usd_per_mtok");
    const double answer = p.value("throughput_tok_per_s") / p.value("requests_per_s");
    CHECK(std::isnan(cached) == (load.cached == 0.0));
    CHECK(input * load.input + (load.cached > 0.0 ? cached * load.cached : 0.0) + output * answer ==
          Approx(p.value("cost_usd_per_mtok") * answer));
    // A prompt computes many tokens at once, and one that is cached costs attention alone.
    CHECK(input > 0.0);
    CHECK(output > input);
    CHECK((load.cached == 0.0 || cached < input));
  }
}

TEST_CASE("Prompts take all of the time of those who want one token", "[laws]") {
  const Priced p = priced({"traffic={input_tokens: 1000, output_tokens: 1, concurrency: 8}"});
  CHECK(std::isnan(p.value("output_cost_usd_per_mtok")));
  CHECK(1000.0 * p.value("input_cost_usd_per_mtok") == Approx(p.value("cost_usd_per_mtok")));
}

TEST_CASE("A longer prompt takes more of the time", "[laws]") {
  double last = 0.0;
  for (const char* length : {"500", "2000", "8000", "32000"}) {
    const Priced p =
        priced({"traffic.cached_tokens=0", std::string("traffic.input_tokens=") + length});
    CHECK(p.estimate.steady.prompt_share > last);
    CHECK(p.estimate.steady.prompt_share < 1.0);
    last = p.estimate.steady.prompt_share;
  }
}

TEST_CASE("A power budget feeds whole replicas and no more than it holds", "[laws]") {
  // A replica reserves 8 · (700 + 300) W · 1.25 = 10 kW.
  for (const auto& [budget, gpus] : {std::pair{"9.9 kW", 0.0}, std::pair{"10 kW", 8.0},
                                     std::pair{"100 kW", 80.0}, std::pair{"109 kW", 80.0}}) {
    const Priced p = priced({std::string("prices.power_budget=") + budget});
    CHECK(p.value("gpus_in_power_budget") == gpus);
    CHECK(p.value("power_budget_tok_per_s") ==
          Approx(gpus * p.value("throughput_tok_per_s_per_gpu")));
  }
  CHECK(priced({}).value("tok_per_s_per_mw") ==
        Approx(100.0 * priced({}).value("throughput_tok_per_s")));
}

TEST_CASE("CO2 is the grid's intensity times the energy of GPUs, hosts and site", "[laws]") {
  const Priced p = priced({"prices.assumed.utilisation=1"});
  const double joules =
      1.25 * (p.value("power_w_per_gpu") + 300.0) / p.value("throughput_tok_per_s_per_gpu");
  CHECK(p.value("co2_g_per_mtok") == Approx(1e6 * joules * 400.0 / 3.6e6));
  CHECK(std::isnan(priced({"prices.grid=null"}).value("co2_g_per_mtok")));
}

TEST_CASE("What is not known is named, and nothing is made up for it", "[laws]") {
  for (const char* key : {"system.purchase", "system.host_power", "system.chip.power.tdp"}) {
    const Priced p = priced({std::string(key) + "=null"});
    CHECK(std::isnan(p.value("cost_usd_per_mtok")));
    CHECK(std::isnan(p.value("output_cost_usd_per_mtok")));
    CHECK(p.missing == key);
  }
  const Priced rented = priced({"prices.pay=rental", "system.price=null"});
  CHECK(std::isnan(rented.value("cost_usd_per_mtok")));
  CHECK(rented.missing == "system.price");
}

TEST_CASE("Every catalogued price list reads as the section of a scenario", "[laws]") {
  const auto all =
      load_all<hardware::Prices>(hardware::price_catalog(), "prices: {}", sim::read_prices);
  CHECK_FALSE(all.empty());
  for (const hardware::Prices& prices : all) {
    INFO(prices.name);
    CHECK((prices.pay == hardware::Pay::rental || prices.depreciation.si() > 0.0));
    CHECK(prices.pue.value_or(1.0) >= 1.0);
  }
}

}  // namespace roofcast::laws::laws_costs
