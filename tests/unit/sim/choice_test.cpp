// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/choice.hpp"

#include <cmath>

#include "tests/catch.hpp"
#include "tests/conditions.hpp"

namespace roofcast::unit_sim_choice {

using sim::KnobRange;

namespace {

KnobRange range_of(const std::string& text) {
  base::Problems problems;
  KnobRange range =
      sim::parse_knob_range({"--vary", text, {}}, base::parse_document("s.yaml", "{}\n"), problems);
  problems.throw_if_any();
  return range;
}

std::vector<KnobRange> ranges_of(const std::vector<std::string>& texts) {
  std::vector<KnobRange> ranges;
  for (const std::string& text : texts) {
    ranges.push_back(range_of(text));
  }
  return ranges;
}

struct CostAndTime {
  double cost;
  double time;
};

// Estimates whose cost and TTFT are what a function makes of the knobs' numbers.
template <class Function>
sim::EstimateAll estimates_by(Function function) {
  return [function](const sim::KnobValues& values) {
    std::size_t all = 1;
    for (const auto& knob : values) {
      all *= knob.size();
    }
    std::vector<sim::ServingEstimate> estimates(all);
    for (std::size_t i = 0; i < all; ++i) {
      std::vector<double> numbers(values.size());
      std::size_t rest = i;
      for (std::size_t k = values.size(); k-- > 0; rest /= values[k].size()) {
        numbers[k] = std::stod(values[k][rest % values[k].size()]);
      }
      const CostAndTime made = function(numbers);
      estimates[i].usd_per_mtok = made.cost;
      estimates[i].steady.ttft_mean = made.time * base::second;
    }
    return estimates;
  };
}

const sim::Objective kLeastCost{sim::find_metric("cost_usd_per_mtok"), sim::Direction::minimize};

double cost(const sim::Choice& choice) { return choice.estimate.usd_per_mtok; }

}  // namespace

TEST_CASE("Of all combinations that meet the conditions the best is taken, of equals the first",
          "[unit]") {
  const auto estimates = estimates_by([](const std::vector<double>& k) {
    return CostAndTime{k[0] * k[1], 10.0 / k[0] / std::sqrt(k[1])};
  });
  sim::ChoiceSearch search(ranges_of({"a=1..8", "b=1,2,4"}), kLeastCost, estimates);
  const sim::Choice best = search.best(conditions({"ttft_mean_s <= 2"}));
  CHECK(best.found);
  CHECK(best.every);
  CHECK(best.tried == 24);
  CHECK(best.values == std::vector<std::string>{"5", "1"});
  const sim::Choice none = search.best(conditions({"ttft_mean_s <= 0.1"}));
  CHECK_FALSE(none.found);
  CHECK(none.met == 0);
  CHECK(none.values == std::vector<std::string>{"8", "4"});  // the nearest
  sim::ChoiceSearch most(ranges_of({"a=1..8", "b=1,2,4"}),
                         {kLeastCost.metric, sim::Direction::maximize}, estimates);
  CHECK(most.best(conditions({"ttft_mean_s >= 2"})).values == std::vector<std::string>{"2", "4"});
}

TEST_CASE("A combination without the metric is counted and not chosen", "[unit]") {
  sim::ChoiceSearch search(ranges_of({"a=1..4"}), kLeastCost,
                           estimates_by([](const std::vector<double>& k) {
                             return CostAndTime{k[0] < 3.0 ? std::nan("") : k[0], 1.0};
                           }));
  const sim::Choice best = search.best(conditions({"fits"}));
  CHECK(best.values == std::vector<std::string>{"3"});
  CHECK(best.met == 4);
  CHECK(best.unknown == 2);
}

TEST_CASE("The least of a + b where 1/a + 4/b is at most 1 is 9", "[unit]") {
  const auto estimates = estimates_by([](const std::vector<double>& k) {
    return CostAndTime{k[0] + k[1], 1.0 / k[0] + 4.0 / k[1]};
  });
  const auto until = conditions({"ttft_mean_s <= 1"});
  for (const char* b : {"b=0.5..700.0", "b=1..700"}) {
    sim::ChoiceSearch search(ranges_of({"a=0.5..300.0", b}), kLeastCost, estimates);
    const sim::Choice best = search.best(until);
    INFO(b << " " << best.values[0] << " " << best.values[1]);
    REQUIRE(best.found);
    CHECK_FALSE(best.every);
    CHECK(cost(best) >= 9.0 * (1.0 - 1e-9));
    CHECK(cost(best) == Approx(9.0).epsilon(0.005));
    // A bound looser by a hundredth is worth a hundredth: the cost is 9 over the bound.
    const double then = cost(search.relaxed(until, 0, 0.01));
    CHECK(cost(best) - then == Approx(9.0 - 9.0 / 1.01).margin(0.05));
  }
}

TEST_CASE(
    "A combination that a replay breaks takes no other with it, in a list and in a whole range",
    "[unit]") {
  // The share that meets is told as 1 throughout, which no bound can be tighter than.
  const auto estimates = [](const sim::KnobValues& values) {
    std::vector<sim::ServingEstimate> all;
    for (const std::string& value : values.front()) {
      sim::ServingEstimate& e = all.emplace_back();
      e.usd_per_mtok = 100.0 - std::stod(value);
      e.steady.attainment = 1.0;
    }
    return all;
  };
  const auto until = conditions({"attainment >= 0.9"});
  sim::ServingEstimate broken;
  broken.steady.attainment = 0.6;
  for (const char* text : {"a=12..18", "a=12,13,14,15,16,17,18"}) {
    INFO(text);
    sim::ChoiceSearch search(ranges_of({text}), kLeastCost, estimates);
    for (const char* next : {"18", "17", "16", "15", "14", "13", "12"}) {
      const sim::Choice best = search.best(until);
      REQUIRE(best.found);
      CHECK(best.values.front() == next);
      CHECK(search.reject(best, until, broken));
    }
    CHECK_FALSE(search.best(until).found);
  }
}

TEST_CASE("No bound of a share is tightened beyond 1", "[unit]") {
  const auto until = conditions({"attainment >= 0.9"});
  sim::ServingEstimate broken;
  broken.steady.attainment = 0.6;
  for (const double share : {0.95, 1.0}) {
    sim::ChoiceSearch search(ranges_of({"a=1.5..18.5"}), kLeastCost,
                             [&](const sim::KnobValues& values) {
                               std::vector<sim::ServingEstimate> all;
                               for (const std::string& value : values.front()) {
                                 sim::ServingEstimate& e = all.emplace_back();
                                 e.usd_per_mtok = 100.0 - std::stod(value);
                                 e.steady.attainment = std::stod(value) > 10.0 ? share : 1.0;
                               }
                               return all;
                             });
    const sim::Choice first = search.best(until);
    CHECK(std::stod(first.values.front()) == 18.5);
    CHECK(search.reject(first, until, broken) == (share < 1.0));
    const sim::Choice next = search.best(until);
    CHECK(next.found);
    CHECK(std::stod(next.values.front()) <= (share < 1.0 ? 10.0 : 18.5));
  }
}

TEST_CASE("Knobs of too many combinations are moved in pairs, and lead to the same", "[unit]") {
  // A product, so that no one knob alone gains, and a dip that is off the middle.
  const auto estimates = estimates_by([](const std::vector<double>& k) {
    const double together = std::abs(std::log(k[0] * k[1] / 96.0));
    const double other = std::abs(std::log(k[2] * k[3] / 30.0)) + 0.1 * std::abs(k[2] - 6.0);
    return CostAndTime{1.0 + together + other, k[0] / k[1]};
  });
  const auto ranges = ranges_of({"a=1..40", "b=1..40", "c=1..20", "d=1..20"});
  const auto until = conditions({"ttft_mean_s <= 2"});
  const sim::Choice all = sim::ChoiceSearch(ranges, kLeastCost, estimates).best(until);
  CHECK(all.every);
  const sim::ChoiceLimits narrow{2000, 2000};
  const sim::Choice some = sim::ChoiceSearch(ranges, kLeastCost, estimates, narrow).best(until);
  CHECK_FALSE(some.every);
  CHECK(some.tried < all.tried);
  CHECK(cost(some) == Approx(cost(all)));
  const sim::Choice again = sim::ChoiceSearch(ranges, kLeastCost, estimates, narrow).best(until);
  CHECK(again.values == some.values);
}

}  // namespace roofcast::unit_sim_choice
