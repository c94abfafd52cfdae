// SPDX-License-Identifier: Apache-2.0
//
// All-reduces of nccl-tests between two hosts (tests/measured_logs), and their 90 % intervals.
#include <algorithm>
#include <cmath>

#include "calibrate/logs/collective_log.hpp"
#include "models/operators/operator_cost.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"
#include "tests/measured_log.hpp"

namespace roofcast::validation_nccl_hosts {
namespace {

struct Run {
  const char* log;
  const char* system;
  double median;  // of |forecast / measured − 1|, at most
  double busbw;   // GB/s of the largest message
};

}  // namespace

TEST_CASE("All-reduces between two hosts are as nccl-tests measure them", "[validation]") {
  const Run runs[] = {{"nccl_all_reduce_16.txt", "h100_cluster_128_efa", 0.16, 487.0},
                      {"nccl_all_reduce_16_a100.txt", "a100_cluster_128", 0.185, 194.0},
                      {"nccl_all_reduce_16_h100.txt", "h100_cluster_128", 0.14, 467.5},
                      {"nccl_all_reduce_16_b200.txt", "b200_cluster_128", 0.14, 696.0}};
  int inside = 0;
  int all = 0;
  for (const Run& run : runs) {
    INFO(run.log);
    const models::Machine& m = laws::platform(run.system).machine;
    const calibrate::CollectiveLog log = calibrate::read_collective_log(measured_log(run.log));
    REQUIRE(log.ranks == 16);
    std::vector<double> errors;
    for (const calibrate::CollectiveTime& time : log.times) {
      const workloads::Collective op{log.kind, time.bytes, log.ranks};
      const double forecast = models::cost_of(op, m).time.si();
      const models::Spread& spread =
          m.uncertainty.kinds[static_cast<std::size_t>(models::error_kind(op, m.scale_up_domain))];
      errors.push_back(std::abs(forecast / time.seconds - 1.0));
      inside += time.seconds >= forecast * (1.0 - spread.below) &&
                        time.seconds <= forecast * (1.0 + spread.above)
                    ? 1
                    : 0;
      ++all;
    }
    CHECK(1e-9 * log.times.back().bus == Approx(run.busbw).epsilon(0.01));
    CHECK(errors.back() < 0.25);
    std::nth_element(errors.begin(),
                     errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2), errors.end());
    CHECK(errors[errors.size() / 2] < run.median);
  }
  CHECK(all == 121);
  CHECK(inside >= 100);
}

}  // namespace roofcast::validation_nccl_hosts
