// SPDX-License-Identifier: Apache-2.0
//
// Steps of training against runs: time and memory of eight B200 (published/validation_training_simumax_b200.yaml), and
// Megatron Bridge's published runs, half of which set host times of the trainer (published/training_validation_megatron_bridge.yaml), and MPT's with
// FSDP, from which one setting was read: no exchange is hidden (training/mpt_fsdp.yaml).
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/platforms/error_summary.hpp"
#include "calibrate/trainings/training_rows.hpp"
#include "sim/estimate.hpp"
#include "sim/result/metrics.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/measurements.hpp"

namespace roofcast::validation_training_steps {
namespace {

// Calls `of` with each row that can be told as a scenario, and its estimate.
template <class Of>
std::size_t each_row(const char* folder, const char* name, Of of) {
  const base::CsvTable table = base::read_csv(measured_table(folder, name));
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
  each_row("published", "validation_training_simumax_b200",
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

TEST_CASE("Steps of eight B200, none of them fitted, are within 4 % of the measured time",
          "[validation]") {
  std::vector<calibrate::Pair> pairs;
  each_row("published", "validation_training_simumax_b200",
           [&](const calibrate::MeasuredTraining& measured, const sim::ServingEstimate& e) {
             pairs.push_back({measured.step_s, e.workflow->training.time.si()});
           });
  const calibrate::ErrorSummary errors = calibrate::summarise(pairs);
  WARN(calibrate::summary_line("step", errors, 0));
  CHECK(errors.median < 0.04);
  CHECK(errors.p90 < 0.105);
}

TEST_CASE(
    "Steps of Megatron Bridge that set nothing of the trainer are within 10 % at the median, "
    "hybrids too",
    "[validation]") {
  std::vector<calibrate::Pair> set;
  std::vector<calibrate::Pair> held_back;
  std::vector<calibrate::Pair> hybrids;
  each_row("published", "training_validation_megatron_bridge",
           [&](const calibrate::MeasuredTraining& measured, const sim::ServingEstimate& e) {
             REQUIRE(e.fits());
             REQUIRE(measured.sets_trainer);
             const calibrate::Pair pair{measured.step_s, e.workflow->training.time.si()};
             (*measured.sets_trainer ? set : held_back).push_back(pair);
             if (measured.group.starts_with("Nemotron")) {
               hybrids.push_back(pair);
             }
           });
  WARN(calibrate::summary_line("set", calibrate::summarise(set), 0));
  WARN(calibrate::summary_line("held back", calibrate::summarise(held_back), 0));
  WARN(calibrate::summary_line("hybrids", calibrate::summarise(hybrids), 0));
  CHECK(set.size() > 100);
  CHECK(held_back.size() > 100);
  CHECK(calibrate::summarise(set).median < 0.06);
  CHECK(calibrate::summarise(held_back).median < 0.10);
  CHECK(calibrate::summarise(hybrids).median < 0.10);
}

TEST_CASE(
    "Between 85 and 95 % of measured steps are inside the 90 % interval, and in each large table",
    "[validation]") {
  const sim::Metric& step = *sim::find_metric("step_s");
  std::vector<calibrate::Pair> all;
  for (const auto& [folder, name] :
       {std::pair{"published", "training_validation_megatron_bridge"},
        std::pair{"published", "validation_training_simumax_b200"},
        std::pair{"training", "mpt_fsdp"}, std::pair{"e2e", "megatron_h100_weak_scaling"},
        std::pair{"e2e", "megatron_a100_weak_scaling"},
        std::pair{"e2e", "korthikanti2022_iteration_time"}}) {
    std::vector<calibrate::Pair> pairs;
    each_row(folder, name,
             [&](const calibrate::MeasuredTraining& measured, const sim::ServingEstimate& e) {
               const sim::Interval90 within = sim::interval90(step, e);
               pairs.push_back({measured.step_s, step.value(e), within.low, within.high});
             });
    const calibrate::ErrorSummary errors = calibrate::summarise(pairs);
    INFO(name);
    WARN(calibrate::summary_line(name, errors, 0));
    if (pairs.size() > 40) {
      CHECK(errors.coverage90 > 0.85);
      CHECK(errors.coverage90 < 0.98);
    }
    all.insert(all.end(), pairs.begin(), pairs.end());
  }
  const calibrate::ErrorSummary errors = calibrate::summarise(all);
  CHECK(errors.rows == 470);
  CHECK(errors.coverage90 > 0.85);
  CHECK(errors.coverage90 < 0.95);
}

TEST_CASE("Published steps of LoRA and of SFT, none of them fitted, are within 12 %",
          "[validation]") {
  std::map<std::string, std::vector<calibrate::Pair>> tasks;
  each_row("published", "training_validation_megatron_bridge",
           [&](const calibrate::MeasuredTraining& measured, const sim::ServingEstimate& e) {
             const std::size_t task = measured.group.find(", ");
             if (task != std::string::npos) {
               CHECK_FALSE(*measured.sets_trainer);
               tasks[measured.group.substr(task + 2)].push_back(
                   {measured.step_s, e.workflow->training.time.si()});
             }
           });
  for (const char* const task : {"LoRA", "SFT"}) {
    INFO(task);
    const calibrate::ErrorSummary errors = calibrate::summarise(tasks[task]);
    WARN(calibrate::summary_line(task, errors, 0));
    CHECK(errors.rows == 5);
    CHECK(errors.median < 0.12);
  }
}

TEST_CASE("Megatron-LM's steps on 48 to 3,072 H100 are within 6 % at the median", "[validation]") {
  std::vector<calibrate::Pair> pairs;
  each_row("e2e", "megatron_h100_weak_scaling",
           [&](const calibrate::MeasuredTraining& measured, const sim::ServingEstimate& e) {
             pairs.push_back({measured.step_s, e.workflow->training.time.si()});
           });
  const calibrate::ErrorSummary errors = calibrate::summarise(pairs);
  WARN(calibrate::summary_line("step", errors, 0));
  CHECK(errors.rows == 6);
  CHECK(errors.median < 0.06);
  CHECK(errors.p90 < 0.11);
}

TEST_CASE("No run that was published is refused for memory or for its layout", "[validation]") {
  const std::size_t told =
      each_row("published", "training_validation_megatron_bridge",
               [&](const calibrate::MeasuredTraining& measured, const sim::ServingEstimate& e) {
                 INFO(measured.group << " on " << measured.chip);
                 CHECK(sim::reason(e).empty());
               });
  CHECK(told == 254);
}

TEST_CASE("Steps of MPT are within 11 % of the measured time at the median", "[validation]") {
  std::vector<calibrate::Pair> pairs;
  each_row("training", "mpt_fsdp",
           [&](const calibrate::MeasuredTraining& measured, const sim::ServingEstimate& e) {
             INFO(sim::reason(e));
             REQUIRE(e.fits());
             pairs.push_back({measured.step_s, e.workflow->training.time.si()});
           });
  const calibrate::ErrorSummary errors = calibrate::summarise(pairs);
  WARN(calibrate::summary_line("step", errors, 0));
  CHECK(errors.rows == 154);
  CHECK(errors.median < 0.11);
}

// The steps of 128 GPUs are forecast up to 15 % short, those of 512 less: so the loss is forecast too large.
TEST_CASE("What weak scaling from 128 to 512 H100 leaves of MPT's throughput is within 2 points",
          "[validation]") {
  struct Rates {
    double measured = 0;  // steps per second
    double forecast = 0;
  };
  std::map<std::string, std::map<std::int64_t, Rates>> models;
  each_row("training", "mpt_fsdp",
           [&](const calibrate::MeasuredTraining& measured, const sim::ServingEstimate& e) {
             if (measured.chip == "h100_80gb" && e.gpus >= 128) {
               models[measured.group][e.gpus] = {1.0 / measured.step_s,
                                                 1.0 / e.workflow->training.time.si()};
             }
           });
  REQUIRE(models.size() == 4);
  for (auto& [model, rates] : models) {
    INFO(model);
    const double measured = rates.at(512).measured / rates.at(128).measured;
    const double forecast = rates.at(512).forecast / rates.at(128).forecast;
    CHECK(forecast - measured == Approx(0.0).margin(0.02));
    CHECK(forecast < 1.0);
  }
}

}  // namespace roofcast::validation_training_steps
