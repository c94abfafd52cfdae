// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/replayed_trace.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/document/problems.hpp"
#include "base/document/schema.hpp"
#include "tests/catch.hpp"
#include "tests/scratch_file.hpp"
#include "workloads/traffic/request_stream.hpp"

namespace roofcast::unit_workloads_replayed_trace {

using Catch::Matchers::ContainsSubstring;
using workloads::Request;
using workloads::Requests;
using workloads::RequestStream;

namespace {

const std::string kHeader = "arrival_s,input_tokens,output_tokens,session\n";

// Requests every quarter of a second: in 100 + i, out 1 + i % 7, every tenth of one of 40 sessions.
std::string regular(std::size_t count, double first = 0.0) {
  std::string text = kHeader;
  for (std::size_t i = 0; i < count; ++i) {
    text += fmt::format("{},{},{},{}\n", first + 0.25 * static_cast<double>(i), 100 + i, 1 + i % 7,
                        i % 10 == 0 ? fmt::format("{}", i / 10 % 40) : "");
  }
  return text;
}

RequestStream stream_of(const Scratch& trace, const std::string& keys = "",
                        const std::string& beside = "") {
  const base::Node document = base::parse_document(
      "test.yaml", fmt::format("trace: {{file: {}{}}}\n{}", trace.file().string(), keys, beside));
  base::Problems problems;
  base::Fields fields(document, "", problems);
  RequestStream stream;
  read(fields, stream);
  fields.end();
  problems.throw_if_any();
  return stream;
}

Requests replay(const Scratch& trace, const std::string& keys = "",
                const std::string& beside = "") {
  return draw_requests(stream_of(trace, keys, beside));
}

std::string problem_of(const Scratch& trace, const std::string& keys,
                       const std::string& beside = "") {
  try {
    stream_of(trace, keys, beside);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "";
}

double arrival(const Requests& all, std::size_t i) { return all.requests[i].arrival.si(); }

}  // namespace

TEST_CASE("a replayed trace has the recorded requests at their times", "[unit]") {
  const Scratch trace(regular(100));
  const Requests all = replay(trace);
  REQUIRE(all.requests.size() == 100);
  CHECK(all.available == 100);
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(arrival(all, i) == 0.25 * static_cast<double>(i));
    CHECK(all.requests[i].recorded == all.requests[i].arrival);
    CHECK(all.requests[i].input_tokens == static_cast<std::int64_t>(100 + i));
  }
}

TEST_CASE("a clock that began in 1970 and rows in any order give the same replay", "[unit]") {
  const Scratch trace(kHeader + "0,5,6,\n0.5,7,8,\n2,9,10,3\n");
  const Scratch other(kHeader + "1700000002,9,10,3\n1700000000,5,6,\n1700000000.5,7,8,\n");
  const Requests one = replay(trace);
  const Requests two = replay(other);
  REQUIRE(two.requests.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(arrival(one, i) == arrival(two, i));
    CHECK(one.requests[i].input_tokens == two.requests[i].input_tokens);
    CHECK(one.requests[i].output_tokens == two.requests[i].output_tokens);
    CHECK(one.requests[i].session == two.requests[i].session);
  }
}

TEST_CASE("speed divides the times and leaves all else", "[unit]") {
  const Scratch trace(regular(100));
  const Requests one = replay(trace);
  const Requests fast = replay(trace, ", speed: 4");
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(arrival(fast, i) == arrival(one, i) / 4.0);
    CHECK(fast.requests[i].recorded == one.requests[i].recorded);
    CHECK(fast.requests[i].input_tokens == one.requests[i].input_tokens);
    CHECK(fast.requests[i].output_tokens == one.requests[i].output_tokens);
  }
}

TEST_CASE("a window has the requests from its begin on and before its end", "[unit]") {
  const Scratch trace(regular(100));
  const Requests part = replay(trace, ", from: 1.1 s, to: 2 s");
  REQUIRE(part.requests.size() == 3);
  CHECK(part.requests[0].recorded.si() == 1.25);
  CHECK(arrival(part, 0) == Approx(0.15));
  CHECK(part.requests[2].recorded.si() == 1.75);
}

TEST_CASE("a repeat comes a window's length later, with sessions and blocks of its own", "[unit]") {
  const Scratch trace(kHeader + "0,5,6,7\n1,7,8,9\n2,7,8,7\n");
  const Requests twice = replay(trace, ", repeat: 2");
  REQUIRE(twice.requests.size() == 6);
  CHECK(twice.available == 6);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(arrival(twice, i + 3) == arrival(twice, i) + 3.0);  // one mean gap after the last
    CHECK(twice.requests[i + 3].input_tokens == twice.requests[i].input_tokens);
  }
  std::set<std::int32_t> sessions;
  for (const Request& request : twice.requests) {
    sessions.insert(request.session);
  }
  CHECK(sessions.size() == 4);
  CHECK(twice.requests[0].session == twice.requests[2].session);

  const Scratch shared(
      R"({"timestamp": 0, "input_length": 1024, "output_length": 5, "hash_ids": [1, 2]}
{"timestamp": 1000, "input_length": 1024, "output_length": 5, "hash_ids": [1, 3]}
)");
  const Requests blocks = replay(shared, ", repeat: 2");
  const auto hash = [&](std::size_t request, std::size_t i) {
    return blocks.blocks_of(blocks.requests[request])[i];
  };
  CHECK(blocks.block_tokens == 512);
  CHECK(hash(0, 0) == hash(1, 0));
  CHECK(hash(2, 0) == hash(3, 0));
  CHECK(hash(2, 1) != hash(3, 1));
  CHECK(hash(2, 0) != hash(0, 0));
}

TEST_CASE("thinning keeps its share, sessions whole, and more with a greater share", "[unit]") {
  const Scratch trace(regular(4000));
  const Requests some = replay(trace, ", keep: 0.3");
  const Requests more = replay(trace, ", keep: 0.6");
  std::size_t alone = 0;
  for (const Request& request : some.requests) {
    alone += request.session < 0 ? 1 : 0;
  }
  // Four standard deviations of the 3,600 requests without a session.
  CHECK(std::abs(static_cast<double>(alone) - 1080.0) < 4.0 * std::sqrt(3600.0 * 0.3 * 0.7));
  std::set<double> kept;
  for (const Request& request : more.requests) {
    kept.insert(request.recorded.si());
  }
  std::vector<std::size_t> of_session(40);
  for (const Request& request : some.requests) {
    CHECK(kept.count(request.recorded.si()) == 1);
    if (request.session >= 0) {
      ++of_session[static_cast<std::size_t>(request.session)];
    }
  }
  std::size_t whole = 0;
  for (const std::size_t requests : of_session) {
    CHECK((requests == 0 || requests == 10));
    whole += requests == 10 ? 1 : 0;
  }
  CHECK((whole > 2 && whole < 24));
  CHECK(replay(trace, ", keep: 0.3", "seed: 2").requests.size() != some.requests.size());
}

TEST_CASE("a daily profile gives each hour its share of a day's requests", "[unit]") {
  std::string text = kHeader;
  for (int i = 0; i < 1440; ++i) {  // a day, one a minute
    text += fmt::format("{},10,10,\n", 60 * i);
  }
  const Scratch trace(text);
  std::string profile;
  double sum = 0.0;
  for (int hour = 0; hour < 24; ++hour) {
    const int rate = hour == 3 ? 0 : 1 + hour % 6;
    sum += rate;
    profile += fmt::format("{}{}", hour > 0 ? ", " : "", rate);
  }
  const Requests days = replay(trace, fmt::format(", repeat: 2, daily: [{}]", profile));
  REQUIRE(days.requests.size() == 2880);
  std::vector<double> in_hour(48);
  for (std::size_t i = 0; i < days.requests.size(); ++i) {
    ++in_hour[static_cast<std::size_t>(arrival(days, i) / 3600.0)];
    CHECK((i == 0 || arrival(days, i) >= arrival(days, i - 1)));
  }
  for (std::size_t hour = 0; hour < 48; ++hour) {
    const double rate = hour % 24 == 3 ? 0.0 : 1.0 + static_cast<double>(hour % 24 % 6);
    CHECK(std::abs(in_hour[hour] - 1440.0 * rate / sum) <= 1.0);
  }
}

TEST_CASE("a limit leaves the first requests and says how many there are", "[unit]") {
  const Scratch trace(regular(100));
  const Requests first = replay(trace, ", repeat: 3", "requests: 120");
  CHECK(first.requests.size() == 120);
  CHECK(first.available == 300);
  CHECK(replay(trace, "", "requests: 120").requests.size() == 100);
}

TEST_CASE("priorities are drawn for a trace that has none", "[unit]") {
  const Scratch trace(regular(100));
  const std::string drawn = "priorities: {values: [4], weights: [1]}";
  CHECK(replay(trace, "", drawn).requests[5].priority == 4);
  const Scratch own("arrival_s,input_tokens,output_tokens,priority\n0,1,1,2\n");
  CHECK_THAT(problem_of(own, "", drawn),
             ContainsSubstring("priorities: the trace has priorities of its own"));
}

TEST_CASE("a closed form sees rate and lengths of the window, whatever is cut", "[unit]") {
  const Scratch trace(regular(4000));
  const workloads::Traffic whole = mean_traffic(stream_of(trace));
  const workloads::Traffic fast =
      mean_traffic(stream_of(trace, ", speed: 3, keep: 0.5, repeat: 2", "requests: 10"));
  CHECK(whole.concurrency == 0);
  CHECK(mean_rate(*whole.arrivals).si() == Approx(4.0));
  CHECK(mean_rate(*fast.arrivals).si() == Approx(6.0));
  CHECK(whole.input_tokens == 2100);  // 2099.5
  CHECK(fast.input_tokens == whole.input_tokens);
  CHECK(squared_variation(fast.output) == Approx(4.0 / 16.0).epsilon(0.01));
  const std::string half = [] {
    std::string rates;
    for (int hour = 0; hour < 24; ++hour) {
      rates += hour < 12 ? "1, " : "3, ";
    }
    return rates;
  }();
  const workloads::Traffic daily =
      mean_traffic(stream_of(trace, fmt::format(", daily: [{}]", half)));
  CHECK(mean_rate(*daily.arrivals).si() == Approx(4.0));
  REQUIRE(daily.arrivals->rates.size() == 24);
  CHECK(daily.arrivals->rates[0].si() == Approx(2.0));
  CHECK(daily.arrivals->rates[23].si() == Approx(6.0));
}

TEST_CASE("the arrivals of a closed form are as bursty as those of the trace", "[unit]") {
  const auto recorded = [](const workloads::Arrivals& arrivals) {
    workloads::ArrivalTimes times(arrivals, base::Random(3, "recorded"));
    std::string text = "arrival_s,input_tokens,output_tokens\n";
    for (int i = 0; i < 40000; ++i) {
      text += fmt::format("{:.9f},10,10\n", times.next().si());
    }
    return text;
  };
  workloads::Arrivals poisson;
  poisson.rate = 5.0 * base::hertz;
  workloads::Arrivals swings;
  swings.process = workloads::ArrivalProcess::mmpp;
  swings.rates = {2.0 * base::hertz, 14.0 * base::hertz};
  swings.sojourns = {20.0 * base::second, 10.0 * base::second};
  workloads::Arrivals even;
  even.process = workloads::ArrivalProcess::gamma;
  even.rate = 5.0 * base::hertz;
  even.cv = 0.5;
  for (const workloads::Arrivals& arrivals : {poisson, swings, even}) {
    const Scratch trace(recorded(arrivals));
    const workloads::Burstiness truth = burstiness(arrivals);
    const workloads::Burstiness seen = burstiness(*mean_traffic(stream_of(trace)).arrivals);
    for (const double window : {1.0, 10.0, 60.0}) {
      const base::Seconds length = window * base::second;
      INFO(static_cast<int>(arrivals.process) << " " << window);
      CHECK(seen.dispersion(length) == Approx(truth.dispersion(length)).epsilon(0.15));
    }
  }
}

TEST_CASE("the process with a rate and a burstiness has both", "[unit]") {
  for (const double limit : {1.2, 5.0, 80.0}) {
    for (const double fading : {0.01, 0.3}) {
      const workloads::Arrivals arrivals =
          workloads::arrivals_with(4.0 * base::hertz, {limit, fading * base::hertz});
      CHECK(mean_rate(arrivals).si() == Approx(4.0));
      CHECK(burstiness(arrivals).limit == Approx(limit));
      CHECK(burstiness(arrivals).fading.si() == Approx(fading));
    }
  }
  CHECK(burstiness(workloads::arrivals_with(4.0 * base::hertz, {0.25, base::hertz})).limit == 0.25);
  CHECK(workloads::arrivals_with(4.0 * base::hertz, {0.0, base::hertz}).process ==
        workloads::ArrivalProcess::constant);
}

TEST_CASE("a file is read once, and again when it has changed", "[unit]") {
  const Scratch trace(regular(100));
  const auto first = stream_of(trace, ", speed: 2").trace->window;
  CHECK(stream_of(trace, ", speed: 3, keep: 0.5").trace->window == first);
  CHECK(stream_of(trace, ", from: 1 s").trace->window->trace == first->trace);
  trace.write(regular(101));
  CHECK(stream_of(trace).trace->window->requests() == 101);
}

TEST_CASE("what is wrong with a trace is said where it is named", "[unit]") {
  const Scratch trace(regular(100));
  CHECK_THAT(problem_of(trace, ", from: 2 min"),
             ContainsSubstring("trace.file: the trace ends after 25 s"));
  CHECK_THAT(problem_of(trace, ", to: 26 s"), ContainsSubstring("the trace ends after 25 s"));
  CHECK_THAT(problem_of(trace, ", from: 2.1 s, to: 2.2 s"),
             ContainsSubstring("no request of the trace arrives from 2.1 s to 2.2 s"));
  CHECK_THAT(problem_of(trace, ", from: 2 s, to: 2 s"),
             ContainsSubstring("must be later than from"));
  CHECK_THAT(problem_of(trace, ", repeat: 1000001"),
             ContainsSubstring("1000001 times 100 requests are more than 10000000"));
  CHECK_THAT(problem_of(trace, ", keep: 0"), ContainsSubstring("must be more than 0, not 0"));
  CHECK_THAT(problem_of(trace, ", sped: 2"), ContainsSubstring("did you mean \"speed\"?"));
  CHECK_THAT(problem_of(trace, ", daily: [1, 2]"), ContainsSubstring("24 rates"));
  CHECK_THAT(problem_of(trace, "", "input_tokens: 5\nagents: {}"),
             ContainsSubstring("input_tokens: has no effect beside a trace") &&
                 ContainsSubstring("agents: has no effect beside a trace"));
  CHECK_THAT(problem_of(trace, "", "cached_tokens: 500"), ContainsSubstring("must be fewer"));
  CHECK_THAT(problem_of(Scratch("hello\n"), ""),
             ContainsSubstring("trace.file") && ContainsSubstring("not a trace of requests"));
  CHECK_THROWS_WITH(replay(trace, ", keep: 1e-9"), ContainsSubstring("keeps no request of"));
}

TEST_CASE("a trace of one instant lasts a second", "[unit]") {
  const Scratch trace(kHeader + "5,1,1,\n5,2,2,\n");
  const Requests twice = replay(trace, ", repeat: 2");
  CHECK(arrival(twice, 1) == 0.0);
  CHECK(arrival(twice, 2) == 1.0);
}

}  // namespace roofcast::unit_workloads_replayed_trace
