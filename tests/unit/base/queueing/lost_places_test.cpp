// SPDX-License-Identifier: Apache-2.0
//
// What a sequence that lost its place in a full cache finds again.
#include "base/queueing/idle_tokens.hpp"
#include "base/queueing/iteration_servers.hpp"
#include "tests/catch.hpp"

namespace roofcast::base::queueing::unit_base_queueing_lost_places {
namespace {

// An iteration takes 1 s with decodes, and 0.01 s for each token of a prompt.
IterationServer server(double cache) {
  IterationServer s;
  s.time = [](std::span<const IterationBatch> ranks) {
    const IterationBatch& b = ranks.front();
    const Seconds t = Seconds::from_si((b.decodes > 0 ? 1.0 : 0.0) + 0.01 * b.tokens);
    return IterationSpan{t, t, {}};
  };
  s.budget = 1000;
  s.sequences = 100;
  s.cache = cache;
  return s;
}

// When the second of two sequences of 100 tokens and 200 more ends.
double last(const IterationServer& s) {
  const std::vector<IterationRequest> requests(2, {{}, 100, 0, 201, 0});
  return follow({s, {}, {}, {}}, requests, 0, 0).outcomes[1].last.si();
}

}  // namespace

// Both hold 165 tokens when the cache of 330 is full. The first one grows to 300 until it ends.
TEST_CASE("A sequence that lost its place finds again what others left of it", "[unit]") {
  IterationServer s = server(330.0);
  const double all_again = last(s);
  s.unit = 1.0;
  CHECK(last(s) == Approx(all_again - 0.01 * 30.0).margin(0.021));
  s.unit = 20.0;  // in whole units
  CHECK(last(s) == Approx(all_again - 0.01 * 20.0).margin(0.001));
  s.unit = 64.0;
  CHECK(last(s) == Approx(all_again));
}

TEST_CASE("A sequence that lost its place finds all of it in a host's memory, but for a part",
          "[unit]") {
  IterationServer s = server(330.0);
  const double all_again = last(s);
  s.unit = 1.0;
  s.host = 1000.0;
  CHECK(last(s) == Approx(all_again - 0.01 * 165.0).margin(0.021));
}

TEST_CASE("The end of what ran longest ago goes first", "[unit]") {
  IterationServer s = server(100.0);
  s.unit = 10.0;
  IdleTokens idle;
  idle.add(1, 45.0, s);
  idle.add(2, 30.0, s);
  CHECK(idle.of(1) == 40.0);
  idle.evict_beyond(45.0, s);  // 55 are free, and 70 idle
  CHECK(idle.of(1) == 20.0);
  CHECK(idle.of(2) == 30.0);
  idle.evict_beyond(75.0, s);
  CHECK(idle.of(1) == 0.0);
  CHECK(idle.of(2) == 20.0);
  idle.remove(2, s);
  CHECK(idle.of(2) == 0.0);
}

// 40 tokens that both begin with.
TEST_CASE("The cache holds once what all sequences begin with", "[unit]") {
  IterationServer s = server(600.0 - 40.0);
  const double both_fit = last(server(600.0));
  CHECK(last(s) > both_fit);
  s.shared = 40.0;
  CHECK(last(s) == both_fit);
  s.cache = 600.0 - 2.0 * 40.0 - 1.0;
  CHECK(last(s) > both_fit);
}

}  // namespace roofcast::base::queueing::unit_base_queueing_lost_places
