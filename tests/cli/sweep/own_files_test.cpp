// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_sweep_own_files {
namespace {

// 600 points, three parts, of a chip, a precision and a system that are files of the user.
void write_sweep(const Program& roofcast) {
  roofcast.write("chip.yaml", roofcast.output({"show", "chip", "h200_sxm"}));
  roofcast.write("precision.yaml", roofcast.output({"show", "precision", "fp8"}));
  roofcast.write("system.yaml", roofcast.output({"show", "system", "hgx_h100"}));
  roofcast.write("s.yaml",
                 "base:\n"
                 "  system: hgx_h100\n"
                 "  model: llama-3.1-8b\n"
                 "  precision: ./precision.yaml\n"
                 "  deployment: {}\n"
                 "  serving: {stack: vllm}\n"
                 "  traffic: {input_tokens: 512, output_tokens: 128, concurrency: 8}\n"
                 "axes:\n"
                 "  system: [hgx_h100, system.yaml]\n"
                 "  plan:\n"
                 "    shipped: {system.chip: h100_sxm}\n"
                 "    own: {system.chip: ./chip.yaml}\n"
                 "  traffic.input_tokens: {from: 256, to: 3840, step: 256}\n"
                 "  traffic.concurrency: [1, 2, 4, 8, 16, 32, 48, 64, 96, 128]\n"
                 "where: [fits]\n");
}

void write_traced(const Program& roofcast) {
  roofcast.write(
      "trace.csv",
      "arrival_s,input_tokens,output_tokens\n0,512,64\n0.5,256,32\n1,700,20\n1.5,90,9\n");
  roofcast.write("t.yaml",
                 "base:\n"
                 "  system: hgx_h100\n"
                 "  model: llama-3.1-8b\n"
                 "  precision: fp8\n"
                 "  deployment: {}\n"
                 "  serving: {stack: vllm}\n"
                 "  traffic: {trace: trace.csv}\n"
                 "axes:\n"
                 "  system: [hgx_h100, hgx_h200]\n"
                 "  system.chip.hbm.bandwidth: {from: 2, to: 6.5, step: 0.015, unit: TB/s}\n"
                 "where: [fits]\n");
}

}  // namespace

TEST_CASE("Parts that were made with another file of the user are refused, and the file is named",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.output({"sweep", "s.yaml", "--csv", "r.csv", "--shard", "1/2", "--quiet"});
  roofcast.shell("sed -i 's/4.8 TB/9 TB/' chip.yaml");
  for (const char* line :
       {"sweep s.yaml --csv r.csv --resume", "sweep s.yaml --csv r.csv --shard 2/2"}) {
    INFO(line);
    const Outcome changed = roofcast.shell("roofcast " + std::string(line));
    CHECK(changed.code == 2);
    CHECK(contains(changed.err, "./chip.yaml has changed since they were made"));
  }
  CHECK_FALSE(std::filesystem::exists(roofcast.path("r.csv")));

  write_traced(roofcast);
  roofcast.output({"sweep", "t.yaml", "--csv", "t.csv", "--shard", "1/2", "--quiet"});
  roofcast.shell("sed -i 's/700,20/900,90/' trace.csv");
  const Outcome changed = roofcast.run({"sweep", "t.yaml", "--csv", "t.csv", "--resume"});
  CHECK(changed.code == 2);
  CHECK(contains(changed.err, "trace.csv has changed since they were made"));
}

}  // namespace roofcast::cli::cli_sweep_own_files
