// SPDX-License-Identifier: Apache-2.0
#include "calibrate/operators/power_rows.hpp"

#include "calibrate/operators/predict.hpp"
#include "calibrate/platforms/chip_platforms.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_calibrate_power_rows {

using Catch::Matchers::ContainsSubstring;

namespace {

calibrate::MeasuredOperator row(const std::string& cells) {
  const base::CsvTable table = base::parse_csv(
      "system,fw,gemm_dtype,m,n,k,latency_ms,power_w\n" + cells + "\n", "gemm_power");
  return calibrate::OperatorRows("gemm_power", table).row(0);
}

const models::Machine& h200() {
  static calibrate::ChipPlatforms platforms("generic");
  return platforms.find("h200_sxm", "vllm")->machine;
}

std::string reason(const std::string& cells) {
  return calibrate::reason_against(row(cells), h200());
}

}  // namespace

TEST_CASE("A row of power is compared in watts", "[unit]") {
  const auto measured = row("h200_sxm,vllm,bfloat16,4096,8192,8192,0.9,690");
  CHECK(measured.measured_w == 690.0);
  CHECK(calibrate::measured(measured) == 690.0);
  const double predicted = calibrate::predicted(measured, h200());
  CHECK(predicted == Approx(0.98 * 700.0));
  CHECK(calibrate::reason_against(measured, h200()).empty());
  CHECK_THAT(row("h200_sxm,vllm,bfloat16,4096,8192,8192,0.9,").reason, ContainsSubstring("power"));
}

// vLLM runs six sets of weights 3000 times, of fp8_block one: 18000 · 50 us and 3000 · 300 us are 0.9 s.
TEST_CASE("Runs shorter than the sensor's second are not compared", "[unit]") {
  CHECK(reason("h200_sxm,vllm,bfloat16,64,4096,4096,0.056,400").empty());
  CHECK_THAT(reason("h200_sxm,vllm,bfloat16,64,4096,4096,0.050,400"), ContainsSubstring("second"));
  CHECK(reason("h200_sxm,vllm,fp8_block,64,4096,4096,0.7,400").empty());
  CHECK_THAT(reason("h200_sxm,vllm,fp8_block,64,4096,4096,0.334,400"), ContainsSubstring("host"));
  CHECK_THAT(reason("h200_sxm,vllm,fp8_block,64,4096,4096,0.3,400"), ContainsSubstring("second"));
  // TensorRT-LLM: 33.5 MB of weights twice fill 50 MiB of L2, 134 MB once.
  CHECK(reason("h200_sxm,trtllm,bfloat16,64,4096,4096,0.17,400").empty());
  CHECK_THAT(reason("h200_sxm,trtllm,bfloat16,64,8192,8192,0.17,400"), ContainsSubstring("second"));
}

TEST_CASE("Rows of TensorRT-LLM that follow a pause are not compared", "[unit]") {
  CHECK(reason("h200_sxm,trtllm,bfloat16,4097,8192,8192,0.9,690").empty());
  CHECK_THAT(reason("h200_sxm,trtllm,bfloat16,8192,8192,8192,1.8,500"), ContainsSubstring("pause"));
  CHECK_THAT(reason("h200_sxm,trtllm,fp8_block,64,8192,8192,0.9,500"), ContainsSubstring("pause"));
}

// Twice the rows in twice the time: the same rate. Half the rate may draw half the power.
TEST_CASE("A row's power falls by no more than its rate beside the same weights with other rows",
          "[unit]") {
  const auto reason_of = [](const std::string& last) {
    const base::CsvTable table = base::parse_csv(
        "system,fw,gemm_dtype,m,n,k,latency_ms,power_w\n"
        "h200_sxm,vllm,fp8_block,32768," +
            last +
            "\n"
            "h200_sxm,vllm,fp8_block,32768,4096,8192,6.0,690\n"
            "h200_sxm,vllm,fp8_block,16384,8192,8192,6.0,680\n",
        "gemm_power");
    return calibrate::reason_against(calibrate::OperatorRows("gemm_power", table).row(0), h200());
  };
  CHECK_THAT(reason_of("8192,8192,12.0,458"), ContainsSubstring("too little"));
  CHECK(reason_of("8192,8192,12.0,520").empty());
  CHECK(reason_of("8192,8192,24.0,260").empty());
  CHECK_THAT(reason_of("8192,8192,24.0,250"), ContainsSubstring("too little"));
  CHECK(reason_of("8192,1024,12.0,250").empty());  // nothing beside it
}

// What takes less than a second has the power of what was before it.
TEST_CASE("A neighbour that the sensor did not see says nothing", "[unit]") {
  const base::CsvTable table = base::parse_csv(
      "system,fw,gemm_dtype,m,n,k,latency_ms,power_w\n"
      "h200_sxm,vllm,fp8_block,2048,4096,4096,0.7,300\n"
      "h200_sxm,vllm,fp8_block,1024,4096,4096,0.3,690\n",
      "gemm_power");
  CHECK(calibrate::reason_against(calibrate::OperatorRows("gemm_power", table).row(0), h200())
            .empty());
}

TEST_CASE("Power of a chip without a TDP is not predicted", "[unit]") {
  models::Machine machine = h200();
  machine.power = {};
  CHECK_THAT(calibrate::reason_against(row("h200_sxm,vllm,bfloat16,64,4096,4096,0.1,400"), machine),
             ContainsSubstring("TDP"));
}

}  // namespace roofcast::unit_calibrate_power_rows
