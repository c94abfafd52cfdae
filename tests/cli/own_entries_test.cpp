// SPDX-License-Identifier: Apache-2.0
//
// Measurements of a chip and a model that only the user's own catalog has, by the names of the user's own tables.
#include <fmt/format.h>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_own_entries {
namespace {

void write_catalog(const Program& roofcast) {
  std::filesystem::create_directories(roofcast.path("mine/chips"));
  std::filesystem::create_directories(roofcast.path("mine/systems"));
  std::filesystem::create_directories(roofcast.path("mine/models"));
  std::filesystem::create_directories(roofcast.path("mine/conventions"));
  roofcast.write("mine/chips/h300.yaml",
                 "base: h200_sxm\nknown_as: [ACME H300]\n"
                 "measured_on: {server: hgx_h300, cluster: h200_cluster_128}\n"
                 "hbm.bandwidth: x2\nsource: a test\n");
  roofcast.write("mine/systems/hgx_h300.yaml", "base: hgx_h200\nchip: h300\nknown_as: [ACME-8]\n");
  roofcast.write("mine/models/tiny.yaml",
                 "base: llama-3.1-8b\nknown_as: [acme/Tiny, TINY]\nlayers: [{count: 64, mixer: "
                 "attention, ffn: mlp}]\npublished: null\nsource: a test\n");
}

const std::string kServers =
    "id,backend,backend_version,model_path,system,precision,mode,isl,osl,gemm_quant_mode,"
    "batch_size,tp_size,pp_size,attention_dp_size,moe_tp_size,moe_ep_size,concurrency,"
    "silicon_ttft_ms,silicon_tpot_ms,source\n"
    "a,vllm,,acme/Tiny,ACME H300,fp8,agg,1024,64,fp8,4,1,1,1,1,1,4,60,9.5,mine\n"
    "b,vllm,,tiny,h300,fp8,agg,1024,64,fp8,4,1,1,1,1,1,4,60,9.5,mine\n"
    "c,vllm,,acme/Tiny,h200_sxm,fp8,agg,1024,64,fp8,4,1,1,1,1,1,4,60,9.5,mine\n"
    "d,vllm,,acme/Other,ACME H300,fp8,agg,1024,64,fp8,4,1,1,1,1,1,4,60,9.5,mine\n";

// What `calibrate validate` writes with the user's catalog.
base::CsvTable validated(const Program& roofcast, const std::string& arguments) {
  const Outcome outcome = roofcast.shell("ROOFCAST_CATALOG=mine roofcast calibrate validate " +
                                         arguments + " --out errors.csv --force");
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return base::parse_csv(roofcast.read("errors.csv"), "errors.csv");
}

}  // namespace

TEST_CASE("Measured servers of one's own chip and model are forecast by the names of one's tables",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_catalog(roofcast);
  roofcast.write("servers.csv", kServers);
  const base::CsvTable errors = validated(roofcast, "serving servers.csv");
  const double tpot = number(errors, 0, "predicted_tpot_ms");
  CHECK(tpot > 0.0);
  CHECK(cell(errors, 0, "reason").empty());
  CHECK(number(errors, 1, "predicted_tpot_ms") == tpot);        // ids are names too
  CHECK(number(errors, 2, "predicted_tpot_ms") > 1.15 * tpot);  // half the bandwidth
  CHECK(cell(errors, 3, "reason") == "acme/Other is not in the catalog");
  CHECK(
      contains(roofcast.output({"calibrate", "validate", "serving", "servers.csv"}), "acme/Tiny"));
}

TEST_CASE("Measured operators of one's own chip are forecast and fitted by its name", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_catalog(roofcast);
  std::string rows = "system,fw,fw_version,kernel_source,gemm_dtype,m,n,k,latency_ms\n";
  for (int m = 16; m <= 4096; m *= 2) {
    for (const int n : {1024, 2048, 4096}) {
      rows += "ACME H300,vllm,1,x,bfloat16," + std::to_string(m) + "," + std::to_string(n) +
              ",4096," + std::to_string(0.005 + 2.0 * m * n * 4096 / 0.7e12) + "\n";
    }
  }
  roofcast.write("gemm.csv", rows);
  const base::CsvTable errors = validated(roofcast, "gemm gemm.csv");
  CHECK(number(errors, 0, "predicted_latency_ms") > 0.0);
  CHECK(cell(errors, 0, "provenance") == "transferred");
  const std::string fit =
      "ROOFCAST_CATALOG=mine roofcast calibrate fit . --stack vllm --force -o fitted.yaml --chip ";
  REQUIRE(roofcast.shell(fit + "'ACME H300'").code == 0);
  const std::string fitted = roofcast.read("fitted.yaml");
  REQUIRE(roofcast.shell(fit + "h300").code == 0);
  CHECK(roofcast.read("fitted.yaml") == fitted);
  CHECK(roofcast.shell(fit + "'ACME H301'").code == 2);
}

TEST_CASE("Published steps on one's own system are forecast by the names of one's tables",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_catalog(roofcast);
  roofcast.write(
      "steps.csv",
      "section,Model,System,#-GPUs,Precision,GBS,MBS,Sequence Length,TP,PP,CP,VP,EP,FSDP,Tokens / "
      "sec / GPU\nPre-Training,TINY,ACME-8,8,BF16,64,1,4096,1,1,1,1,1,0,10000\n");
  const base::CsvTable errors = validated(roofcast, "training steps.csv");
  CHECK(number(errors, 0, "predicted_step_s") > 0.0);
}

TEST_CASE("One's own conventions add their rules to those that are shipped", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_catalog(roofcast);
  roofcast.write("servers.csv", kServers);
  const auto tpot = [&](const std::string& rules) {
    roofcast.write("mine/conventions/servers.yaml",
                   "title: Mine\nsource: a test\nrules: " + rules + "\n");
    REQUIRE(roofcast.shell("roofcast check mine/conventions/servers.yaml").code == 0);
    return number(validated(roofcast, "serving servers.csv"), 0, "predicted_tpot_ms");
  };
  const double shipped = number(validated(roofcast, "serving servers.csv"), 0, "predicted_tpot_ms");
  CHECK(tpot("{mine: [{where: {source: other}, set: {serving.stack.overhead.per_iteration: 50 "
             "ms}}]}") == shipped);
  CHECK(tpot("{mine: [{where: {source: mine}, set: {serving.stack.overhead.per_iteration: 50 ms, "
             "serving.stack.overhead.asynchronous: false}}]}") > shipped + 40.0);
  // The shipped rule of this topic says fp8. It is still there for other rows.
  CHECK(tpot("{precision: [{where: {source: mine}, set: {precision: bf16}}]}") > 1.15 * shipped);
  CHECK(contains(
      roofcast.shell("ROOFCAST_CATALOG=mine roofcast calibrate validate serving servers.csv").err,
      "servers.yaml adds to the built-in entry \"servers\""));
  CHECK(tpot("{precision: [{where: {source: other}, set: {precision: bf16}}]}") == shipped);
}

TEST_CASE("Two entries of one name are a problem", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_catalog(roofcast);
  roofcast.write("mine/chips/h301.yaml", "base: h300\nknown_as: [ACME H300]\nsource: a test\n");
  roofcast.write("servers.csv", kServers);
  const Outcome outcome =
      roofcast.shell("ROOFCAST_CATALOG=mine roofcast calibrate validate serving servers.csv");
  CHECK(outcome.code == 2);
  CHECK(contains(outcome.err, "h300 is called \"ACME H300\" too"));
}

TEST_CASE("A chip that names no system is forecast in a system that has it, or told to have none",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_catalog(roofcast);
  for (const char* chip : {"placed", "loose"}) {
    roofcast.write(fmt::format("mine/chips/{}.yaml", chip),
                   "base: h200_sxm\nmeasured_on: null\nsource: a test\n");
  }
  roofcast.write("mine/systems/box.yaml", "base: hgx_h200\nchip: placed\n");
  std::string rows = "system,fw,gemm_dtype,m,n,k,latency_ms\n";
  for (const char* chip : {"placed", "loose", "nobody's"}) {
    rows += fmt::format("{},vllm,bfloat16,160,3072,4096,0.02\n", chip);
  }
  roofcast.write("gemm.csv", rows);
  const base::CsvTable errors = validated(roofcast, "gemm gemm.csv");
  CHECK(cell(errors, 0, "reason").empty());
  CHECK(number(errors, 0, "predicted_latency_ms") > 0.0);
  CHECK(cell(errors, 1, "reason") ==
        "the chip loose names no system in measured_on:, and none has it");
  CHECK(cell(errors, 2, "reason") == "no system with nobody's in the catalog");
}

TEST_CASE("A row of a server has its forecast, or the true reason why it has none", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_catalog(roofcast);
  const std::string columns = kServers.substr(0, kServers.find('\n') + 1);
  const auto row = [](const std::string& precision, const std::string& mode, int output, int width,
                      const std::string& tpot) {
    return fmt::format("a,vllm,,llama-3.1-70b,h200_sxm,{},{},1024,{},,4,{},1,1,1,1,4,60,{},mine\n",
                       precision, mode, output, width, tpot);
  };
  std::string rows = columns;
  for (const char* precision : {"bf16", "BFLOAT16", "int8", "int3"}) {
    rows += row(precision, "agg", 64, 4, "9.5");
  }
  rows += row("fp8", "hybrid", 64, 4, "9.5");
  rows += row("fp8", "agg", 1, 4, "0");
  rows += row("fp8", "agg", 64, 3, "9.5");
  roofcast.write("servers.csv", rows);
  const base::CsvTable errors = validated(roofcast, "serving servers.csv");
  CHECK(number(errors, 0, "predicted_tpot_ms") > 0.0);
  CHECK(number(errors, 1, "predicted_tpot_ms") == number(errors, 0, "predicted_tpot_ms"));
  CHECK(number(errors, 2, "predicted_tpot_ms") < number(errors, 0, "predicted_tpot_ms"));
  CHECK(cell(errors, 3, "reason") == "no rule of conventions/servers reads the precision int3");
  CHECK(cell(errors, 4, "reason") == "the mode hybrid is neither agg nor disagg");
  CHECK(number(errors, 5, "predicted_ttft_ms") > 0.0);  // one token has a TTFT alone
  CHECK(cell(errors, 5, "predicted_tpot_ms").empty());
  CHECK(!contains(cell(errors, 6, "reason"), "disaggregated"));
  const std::string printed = roofcast.output({"calibrate", "validate", "serving", "servers.csv"});
  CHECK(contains(printed, "tpot: rows=3 "));
  CHECK(contains(printed, "ttft: rows=4 "));
}

TEST_CASE("What stands in the user's catalog and is not read is named", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_catalog(roofcast);
  roofcast.write("mine/README.md", "notes\n");
  const auto notes = [&] {
    return roofcast.shell("ROOFCAST_CATALOG=mine roofcast list chips").err;
  };
  CHECK(!contains(notes(), "is not read"));
  std::filesystem::create_directories(roofcast.path("mine/chip"));
  roofcast.write("mine/chips/h400.yml", "base: h200_sxm\n");
  roofcast.write("mine/h500.yaml", "base: h200_sxm\n");
  const std::string now = notes();
  CHECK(contains(now, "note: mine/chip is not read: did you mean chips/?\n"));
  CHECK(contains(now,
                 "note: mine/chips/h400.yml is not read: an entry is a file such as h400.yaml\n"));
  CHECK(contains(now, "note: mine/h500.yaml is not read: entries are in folders such as chips/\n"));
}

}  // namespace roofcast::cli::cli_own_entries
