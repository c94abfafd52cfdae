// SPDX-License-Identifier: Apache-2.0
//
// Parts that are not of the sweep that is joined.
#include <filesystem>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_sweep_parts_safety {
namespace {

// 288 points, two parts.
void write_sweep(const Program& roofcast, const std::string& name, const std::string& stack) {
  roofcast.write(name,
                 "base:\n"
                 "  system: hgx_h100\n"
                 "  model: llama-3.1-8b\n"
                 "  precision: fp8\n"
                 "  deployment: {}\n"
                 "  serving: {stack: " +
                     stack +
                     "}\n"
                     "  traffic: {input_tokens: 512, output_tokens: 128, concurrency: 8}\n"
                     "axes:\n"
                     "  traffic.input_tokens: {from: 256, to: 9216, step: 256}\n"
                     "  traffic.concurrency: [1, 2, 4, 8, 16, 32, 64, 128]\n"
                     "where: [fits]\n");
}

// s.yaml and t.yaml.
void write_two_sweeps(const Program& roofcast) {
  write_sweep(roofcast, "s.yaml", "vllm");
  write_sweep(roofcast, "t.yaml", "trtllm");
}

}  // namespace

TEST_CASE("Of two sweeps that begin in one folder of parts at the same time, one is refused",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_two_sweeps(roofcast);
  for (int time = 0; time < 5; ++time) {
    const Outcome both = roofcast.shell(
        "rm -rf r.csv.parts; roofcast sweep s.yaml --csv r.csv --shard 1/2 --quiet & "
        "roofcast sweep t.yaml --csv r.csv --shard 2/2 --quiet; one=$?; wait $!; echo $((one + "
        "$?))");
    CHECK(both.out == "2\n");
    CHECK(contains(both.err, "has no parts of this sweep"));
    CHECK(contains(roofcast.run({"merge", "r.csv.parts", "--csv", "m.csv"}).err, "is not there"));
  }
}

TEST_CASE("A part that is of another sweep, or was edited, is refused by all that read parts",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_two_sweeps(roofcast);
  roofcast.output({"sweep", "s.yaml", "--csv", "s.csv", "--shard", "1/1", "--quiet"});
  roofcast.output({"sweep", "t.yaml", "--csv", "t.csv", "--shard", "1/1", "--quiet"});
  roofcast.output({"merge", "s.csv.parts", "--csv", "s.csv", "--no-replay", "--quiet"});
  const std::string readers[] = {"merge s.csv.parts --csv m.csv --no-replay",
                                 "pareto s.csv.parts --maximize throughput_tok_per_s",
                                 "report s.csv.parts -o m.html",
                                 "pareto s.csv.parts/00001.csv --maximize throughput_tok_per_s",
                                 "report s.csv.parts/00001.csv -o m.html",
                                 "compare s.csv.parts/00000.csv s.csv.parts/00001.csv"};
  for (const char* change : {"cp t.csv.parts/00001.* s.csv.parts", "sed -i '$ d' $part",
                             "sed -i '2 s/0\\./9./' $part", "sed -i '2 s/,[^,]*,/,nan,/' $part"}) {
    roofcast.shell("cp -r s.csv.parts kept; part=s.csv.parts/00001.csv; " + std::string(change));
    for (const std::string& reader : readers) {
      INFO(change << ": " << reader);
      const Outcome refused = roofcast.shell("roofcast " + reader);
      CHECK(refused.code == 2);
      CHECK(contains(refused.err, "00001.csv is no part of this sweep; remove it"));
    }
    // What the message says helps.
    roofcast.shell("rm s.csv.parts/00001.csv");
    roofcast.output({"sweep", "s.yaml", "--csv", "s.csv", "--shard", "1/1", "--quiet"});
    roofcast.output({"merge", "s.csv.parts", "--csv", "a.csv", "--no-replay", "--force"});
    CHECK(roofcast.read("a.csv") == roofcast.read("s.csv"));
    roofcast.shell("rm -r s.csv.parts; mv kept s.csv.parts");
  }
}

TEST_CASE("Names that are no UTF-8 stop no command", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast, "s.yaml", "vllm");
  roofcast.write("llama-70b.yaml", roofcast.output({"show", "example", "llama-70b"}));
  const Outcome outcome = roofcast.shell(
      "set -e; mkdir $'own\\xe9' $'dir\\xe9'; cp s.yaml llama-70b.yaml $'dir\\xe9'; "
      "cd $'dir\\xe9'; cp llama-70b.yaml $'l\\xe9.yaml'; export "
      "ROOFCAST_CATALOG=$PWD/../$'own\\xe9'; "
      "roofcast simulate $'l\\xe9.yaml' --csv $'r\\xe9.csv'; "
      "roofcast sweep s.yaml --csv a.csv --quiet --no-replay; "
      "roofcast brief llama-70b.yaml -o b.html --no-replay; "
      "roofcast submit s.yaml --csv d.csv --shards 2 --commands; "
      "roofcast sweep s.yaml --csv c.csv --shard 1/1 --quiet; "
      "roofcast merge $PWD/c.csv.parts --csv c.csv --quiet --no-replay; cmp a.csv c.csv");
  INFO(outcome.err);
  CHECK(outcome.code == 0);
}

TEST_CASE("Parts that were made with two swapped files are refused, in one folder and in two",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("fast.yaml", "base: hgx_h200\nchip.hbm.bandwidth: 9 TB/s\n");
  roofcast.write("slow.yaml", "base: hgx_h200\nchip.hbm.bandwidth: 3 TB/s\n");
  roofcast.write("s.yaml", kSweepBase +
                               "axes:\n"
                               "  system: [fast.yaml, slow.yaml]\n"
                               "  traffic.concurrency: {from: 1, to: 288, step: 1}\n");
  roofcast.output({"sweep", "s.yaml", "--csv", "a.csv", "--shard", "1/2", "--quiet"});
  roofcast.output({"sweep", "s.yaml", "--csv", "b.csv", "--shard", "1/2", "--quiet"});
  roofcast.shell("mv fast.yaml other; mv slow.yaml fast.yaml; mv other slow.yaml");
  const auto is_refused = [&](const std::string& command) {
    const Outcome refused = roofcast.shell("roofcast " + command);
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, "slow.yaml has changed since they were made"));
  };
  is_refused("sweep s.yaml --csv a.csv --shard 2/2 --quiet");
  is_refused("sweep s.yaml --csv a.csv --resume --quiet");
  roofcast.output({"sweep", "s.yaml", "--csv", "c.csv", "--shard", "2/2", "--quiet"});
  is_refused("merge c.csv.parts b.csv.parts --csv m.csv --quiet");
  CHECK(roofcast.run({"merge", "b.csv.parts", "c.csv.parts", "--csv", "m.csv"}).code == 2);
}

TEST_CASE("Parts that were made with an entry that is not read any more are refused", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast, "s.yaml", "sglang");
  std::filesystem::create_directories(roofcast.path("own/calibrated"));
  roofcast.write("own/calibrated/h100_sxm.sglang.yaml",
                 "base: generic\nmemory.dram_efficiency: 0.30\nmemory.source: test\n");
  roofcast.shell("ROOFCAST_CATALOG=own roofcast sweep s.yaml --csv a.csv --shard 1/2 --quiet");
  const Outcome refused = roofcast.run({"sweep", "s.yaml", "--csv", "a.csv", "--shard", "2/2"});
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "of this sweep: "));
  CHECK(contains(refused.err, "calibrated/"));
}

TEST_CASE("A file or a link under the name of a part that lacks is refused, and not lost",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_two_sweeps(roofcast);
  const std::vector<std::string> sweep = {"sweep",   "s.yaml",   "--csv",      "r.csv",
                                          "--quiet", "--resume", "--no-replay"};
  for (const char* file :
       {"ln -s ../keep.txt r.csv.parts/00001.csv", "cp keep.txt r.csv.parts/00001.csv"}) {
    INFO(file);
    roofcast.shell("rm -rf r.*; echo mine > keep.txt");
    roofcast.output({"sweep", "s.yaml", "--csv", "r.csv", "--shard", "1/2", "--quiet"});
    roofcast.shell(file);
    const Outcome refused = roofcast.run(sweep);
    CHECK(refused.code == 2);
    CHECK(refused.err == "error: r.csv.parts/00001.csv is no part of this sweep; remove it\n");
    CHECK(roofcast.read("keep.txt") + roofcast.read("r.csv.parts/00001.csv") == "mine\nmine\n");
  }
  // One that was written by a run that was killed before its check.
  roofcast.shell("rm -rf r.*");
  roofcast.output({"sweep", "s.yaml", "--csv", "r.csv", "--shard", "1/1", "--quiet"});
  roofcast.shell("rm r.csv.parts/00001.check");
  CHECK(roofcast.run(sweep).code == 0);
}

TEST_CASE("Parts are not merged when a file that they were made from has changed", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("base.yaml",
                 "system: hgx_h100\nmodel: llama-3.1-8b\nprecision: fp8\n"
                 "traffic: {input_tokens: 512, output_tokens: 128, concurrency: 8}\n");
  roofcast.write("f.yaml", "base: base.yaml\naxes:\n  traffic.concurrency: [1, 2]\n");
  roofcast.output({"sweep", "f.yaml", "--csv", "x.csv", "--shard", "1/1", "--quiet"});
  roofcast.output({"merge", "x.csv.parts", "--csv", "whole.csv", "--quiet"});
  roofcast.shell("sed -i s/512/1024/ base.yaml");
  const Outcome refused = roofcast.run({"merge", "x.csv.parts", "--csv", "later.csv", "--quiet"});
  CHECK(refused.code == 2);
  CHECK(contains(refused.err,
                 "x.csv.parts has no parts of this sweep: base.yaml has changed since they were"));
  roofcast.shell("rm base.yaml");  // as on another machine
  roofcast.output({"merge", "x.csv.parts", "--csv", "later.csv", "--quiet"});
  CHECK(roofcast.read("later.csv") == roofcast.read("whole.csv"));
}

}  // namespace roofcast::cli::cli_sweep_parts_safety
