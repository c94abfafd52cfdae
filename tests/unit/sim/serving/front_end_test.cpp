// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/front_end.hpp"

#include "tests/catch.hpp"
#include "workloads/architecture/mapping.hpp"

namespace roofcast::sim::unit_sim_serving_front_end {
namespace {

workloads::Serving serving() {
  workloads::Serving s;
  s.stack.request_overhead = 20.0 * base::millisecond;
  s.stack.intake_overhead = 2.0 * base::millisecond;
  s.stack.token_overhead = 3.0 * base::microsecond;
  s.stack.message_overhead = 50.0 * base::microsecond;
  return s;
}

}  // namespace

TEST_CASE("Requests are taken in one after the other, and pass what is no work side by side",
          "[unit]") {
  const workloads::Serving s = serving();
  FrontEnd front_end(s, {});
  CHECK(front_end.take(1.0 * base::second, 1000).si() == Approx(1.0 + 0.005 + 0.020));
  CHECK(front_end.take(1.0 * base::second, 2000).si() == Approx(1.0 + 0.005 + 0.008 + 0.020));
  CHECK(front_end.take(2.0 * base::second, 1000).si() == Approx(2.0 + 0.005 + 0.020));
}

TEST_CASE("Tokens that come faster than they can be sent wait for those before them", "[unit]") {
  const workloads::Serving s = serving();
  FrontEnd front_end(s, {});
  base::Seconds sent;
  for (int step = 1; step <= 100; ++step) {  // 100 tokens each 4 ms need 5 ms
    sent = front_end.send(0.004 * step * base::second, 100);
  }
  CHECK(sent.si() == Approx(0.004 + 100 * 0.005));
  CHECK(front_end.take(0.4 * base::second, 1000).si() == Approx(sent.si() + 0.005 + 0.020));
}

TEST_CASE("A message of ten tokens costs what one of one does", "[unit]") {
  workloads::Serving s = serving();
  FrontEnd each(s, {});
  s.policy.stream_interval = 10;
  FrontEnd tenth(s, {});
  CHECK(each.send({}, 1000).si() == Approx(10.0 * tenth.send({}, 1000).si()));
}

TEST_CASE("Two processes take requests in turn, and each sends half of the tokens", "[unit]") {
  workloads::Serving s = serving();
  s.front_ends = 2;
  FrontEnd two(s, {});
  const auto second = 1.0 * base::second;
  CHECK(two.take(second, 1000).si() == Approx(1.0 + 0.005 + 0.020));
  CHECK(two.take(second, 1000).si() == Approx(1.0 + 0.005 + 0.020));
  CHECK(two.take(second, 1000).si() == Approx(1.0 + 0.010 + 0.020));
  CHECK(two.send(2.0 * second, 1000).si() == Approx(2.0 + 500 * 50e-6));
  workloads::Mapping host;
  host.data_parallel = 8;
  workloads::Mapping wide;
  wide.data_parallel = 32;
  workloads::Mapping deep;
  deep.tensor_parallel = 8;
  deep.pipeline_parallel = 2;
  CHECK(serving().front_ends_of(host) == 8);
  CHECK(serving().front_ends_of(wide) == 32);
  CHECK(serving().front_ends_of(deep) == 2);
  CHECK(s.front_ends_of(wide) == 2);
}

}  // namespace roofcast::sim::unit_sim_serving_front_end
