// SPDX-License-Identifier: Apache-2.0
//
// Servers that work in iterations: paths that can be followed by hand, and queues whose waits are known.
#include "base/queueing/iteration_servers.hpp"

#include <algorithm>
#include <cmath>

#include "base/queueing/open_queue.hpp"
#include "base/statistics/random.hpp"
#include "tests/catch.hpp"

namespace roofcast::base::queueing::unit_base_iteration_servers {
namespace {

Seconds seconds(double value) { return Seconds::from_si(value); }

using Ranks = std::span<const IterationBatch>;

// An iteration of a rank takes 1 s with decodes, and 0.01 s for each token of a prompt.
Seconds slowest(Ranks ranks) {
  Seconds most;
  for (const IterationBatch& b : ranks) {
    most = base::max(most, seconds((b.decodes > 0 ? 1.0 : 0.0) + 0.01 * b.tokens));
  }
  return most;
}

IterationServer server() {
  IterationServer s;
  s.time = [](Ranks ranks) { return IterationSpan{slowest(ranks), slowest(ranks), {}}; };
  s.budget = 1000;
  s.sequences = 100;
  return s;
}

// Micro-batches of two or more stages, whose iterations take 2 or 3 s and begin 1 s after each other.
IterationServer pipeline(std::int64_t stages, double latency) {
  IterationServer s = server();
  s.stages = stages;
  s.time = [latency](Ranks) { return IterationSpan{seconds(latency), seconds(1.0), {}}; };
  return s;
}

// 0.1 s more for each token of a sequence beyond `context`.
IterationSpan growing(Ranks ranks) {
  return {slowest(ranks), slowest(ranks), seconds(ranks.front().prompts > 0 ? 0.0 : 0.1)};
}

std::vector<IterationRequest> alike(std::size_t count, std::int64_t input, std::int64_t output) {
  return std::vector<IterationRequest>(count, {{}, input, 0, output, 0});
}

double ttft(const IterationOutcome& o) { return (o.first - o.arrival).si(); }
double tpot(const IterationOutcome& o, std::int64_t output) {
  return (o.last - o.first).si() / static_cast<double>(output - 1);
}

}  // namespace

TEST_CASE("A client alone waits for the front end, its prompt, and one iteration a token",
          "[unit]") {
  IterationServer s = server();
  s.take = seconds(0.5);
  s.ahead = seconds(0.25);
  s.send = seconds(0.125);
  const auto path = follow({s, {}, {}, {}}, alike(3, 200, 11), 1, 0);
  for (const IterationOutcome& o : path.outcomes) {
    CHECK(ttft(o) == Approx(0.5 + 0.25 + 2.0 + 0.125));
    CHECK(tpot(o, 11) == Approx(1.0));
  }
  CHECK(path.outcomes[1].arrival == path.outcomes[0].last);
  CHECK(path.mixed == Approx(1.0 / 11.0));
}

// 0.1 s for each token of a sequence beyond 10: after a prompt of 10, the decodes take 1.0, 1.1, 1.2 and 1.3 s.
TEST_CASE("Iterations grow with the contexts of those that decode", "[unit]") {
  IterationServer s = server();
  s.time = growing;
  s.context = 10.0;
  std::vector<IterationRequest> requests = alike(1, 10, 5);
  CHECK(follow({s, {}, {}, {}}, requests, 0, 0).outcomes[0].last.si() == Approx(0.1 + 4.6));
  // Two are longer than one by what their mean context says: (10 + 30)/2 at first.
  requests = alike(2, 10, 5);
  requests[1].input = 30;
  CHECK(follow({s, {}, {}, {}}, requests, 0, 0).outcomes[0].last.si() ==
        Approx(0.4 + 4.6 + 4.0 * 0.1 * 10.0));
}

// Alone in a pipeline of two stages the sequence takes 2 s, and 2.0, 2.1, 2.2 and 2.3 s. Two take turns: 1 s each, and 0.05 s
// more for each token that they hold beyond 10, on average. While a third one waits, turns are followed one by one.
TEST_CASE("Each stage of a pipeline takes a part of what contexts add", "[unit]") {
  IterationServer s = pipeline(2, 2.0);
  double latency = 2.0;
  s.time = [&](Ranks ranks) {
    return IterationSpan{seconds(latency), seconds(1.0), growing(ranks).token};
  };
  s.context = 10.0;
  CHECK(follow({s, {}, {}, {}}, alike(1, 10, 5), 0, 0).outcomes[0].last.si() == Approx(2.0 + 8.6));
  latency = 1.0;
  s.sequences = 2;
  for (const auto& [count, input] : {std::pair{2U, 10}, std::pair{2U, 30}, std::pair{3U, 10}}) {
    std::vector<IterationRequest> requests = alike(count, input, 101);
    requests.back().arrival = seconds(count > 2 ? 5.0 : 0.0);
    const auto path = follow({s, {}, {}, {}}, requests, 0, 0);
    const double turns = (path.outcomes[0].last - path.outcomes[0].first).si();
    const double beyond = input - 10.0;
    CHECK(turns == Approx(100.0 * (2.0 + 0.1 * beyond) + 0.1 * 99.0 * 100.0 / 2.0).epsilon(0.005));
  }
}

// The first decodes from 0.1 s on, until 1.1, 2.2, 3.4 and 4.7 s. The prompt is computed beside the next decode.
TEST_CASE("A request waits for the iteration that grew, and for no other", "[unit]") {
  IterationServer s = server();
  s.time = growing;
  s.context = 10.0;
  std::vector<IterationRequest> requests = alike(2, 10, 20);
  for (const auto& [arrival, begins] :
       {std::pair{2.1, 2.2}, std::pair{2.3, 3.4}, std::pair{4.6, 4.7}}) {
    requests[1].arrival = seconds(arrival);
    const auto path = follow({s, {}, {}, {}}, requests, 0, 0);
    CHECK(path.outcomes[1].scheduled.si() == Approx(begins));
  }
}

TEST_CASE("A prompt that is longer than the budget is cut, and slows those that decode", "[unit]") {
  IterationServer s = server();
  s.budget = 101;
  std::vector<IterationRequest> requests = alike(2, 50, 11);
  requests[1].input = 250;
  requests[1].arrival = seconds(1.0);  // in the first decode, which ends at 1.5 s
  const auto path = follow({s, {}, {}, {}}, requests, 0, 0);
  // 100 + 100 + 50 tokens beside a decode.
  CHECK(path.outcomes[1].first.si() == Approx(1.5 + 3.0 + 2.5));
  CHECK(path.outcomes[0].last.si() == Approx(0.5 + 10.0 + 2.5));
}

TEST_CASE("Where prompts run first, decodes wait for them", "[unit]") {
  IterationServer s = server();
  s.prompts_first = true;
  std::vector<IterationRequest> requests = alike(2, 50, 11);
  requests[1].arrival = seconds(1.0);
  const auto path = follow({s, {}, {}, {}}, requests, 0, 0);
  CHECK(path.outcomes[1].first.si() == Approx(2.0));
  CHECK(path.outcomes[0].last.si() == Approx(0.5 + 10.0 + 0.5));
}

TEST_CASE("A prompt that must not be cut waits until enough decodes have ended", "[unit]") {
  IterationServer s = server();
  s.budget = 100;
  s.cuts = false;
  std::vector<IterationRequest> requests = alike(2, 100, 6);
  const auto path = follow({s, {}, {}, {}}, requests, 0, 0);
  CHECK(path.outcomes[0].last.si() == Approx(6.0));
  CHECK(path.outcomes[1].first.si() == Approx(7.0));
}

TEST_CASE("What is promised to sequences never exceeds the cache, and others wait for it",
          "[unit]") {
  IterationServer s = server();
  s.promised = 1.0;
  s.cache = 2.0 * 21.0;  // 10 tokens in, 11 out
  const auto path = follow({s, {}, {}, {}}, alike(4, 10, 11), 4, 0);
  CHECK(ttft(path.outcomes[1]) == Approx(0.2));
  CHECK(ttft(path.outcomes[2]) == Approx(0.2 + 10.0 + 0.2));
  CHECK(path.outcomes[2].place.si() == Approx(0.2 + 10.0));
}

TEST_CASE("A sequence that loses its place finishes later, and none is lost", "[unit]") {
  IterationServer s = server();
  s.promised = -1.0;
  s.cache = 30.0;
  const auto path = follow({s, {}, {}, {}}, alike(2, 10, 11), 2, 0);
  CHECK(path.outcomes[0].last.si() == Approx(0.2 + 10.0));
  CHECK(path.outcomes[1].last > path.outcomes[0].last);
  CHECK(path.outcomes[1].last.si() < 0.2 + 10.0 + 11.0 + 0.5);
}

TEST_CASE("Two pools add the link to the first token, and take the prompts from the decodes",
          "[unit]") {
  const IterationServer s = server();
  const IterationPools pools{s, s, seconds(0.5), seconds(0.01)};
  std::vector<IterationRequest> requests = alike(2, 50, 11);
  requests[1].arrival = seconds(0.2);
  const auto path = follow(pools, requests, 0, 0);
  CHECK(path.outcomes[0].first.si() == Approx(0.5 + 0.5 + 0.5));
  CHECK(tpot(path.outcomes[0], 11) == Approx(1.0));
  // Its prompt is done at 1 s, the link is free at 1.5 s, and the next iteration begins at 2.5 s.
  CHECK(path.outcomes[1].first.si() == Approx(2.5));
  CHECK(tpot(path.outcomes[1], 11) == Approx(1.0));
}

TEST_CASE("Prompts one by one wait as in M/D/1, and least-loaded servers share them", "[unit]") {
  IterationServer s = server();
  s.budget = 100;
  s.cuts = false;
  Random random(3, "iteration servers");
  std::vector<IterationRequest> requests = alike(100'000, 100, 1);
  const auto wait = [&](double load, std::int64_t servers) {
    double now = 0.0;
    for (IterationRequest& r : requests) {
      r.arrival = seconds(now += random.exponential(1.0 / load / static_cast<double>(servers)));
    }
    s.servers = servers;
    const auto path = follow({s, {}, {}, {}}, requests, 0, 0);
    double sum = 0.0;
    for (const IterationOutcome& o : path.outcomes) {
      sum += ttft(o) - 1.0;
    }
    return sum / static_cast<double>(requests.size());
  };
  CHECK(wait(0.5, 1) ==
        Approx(mg1(Hertz::from_si(0.5), seconds(1.0), 0.0).wait.si()).epsilon(0.03));
  CHECK(wait(0.7, 1) ==
        Approx(mg1(Hertz::from_si(0.7), seconds(1.0), 0.0).wait.si()).epsilon(0.03));
  CHECK(wait(0.7, 4) < 0.5 * wait(0.7, 1));
}

TEST_CASE("Sequences that decode from the start end like the others", "[unit]") {
  const IterationServer s = server();
  std::vector<IterationRequest> requests = alike(3, 10, 11);
  requests[0].begun = 4;
  requests[1].begun = 9;
  requests[2].arrival = seconds(100.0);
  const auto path = follow({s, {}, {}, {}}, requests, 0, 2);
  CHECK(path.outcomes[0].last.si() == Approx(7.0));
  CHECK(path.outcomes[1].last.si() == Approx(2.0));
  CHECK(ttft(path.outcomes[2]) == Approx(0.1));
}

// Two micro-batches, which begin 1 s after each other and take 2 s. Each has one of two requests.
TEST_CASE("Micro-batches of a pipeline take turns, and share the requests", "[unit]") {
  const auto path = follow({pipeline(2, 2.0), {}, {}, {}}, alike(2, 10, 3), 2, 0);
  CHECK(path.outcomes[0].first.si() == Approx(2.0));
  CHECK(path.outcomes[1].first.si() == Approx(3.0));
  CHECK(path.outcomes[0].last.si() == Approx(6.0));
  CHECK(path.outcomes[1].last.si() == Approx(7.0));
}

// Of two micro-batches the one with the prompt holds the first stage for 5 s, and the decodes of the other wait for it.
TEST_CASE("A prompt holds up the decodes of the other micro-batches", "[unit]") {
  IterationServer s = server();
  s.stages = 2;
  s.time = [](Ranks ranks) {
    return ranks.front().tokens > 50.0 ? IterationSpan{seconds(10.0), seconds(5.0), {}}
                                       : IterationSpan{seconds(2.0), seconds(1.0), {}};
  };
  std::vector<IterationRequest> requests = alike(2, 10, 8);
  requests[1].input = 100;
  requests[1].output = 1;
  requests[1].arrival = seconds(3.5);  // the first one began its second iteration at 2 s
  const auto path = follow({s, {}, {}, {}}, requests, 0, 0);
  CHECK(path.outcomes[1].first.si() == Approx(13.5));
  // Its third iteration would begin at 4 s; the first stage is free at 8.5 s.
  CHECK(path.outcomes[0].last.si() == Approx(8.5 + 6 * 2.0));
}

// Each micro-batch sends a token every 2 s, which takes the front end 0.5 s. Both have run for 500 s when the third comes.
TEST_CASE("Tokens of one micro-batch that were sent long ago hold up no message of another",
          "[unit]") {
  IterationServer s = pipeline(2, 2.0);
  s.send = seconds(0.5);
  std::vector<IterationRequest> requests = alike(3, 10, 1000);
  requests[2].arrival = seconds(500.0);
  requests[2].output = 2;
  const auto path = follow({s, {}, {}, {}}, requests, 0, 0);
  CHECK(ttft(path.outcomes[2]) < 2.0 + 2.0 + 3 * 0.5);
}

// Two requests on two ranks. The prompt of the second takes 2 s, and the decodes of the first are held up.
TEST_CASE("Ranks have a cache each, and the slowest one sets the time of an iteration", "[unit]") {
  IterationServer s = server();
  s.ranks = 2;
  s.sequences = 1;
  std::vector<IterationRequest> requests = alike(3, 10, 4);
  requests[1].input = 200;
  requests[1].arrival = seconds(1.5);
  requests[2].arrival = seconds(1.6);
  const auto path = follow({s, {}, {}, {}}, requests, 0, 0);
  // Its prompt ends at 0.1, its decodes at 1.1, 2.1 and, with the prompt of the second, 4.1.
  CHECK(path.outcomes[0].first.si() == Approx(0.1));
  CHECK(path.outcomes[0].last.si() == Approx(4.1));
  CHECK(path.outcomes[1].first.si() == Approx(4.1));
  // Both ranks are taken until 4.1: the third gets the place of the first.
  CHECK(path.outcomes[2].scheduled.si() == Approx(4.1));
  CHECK(path.outcomes[2].first.si() == Approx(5.1));
  CHECK(path.outcomes[1].last.si() == Approx(7.1));
}

// An iteration takes 3 s, but four micro-batches that begin 1 s after each other need 4 s for a turn.
TEST_CASE("Long answers in a pipeline take a turn of all micro-batches for each token", "[unit]") {
  const auto path = follow({pipeline(4, 3.0), {}, {}, {}}, alike(4, 1, 1001), 4, 0);
  for (const IterationOutcome& o : path.outcomes) {
    CHECK(tpot(o, 1001) == Approx(4.0).epsilon(0.01));
  }
}

// Two prompts of 200 tokens take 150 each, as half of the layers keep the last 100.
TEST_CASE("Tokens beyond a window take less of the cache, of prompts and of answers", "[unit]") {
  IterationServer s = server();
  s.window = 100.0;
  s.beyond = 0.5;
  s.promised = 0.0;
  const auto place = [&](double cache) {
    s.cache = cache;
    return follow({s, {}, {}, {}}, alike(2, 200, 11), 2, 0).outcomes[1].place.si();
  };
  CHECK(place(300.0) == 0.0);
  CHECK(place(299.0) > 0.0);
  // 90 + 21 tokens of each, which decodes make one or three at a time: 105.5 in the end.
  for (const std::int64_t gains : {1, 3}) {
    s.gains = static_cast<double>(gains);
    const auto last = [&](double cache) {
      s.cache = cache;
      const auto all = follow({s, {}, {}, {}}, alike(2, 90, 1 + 21 / gains), 2, 0).outcomes;
      return base::max(all[0].last, all[1].last).si();
    };
    CHECK(last(211.0) == Approx(1.8 + 21.0 / s.gains));
    CHECK(last(210.0) > 1.8 + 21.0 / s.gains);
  }
}

// Where layers keep no more than the window, answers of any length fit.
TEST_CASE("What was taken beyond a window and beyond a promise is given back", "[unit]") {
  IterationServer s = server();
  s.window = 10.0;
  s.beyond = 0.25;
  s.gains = 1.5;
  s.promised = 0.5;
  s.cache = 10.0 + 0.25 * (20.0 + 1.5 * 30.0 - 10.0);
  const auto outcomes = follow({s, {}, {}, {}}, alike(400, 20, 31), 1, 0).outcomes;
  CHECK(ttft(outcomes.back()) == Approx(0.2));
}

// The first answer is long. The other client's requests go to both servers, which have them after half a second.
TEST_CASE("A server that is busy serves what comes after a short answer of another", "[unit]") {
  IterationServer s = server();
  s.servers = 2;
  s.in_turn = true;
  s.ahead = seconds(0.5);
  std::vector<IterationRequest> requests = alike(20, 10, 11);
  requests[0].output = 1001;
  for (const IterationOutcome& o : follow({s, {}, {}, {}}, requests, 2, 0).outcomes) {
    CHECK(ttft(o) < 0.5 + 1.0 + 1.2);
  }
}

// An answer of 10 decodes that make 3 tokens each: the cache has them, and the front end sends them.
TEST_CASE("A decode that makes several tokens fills the cache with them, and sends them",
          "[unit]") {
  IterationServer s = server();
  s.gains = 3.0;
  s.send = seconds(0.01);
  const auto path = follow({s, {}, {}, {}}, alike(2, 100, 11), 1, 0);
  CHECK((path.outcomes[0].last - path.outcomes[0].first).si() == Approx(10.0 + 0.03 - 0.01));
  // 100 + 30 tokens of one: two do not fit in the end, with one token a decode they do.
  s.send = {};
  s.cache = 240.0;
  const auto last = [](const IterationServer& q) {
    const auto all = follow({q, {}, {}, {}}, alike(2, 100, 11), 2, 0).outcomes;
    return base::max(all[0].last, all[1].last).si();
  };
  IterationServer plain = s;
  plain.gains = 1.0;
  CHECK(last(plain) == Approx(2.0 + 10.0));
  CHECK(last(s) > 2.0 + 10.0);
}

TEST_CASE("A decode that verifies several tokens leaves fewer to prompts", "[unit]") {
  IterationServer s = server();
  s.budget = 110;
  const auto first = [](const IterationServer& q) {
    auto requests = alike(2, 100, 101);
    requests[1].arrival = seconds(10.5);
    return ttft(follow({q, {}, {}, {}}, requests, 0, 0).outcomes[1]);
  };
  const double alone = first(s);
  s.query = 20;
  CHECK(first(s) == Approx(alone + 1.0));  // 90 tokens, and 10 in the next iteration
}

// One place. While the first request runs, one without priority comes, and then an urgent one.
TEST_CASE("The urgent request goes first, and the least urgent one loses its place", "[unit]") {
  IterationServer s = server();
  s.sequences = 1;
  s.by_priority = true;
  auto requests = alike(3, 100, 11);
  requests[1].arrival = seconds(2.0);
  requests[2].arrival = seconds(3.0);
  requests[2].priority = 1;
  auto outcomes = follow({s, {}, {}, {}}, requests, 0, 0).outcomes;
  CHECK(outcomes[2].first < outcomes[1].first);
  s.by_priority = false;
  outcomes = follow({s, {}, {}, {}}, requests, 0, 0).outcomes;
  CHECK(outcomes[1].first < outcomes[2].first);
  // The cache holds the prompts, and not all answers.
  s.sequences = 3;
  s.cache = 315.0;
  s.by_priority = true;
  requests = alike(3, 100, 11);
  requests[0].priority = 0;
  requests[1].priority = 2;
  requests[2].priority = 1;
  outcomes = follow({s, {}, {}, {}}, requests, 0, 0).outcomes;
  CHECK(outcomes[0].last > outcomes[1].last);
  CHECK(outcomes[0].last > outcomes[2].last);
  CHECK(outcomes[1].last == outcomes[2].last);
}

// Iterations of 1 s. A request comes 4.5 s after the first one's prompt, which takes 1 s, and waits for its own.
TEST_CASE("Requests wait as long as a scheduler says, for more of them or for its next look",
          "[unit]") {
  const auto second = [](const IterationServer& q) {
    auto requests = alike(2, 100, 101);
    requests[1].arrival = seconds(5.5);
    return ttft(follow({q, {}, {}, {}}, requests, 0, 0).outcomes[1]);
  };
  IterationServer s = server();
  CHECK(second(s) == Approx(0.5 + 2.0));  // the rest of an iteration, and one with the prompt
  IterationServer waits = s;
  waits.waits_for_more = 7;
  waits.enough = 0.5;  // 500 tokens
  CHECK(second(waits) == Approx(0.5 + 7.0 + 2.0));
  waits.enough = 0.05;  // 50 tokens
  CHECK(second(waits) == Approx(second(s)));
  IterationServer looks = s;
  looks.looks_every = 10;  // at 1 s, behind the prompt, and at 11 s
  CHECK(second(looks) == Approx(5.5 + 2.0));
  looks.looks_every = 3;  // at 7 s
  CHECK(second(looks) == Approx(1.5 + 2.0));
}

// One of two micro-batches begins each second. The last look is behind the second prompt, at 2 s.
TEST_CASE("Iterations of all micro-batches count until a server looks for requests", "[unit]") {
  IterationServer s = pipeline(2, 2.0);
  std::vector<IterationRequest> requests = alike(3, 10, 101);
  requests[2].arrival = seconds(5.5);
  const auto third = [&] { return follow({s, {}, {}, {}}, requests, 0, 0).outcomes[2]; };
  CHECK(ttft(third()) == Approx(0.5 + 2.0));
  s.looks_every = 10;
  CHECK(ttft(third()) == Approx(12.0 - 5.5 + 2.0));
}

// Two ranks with a sequence each. A third request waits until a fourth comes, or for so many iterations.
TEST_CASE("Requests wait for one on each rank", "[unit]") {
  IterationServer s = server();
  s.ranks = 2;
  s.waits_for_ranks = 50;
  auto requests = alike(4, 100, 101);
  requests[2].arrival = seconds(5.5);
  requests[3].arrival = seconds(9.5);
  const auto outcomes = follow({s, {}, {}, {}}, requests, 0, 0).outcomes;
  CHECK(outcomes[2].scheduled == outcomes[3].scheduled);
  s.waits_for_ranks = 0;
  CHECK(ttft(follow({s, {}, {}, {}}, requests, 0, 0).outcomes[2]) < 3.0);
}

}  // namespace roofcast::base::queueing::unit_base_iteration_servers
