// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdio>
#include <roofcast/sim/estimate.hpp>
#include <roofcast/sim/metrics.hpp>
#include <roofcast/sim/scenario.hpp>

// Prints the TPOT of a scenario in seconds.
int main(int argc, char** argv) {
  if (argc != 2) {
    return 2;
  }
  namespace sim = roofcast::sim;
  const sim::Scenario scenario = sim::read_scenario(roofcast::base::load_document(argv[1]));
  sim::Workspace workspace;
  const sim::ServingEstimate estimate = sim::estimate(sim::view(scenario), workspace);
  char digits[32] = {};
  std::to_chars(digits, digits + sizeof digits - 1,
                sim::find_metric("tpot_mean_s")->value(estimate));
  std::puts(digits);
}
