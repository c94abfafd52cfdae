// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdio>
#include <roofcast/estimate.hpp>
#include <roofcast/metrics.hpp>
#include <roofcast/scenario.hpp>
#include <roofcast/simulate.hpp>
#include <roofcast/sweep.hpp>
#include <string>

namespace {

void print(const std::string& name, double value) {
  char digits[32] = {};
  std::to_chars(digits, digits + sizeof digits - 1, value);
  std::printf("%s=%s\n", name.c_str(), digits);
}

// Every metric of a scenario, then what the other headers say of it. run.cmake compares.
void forecast(const roofcast::Scenario& scenario) {
  const roofcast::Estimate estimate = roofcast::estimate(scenario);
  if (!estimate.runs()) {
    std::printf("does not run: %s\n", estimate.reason().c_str());
    return;
  }
  for (const roofcast::Metric& metric : roofcast::metrics()) {
    const roofcast::Number number = estimate[metric.name];
    print(std::string(metric.name), number.value);
    if (number.interval90) {
      print("low90_" + std::string(metric.name), number.interval90->low);
      print("high90_" + std::string(metric.name), number.interval90->high);
    }
  }

  const roofcast::Scenario crowded = scenario.with("traffic.concurrency", "x2");
  print("crowded", roofcast::estimate(crowded)["tpot_mean_s"].value);
  print("simulated", roofcast::simulate(scenario, {.warm_up = 100}).tpot.mean);

  roofcast::Sweep question{scenario};
  question.axes = {{"traffic.concurrency", {"x1", "x2"}}};
  for (const double tpot : roofcast::sweep(question).column("tpot_mean_s")) {
    print("swept", tpot);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    return 2;
  }
  try {
    forecast(roofcast::Scenario(argv[1]));
  } catch (const roofcast::InputError& error) {
    std::fputs(error.what(), stderr);
    return 2;
  }
}
