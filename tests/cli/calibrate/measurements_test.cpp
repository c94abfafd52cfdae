// SPDX-License-Identifier: Apache-2.0
//
// Which tables `calibrate` reads where nobody names one.
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_calibrate_measurements {

TEST_CASE("validate reads the shipped tables of a kind where none is named", "[cli][long]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  CHECK(contains(roofcast.output({"calibrate", "validate", "nccl"}), "\nnccl: rows=6049 "));
  CHECK(contains(roofcast.output({"calibrate", "validate", "rl"}), "\nstep: rows=15 "));
  const std::string training = roofcast.output({"calibrate", "validate", "training"});
  for (const char* table :
       {"korthikanti2022_iteration_time.csv\n", "\nmegatron_a100_weak_scaling.csv\n",
        "\nmegatron_h100_weak_scaling.csv\n", "\ntraining_validation_megatron_bridge.csv\n",
        "\nvalidation_training_simumax_b200.csv\n", "\nmemory: rows=43 "}) {
    CHECK(contains(training, table));
  }
  const Outcome one_file = roofcast.run({"calibrate", "validate", "training", "--out", "o.csv"});
  CHECK(one_file.code == 2);
  CHECK(contains(one_file.err, "training has 6 tables, with columns of their own"));
}

TEST_CASE("ROOFCAST_DATA replaces the shipped tables, whatever form its own have", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  std::filesystem::create_directories(roofcast.path("mine/ops"));
  const std::string nccl =
      "ROOFCAST_DATA=mine roofcast calibrate validate nccl --force --out errors.csv";
  roofcast.write("mine/ops/nccl.columns",
                 "system,h200_sxm,h200_sxm\nfw,nccl,nccl\nop_name,all_reduce,all_gather\n"
                 "num_gpus,8,8\nmessage_bytes,1048576,1048576\nlatency_ms,0.03,0.02\n");
  const Outcome columns = roofcast.shell("gzip mine/ops/nccl.columns && " + nccl);
  CHECK(columns.code == 0);
  CHECK(contains(columns.out, "nccl: rows=2 "));
  const std::string errors = roofcast.read("errors.csv");

  roofcast.write("mine/ops/nccl.csv",
                 "system,fw,op_name,num_gpus,message_bytes,latency_ms\n"
                 "h200_sxm,nccl,all_reduce,8,1048576,0.03\n"
                 "h200_sxm,nccl,all_gather,8,1048576,0.02\n");
  CHECK(roofcast.shell("rm mine/ops/nccl.columns.gz && " + nccl).code == 0);
  CHECK(roofcast.read("errors.csv") == errors);

  const Outcome missing = roofcast.shell("ROOFCAST_DATA=gone roofcast calibrate validate nccl");
  CHECK(missing.code == 2);
  CHECK(contains(missing.err, "ROOFCAST_DATA: no folder gone"));
}

TEST_CASE("A program without its tables says where it looked for them", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome alone = roofcast.shell(
      "unset ROOFCAST_DATA; cp \"$(command -v roofcast)\" alone && ./alone calibrate fit --chip "
      "h200_sxm --stack vllm -o o.yaml");
  CHECK(alone.code == 2);
  CHECK(contains(alone.err, "no measured tables: neither share/roofcast/measurements"));
  // As installed.
  const Outcome installed = roofcast.shell(
      "unset ROOFCAST_DATA; mkdir -p bin share/roofcast/measurements/ops && mv alone bin/roofcast "
      "&& bin/roofcast calibrate fit --chip h200_sxm --stack vllm -o o.yaml");
  CHECK(installed.code == 2);
  CHECK(contains(installed.err, "measurements/ops has no table with rows of h200_sxm and vllm"));
}

}  // namespace roofcast::cli::cli_calibrate_measurements
