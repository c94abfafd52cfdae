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
  const Outcome merged = roofcast.run({"merge", "t.csv.parts", "--csv", "t.csv"});
  CHECK(merged.code == 2);
  CHECK(contains(merged.err, "trace.csv has changed since they were made"));
}

TEST_CASE("Shards of a sweep with files of the user join in any folder to the sweep's bytes",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  write_traced(roofcast);
  std::filesystem::create_directories(roofcast.path("a/b"));
  for (const std::string name : {"s", "t"}) {
    INFO(name);
    const std::string sweep = "roofcast sweep " + name + ".yaml --quiet --no-replay --csv ";
    CHECK(roofcast.shell(sweep + name + ".whole.csv").code == 0);
    CHECK(roofcast.shell(sweep + "a/" + name + ".csv --shard 1/2").code == 0);
    CHECK(roofcast
              .shell("cd a/b && roofcast sweep ../../" + name + ".yaml --csv ../" + name +
                     ".csv --shard 2/2 --quiet")
              .code == 0);
    const Outcome merged = roofcast.shell("cd a/b && roofcast merge ../" + name +
                                          ".csv.parts --csv m.csv --no-replay --quiet --force");
    INFO(merged.err);
    CHECK(merged.code == 0);
    CHECK(roofcast.read("a/b/m.csv") == roofcast.read(name + ".whole.csv"));
    const Outcome report = roofcast.shell("roofcast report a/b/m.csv -o m.html --force");
    INFO(report.err);
    CHECK(report.code == 0);
  }
}

TEST_CASE("Tasks in containers, where every process is number 1, share a folder of parts",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.output({"sweep", "s.yaml", "--csv", "whole.csv", "--quiet", "--no-replay"});
  if (roofcast.shell("unshare -rpf true").code != 0) {
    WARN("this machine makes no process namespaces: nothing tested");
    return;
  }
  const Outcome tasks = roofcast.shell(
      "rc=0; for task in 1 2 3; do unshare -rpf roofcast sweep s.yaml --csv r.csv "
      "--shard $task/3 --quiet & done; for job in $(jobs -p); do wait $job || rc=1; done; exit "
      "$rc");
  INFO(tasks.err);
  CHECK(tasks.code == 0);
  roofcast.output({"merge", "r.csv.parts", "--csv", "r.csv", "--quiet", "--no-replay"});
  CHECK(roofcast.read("r.csv") == roofcast.read("whole.csv"));
}

TEST_CASE("A scenario that is saved elsewhere names the files of the one that it was made from",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  std::filesystem::create_directories(roofcast.path("a"));
  std::filesystem::create_directories(roofcast.path("b"));
  roofcast.write("a/chip.yaml", roofcast.output({"show", "chip", "h200_sxm"}));
  roofcast.write("a/x.yaml", roofcast.output({"show", "example", "llama-70b"}));
  CHECK(roofcast
            .shell("cd a && roofcast estimate x.yaml --no-replay --set system.chip=./chip.yaml "
                   "--save ../b/y.yaml")
            .code == 0);
  CHECK(roofcast.run({"check", "b/y.yaml"}).code == 0);
}

TEST_CASE(
    "A page and an answer name files of the user as they are seen from the folder, and no folder "
    "above it",
    "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  const std::string above = roofcast.path("").parent_path().string();
  const std::string answer = roofcast.output(
      {"sweep", "s.yaml", "--csv", "r.csv", "--report", "r.html", "--no-replay", "--json"});
  CHECK(contains(roofcast.read("r.sweep.yaml"), above));  // means the same in any folder
  for (const std::string& told : {answer, roofcast.read("r.html")}) {
    CHECK(contains(told, "precision.yaml"));
    CHECK_FALSE(contains(told, above));
  }
  // From a folder below that of the files.
  const Outcome below = roofcast.shell(
      "mkdir below && cd below && HOME=\"$(dirname \"$PWD\")\" roofcast sweep ../s.yaml --csv "
      "b.csv "
      "--report b.html --no-replay --quiet");
  CHECK(below.code == 0);
  CHECK(contains(roofcast.read("below/b.html"), "../precision.yaml"));
  CHECK_FALSE(contains(roofcast.read("below/b.html"), above));
}

}  // namespace roofcast::cli::cli_sweep_own_files
