// SPDX-License-Identifier: Apache-2.0
//
// Lines as megatron/training/training.py of NVIDIA/Megatron-LM@d98e8a6 prints them; the numbers are made up.
#include "calibrate/logs/training_log.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/document/problems.hpp"
#include "calibrate/logs/measured_log.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_calibrate_training_log {
namespace {

calibrate::TrainingLog read(const std::string& text) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / "roofcast_training_log_test.log";
  std::ofstream(file) << text;
  CHECK(calibrate::format_of(file) == calibrate::LogFormat::training);
  calibrate::TrainingLog log = calibrate::read_training_log(file);
  std::filesystem::remove(file);
  return log;
}

std::string line(int iteration, const std::string& time, const std::string& more = "") {
  return " [2026-01-05 12:00:00.123456] iteration " + std::to_string(iteration) +
         "/     100 | consumed samples:         5120 | elapsed time per iteration (ms): " + time +
         " |" + more +
         " learning rate: 1.000000E-04 | global batch size:   256 | lm loss: 2.5E+00 |\n";
}

std::map<std::string, double> metrics(const calibrate::TrainingLog& log) {
  std::map<std::string, double> all;
  for (const calibrate::MeasuredMetric& metric : log.metrics) {
    all[metric.name] = metric.value;
  }
  return all;
}

}  // namespace

TEST_CASE("A log of Megatron tells the median step, and its first line is left out", "[unit]") {
  const std::string rates =
      " throughput per GPU (TFLOP/s/GPU): 460.5 | power per GPU (W/GPU): 640.0 |";
  const calibrate::TrainingLog log = read("0: " + line(10, "30000.0") + line(20, "2000.0", rates) +
                                          line(30, "2100.0", rates) + line(40, "2050.0", rates));
  CHECK(log.lines == 3);
  const auto all = metrics(log);
  CHECK(all.at("step_s") == Approx(2.05));
  CHECK(all.at("model_flop_per_s_per_gpu") == Approx(460.5e12));
  CHECK(all.at("power_w_per_gpu") == Approx(640.0));
  REQUIRE(log.settings.size() == 1);
  CHECK(log.settings[0].knob == "training.global_batch");
  CHECK(log.settings[0].value == "256");
}

TEST_CASE("A log of one line is that line", "[unit]") {
  const calibrate::TrainingLog log = read(line(10, "1500.5"));
  CHECK(log.lines == 1);
  CHECK(metrics(log).at("step_s") == Approx(1.5005));
}

TEST_CASE("Arguments of Megatron are sizes of the scenario, those that are None are not",
          "[unit]") {
  const calibrate::TrainingLog log = read(
      "------------------------ arguments ------------------------\n"
      "  global_batch_size ............................... 512\n"
      "  micro_batch_size ................................ 2\n"
      "  micro_batch_size_of_another ..................... 7\n"
      "  seq_length ...................................... 8192\n"
      "  virtual_pipeline_model_parallel_size ............ None\n" +
      line(10, "1500.5"));
  std::map<std::string, std::string> settings;
  for (const auto& setting : log.settings) {
    settings[setting.knob] = setting.value;
  }
  CHECK(settings == std::map<std::string, std::string>{{"training.global_batch", "512"},
                                                       {"training.micro_batch", "2"},
                                                       {"training.sequence_length", "8192"}});
}

TEST_CASE("A training log without a time is refused by name", "[unit]") {
  CHECK_THROWS_AS(read(line(10, "soon")), base::InputError);
}

}  // namespace roofcast::unit_calibrate_training_log
