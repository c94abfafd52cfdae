// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/requests.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/document/problems.hpp"
#include "base/document/schema.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_workloads_requests {

using Catch::Matchers::ContainsSubstring;
using workloads::ArrivalProcess;
using workloads::Arrivals;
using workloads::Lengths;

namespace {

constexpr int kDraws = 200000;

Arrivals arrivals_of(const std::string& text) {
  const base::Node document = base::parse_document("test.yaml", text);
  base::Problems problems;
  base::Fields fields(document, "", problems);
  Arrivals arrivals;
  read(fields, arrivals);
  fields.end();
  problems.throw_if_any();
  return arrivals;
}

Lengths lengths_of(const std::string& text) {
  const base::Node document = base::parse_document("test.yaml", "input_tokens: " + text);
  base::Problems problems;
  base::Fields fields(document, "", problems);
  Lengths lengths;
  read(fields, "input_tokens", lengths);
  fields.end();
  problems.throw_if_any();
  return lengths;
}

struct Moments {
  double mean = 0.0;
  double cv = 0.0;
};

Moments gaps_of(const Arrivals& arrivals) {
  workloads::ArrivalTimes times(arrivals, base::Random(5, "gaps"));
  double before = 0.0;
  double sum = 0.0;
  double squares = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double now = times.next().si();
    const double gap = now - before;
    before = now;
    sum += gap;
    squares += gap * gap;
  }
  const double mean = sum / kDraws;
  return {mean, std::sqrt(squares / kDraws / (mean * mean) - 1.0)};
}

}  // namespace

TEST_CASE("arrivals have the rate and the burstiness they are given", "[unit]") {
  const Moments poisson = gaps_of(arrivals_of("{process: poisson, rate: 4 /s}"));
  CHECK(poisson.mean == Approx(0.25).epsilon(0.01));
  CHECK(poisson.cv == Approx(1.0).epsilon(0.02));
  const Moments bursty = gaps_of(arrivals_of("{process: gamma, rate: 120 /min, cv: 2}"));
  CHECK(bursty.mean == Approx(0.5).epsilon(0.02));
  CHECK(bursty.cv == Approx(2.0).epsilon(0.03));
  const Moments smooth = gaps_of(arrivals_of("{process: gamma, rate: 2 Hz, cv: 0.25}"));
  CHECK(smooth.mean == Approx(0.5).epsilon(0.01));
  CHECK(smooth.cv == Approx(0.25).epsilon(0.02));
}

TEST_CASE("constant arrivals come one gap apart, the first after one", "[unit]") {
  const Arrivals arrivals = arrivals_of("{process: constant, rate: 4 /s}");
  workloads::ArrivalTimes times(arrivals, base::Random(1));
  CHECK(times.next().si() == 0.25);
  CHECK(times.next().si() == 0.5);
}

TEST_CASE("modulated arrivals have the mean rate of their phases", "[unit]") {
  const Arrivals arrivals =
      arrivals_of("{process: mmpp, rates: [1 /s, 10 /s], sojourns: [60 s, 5 s]}");
  CHECK(mean_rate(arrivals).si() == Approx(110.0 / 65.0));
  const Moments gaps = gaps_of(arrivals);
  CHECK(gaps.mean == Approx(65.0 / 110.0).epsilon(0.03));
  CHECK(gaps.cv > 1.1);
  const Moments equal =
      gaps_of(arrivals_of("{process: mmpp, rates: [3 /s, 3 /s], sojourns: [1 s, 2 s]}"));
  CHECK(equal.cv == Approx(1.0).epsilon(0.02));
}

TEST_CASE("a phase without arrivals passes", "[unit]") {
  const Moments gaps =
      gaps_of(arrivals_of("{process: mmpp, rates: [0 /s, 2 /s], sojourns: [1 s, 1 s]}"));
  CHECK(gaps.mean == Approx(1.0).epsilon(0.02));
  // An interrupted Poisson process has hyperexponential gaps (Kuczura 1973): c^2 = 1 + 2 l g /
  // (g + w)^2 with rate l, 1/g and 1/w the mean times on and off; here 1 + 2*2*1/4.
  CHECK(gaps.cv == Approx(std::sqrt(2.0)).epsilon(0.03));
}

TEST_CASE("arrivals that say too little or the wrong things are refused", "[unit]") {
  const auto said = [](const std::string& text) {
    try {
      arrivals_of(text);
    } catch (const base::InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(said("{process: poison, rate: 1 /s}"), ContainsSubstring("did you mean \"poisson\""));
  CHECK_THAT(said("{process: poisson, rate: 3.5}"),
             ContainsSubstring("no unit: append one, for example \"3.5 GHz\" of a clock, "
                               "\"3.5 /s\" of arrivals (Hz, MHz, GHz, /s)"));
  CHECK_THAT(said("{process: poisson, rate: 0 /s}"), ContainsSubstring("must be more than 0"));
  CHECK_THAT(said("{process: gamma, rate: 1 /s}"), ContainsSubstring("\"cv\" is required"));
  CHECK_THAT(said("{process: poisson, rate: 1 /s, cv: 2}"),
             ContainsSubstring("unknown key \"cv\""));
  CHECK_THAT(said("{process: mmpp, rates: [1 /s, 2 /s], sojourns: [1 s]}"),
             ContainsSubstring("1:48: error: sojourns: must be as many as rates"));
  CHECK_THAT(said("{process: mmpp, rates: [0 /s], sojourns: [1 s]}"),
             ContainsSubstring("at least one must be more than 0"));
  CHECK_THAT(said("{process: mmpp, rates: [1 /s, 2 s], sojourns: [1 s, 1 s]}"),
             ContainsSubstring("1:31: error: rates: \"2 s\" is a time, but a frequency"));
}

TEST_CASE("lengths are fixed, uniform or lognormal", "[unit]") {
  base::Random random(9, "lengths");
  CHECK(draw(lengths_of("1024"), random) == 1024);
  const Lengths uniform = lengths_of("{uniform: [820, 1024]}");
  const Lengths lognormal = lengths_of("{lognormal: {mean: 1000, cv: 1.2}}");
  const Lengths clamped = lengths_of("{lognormal: {mean: 1000, cv: 1.2, max: 1500}}");
  double uniform_sum = 0.0;
  double sum = 0.0;
  std::int64_t longest = 0;
  for (int i = 0; i < kDraws; ++i) {
    const std::int64_t tokens = draw(uniform, random);
    CHECK_FALSE((tokens < 820 || tokens > 1024));
    uniform_sum += static_cast<double>(tokens);
    sum += static_cast<double>(draw(lognormal, random));
    longest = std::max(longest, draw(clamped, random));
  }
  CHECK(uniform_sum / kDraws == Approx(922.0).epsilon(0.001));
  CHECK(sum / kDraws == Approx(1000.0).epsilon(0.02));
  CHECK(longest == 1500);
}

TEST_CASE("lengths that say too little or too much are refused", "[unit]") {
  const auto said = [](const std::string& text) {
    try {
      lengths_of(text);
    } catch (const base::InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(said("0"), ContainsSubstring("input_tokens: must be at least 1, not 0"));
  CHECK_THAT(said("{uniform: [5, 2]}"), ContainsSubstring("the least and the most are expected"));
  CHECK_THAT(said("{uniform: [5]}"), ContainsSubstring("the least and the most are expected"));
  CHECK_THAT(said("{unifrom: [5, 6]}"), ContainsSubstring("did you mean \"uniform\""));
  CHECK_THAT(said("{lognormal: {mean: 5}}"), ContainsSubstring("\"cv\" is required"));
  CHECK_THAT(said("{uniform: [1, 2], lognormal: {mean: 5, cv: 1}}"),
             ContainsSubstring("one of uniform and lognormal is expected"));
}

TEST_CASE("lengths may be a number or a map in the schema", "[unit]") {
  const base::Key all = base::describe([](base::Fields& f) {
    Lengths lengths;
    read(f, "input_tokens", lengths);
  });
  REQUIRE(all.below.size() == 1);
  CHECK(all.below[0].type == base::Key::Type::group);
  REQUIRE(all.below[0].single.size() == 1);
  CHECK(all.below[0].single[0].type == base::Key::Type::integer);
  CHECK(all.below[0].need == base::required);
}

TEST_CASE("another rate meets the same lengths", "[unit]") {
  const Lengths lengths = lengths_of("{uniform: [1, 1000]}");
  const auto slow =
      draw_requests(arrivals_of("{process: poisson, rate: 1 /s}"), lengths, lengths, 100, 3);
  const auto fast =
      draw_requests(arrivals_of("{process: poisson, rate: 2 /s}"), lengths, lengths, 100, 3);
  const auto other =
      draw_requests(arrivals_of("{process: poisson, rate: 1 /s}"), lengths, lengths, 100, 4);
  REQUIRE(slow.requests.size() == 100);
  int differ = 0;
  int in_differs_from_out = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(slow.requests[i].input_tokens == fast.requests[i].input_tokens);
    CHECK(slow.requests[i].output_tokens == fast.requests[i].output_tokens);
    CHECK(slow.requests[i].arrival.si() == Approx(2.0 * fast.requests[i].arrival.si()));
    differ += slow.requests[i].input_tokens != other.requests[i].input_tokens ? 1 : 0;
    in_differs_from_out += slow.requests[i].input_tokens != slow.requests[i].output_tokens ? 1 : 0;
  }
  CHECK(differ > 90);
  CHECK(in_differs_from_out > 90);
}

TEST_CASE("measured lengths are their own distribution", "[unit]") {
  std::vector<std::int32_t> samples;
  for (int i = 1; i <= 1000; ++i) {
    samples.push_back(i * i % 1009);
  }
  double sum = 0.0;
  double squares = 0.0;
  for (const std::int32_t tokens : samples) {
    sum += tokens;
    squares += static_cast<double>(tokens) * tokens;
  }
  const Lengths lengths = workloads::measured_lengths(samples);
  CHECK(mean(lengths) == Approx(sum / 1000.0));
  CHECK(squared_variation(lengths) == Approx(1000.0 * squares / (sum * sum) - 1.0));
  for (const std::int64_t tokens : {3, 30, 300, 900}) {
    const auto short_ones = std::count_if(samples.begin(), samples.end(),
                                          [&](std::int32_t each) { return each <= tokens; });
    CHECK(share_up_to(lengths, tokens) == Approx(static_cast<double>(short_ones) / 1000.0));
  }
  base::Random random(1);
  double drawn = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    drawn += static_cast<double>(draw(lengths, random));
  }
  CHECK(drawn / kDraws == Approx(mean(lengths)).epsilon(0.01));
  CHECK(workloads::measured_lengths({7, 7}).shape == Lengths::Shape::fixed);
}

TEST_CASE("Requests of one rate come at it between two of them, in their order", "[unit]") {
  const Arrivals arrivals = arrivals_of("{process: gamma, cv: 3, rate: 5 /s}");
  const Lengths lengths = lengths_of("100");
  workloads::Requests drawn = workloads::draw_requests(arrivals, lengths, lengths, 4000, 1);
  const workloads::Requests before = drawn;
  workloads::set_rate(drawn, 400, 3999, 3599, arrivals.rate);
  const double window = (drawn.requests[3999].arrival - drawn.requests[400].arrival).si();
  CHECK(3599.0 / window == Approx(5.0));
  const double scale = drawn.requests[7].arrival / before.requests[7].arrival;
  CHECK(scale != Approx(1.0).epsilon(1e-3));
  for (std::size_t i = 0; i < 4000; ++i) {
    CHECK(drawn.requests[i].arrival.si() == Approx(scale * before.requests[i].arrival.si()));
  }
}

}  // namespace roofcast::unit_workloads_requests
