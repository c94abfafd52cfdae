// SPDX-License-Identifier: Apache-2.0
//
// Steps of training against runs: time and memory of eight B200 (published/validation_training_simumax_b200.yaml), and
// Megatron Bridge's published runs, all of which fitted (published/training_validation_megatron_bridge.yaml).
#include <string>

#include "calibrate/platforms/error_summary.hpp"
#include "calibrate/trainings/training_rows.hpp"
#include "sim/estimate.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/measurements.hpp"

namespace roofcast {
namespace {

// Calls `of` with each row that can be told as a scenario, and its estimate.
template <class Of>
std::size_t each_row(const char* name, Of of) {
  const base::CsvTable table = base::read_csv(measured_table("published", name));
  const calibrate::TrainingRows rows(table, "");
  sim::Workspace workspace;
  std::size_t told = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const calibrate::MeasuredTraining measured = rows.row(row);
    if (measured.reason.empty()) {
      of(measured, sim::estimate(sim::view(*measured.scenario), workspace));
      ++told;
    }
  }
  return told;
}

}  // namespace

TEST_CASE("Memory of training steps is within 1.5 % of what was allocated", "[validation]") {
  std::vector<calibrate::Pair> pairs;
  each_row("validation_training_simumax_b200",
           [&](const calibrate::MeasuredTraining& measured, const sim::ServingEstimate& e) {
             INFO(sim::reason(e));
             REQUIRE(e.fits());
             pairs.push_back({measured.memory->si(), e.memory.si()});
           });
  const calibrate::ErrorSummary errors = calibrate::summarise(pairs);
  WARN(calibrate::summary_line("memory", errors, 0));
  CHECK(errors.rows == 43);
  CHECK(errors.median < 0.005);
  CHECK(errors.p90 < 0.015);
}

TEST_CASE("Steps of eight B200, none of them fitted, are within 5 % of the measured time",
          "[validation]") {
  std::vector<calibrate::Pair> pairs;
  each_row("validation_training_simumax_b200",
           [&](const calibrate::MeasuredTraining& measured, const sim::ServingEstimate& e) {
             pairs.push_back({measured.step_s, e.workflow->training.time.si()});
           });
  const calibrate::ErrorSummary errors = calibrate::summarise(pairs);
  WARN(calibrate::summary_line("step", errors, 0));
  CHECK(errors.median < 0.05);
  CHECK(errors.p90 < 0.115);
}

TEST_CASE("No run that was published is refused for memory or for its layout", "[validation]") {
  const std::size_t told =
      each_row("training_validation_megatron_bridge",
               [&](const calibrate::MeasuredTraining& measured, const sim::ServingEstimate& e) {
                 INFO(measured.group << " on " << measured.chip);
                 CHECK(sim::reason(e).empty());
               });
  CHECK(told == 244);
}

}  // namespace roofcast
