// SPDX-License-Identifier: Apache-2.0
//
// Options that contradict each other, or that nothing reads.
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_question_refused_options {
namespace {

void write_scenario(const Program& roofcast) {
  roofcast.write("s.yaml",
                 "system: hgx_h100\nmodel: llama-3.1-8b\nprecision: fp8\ndeployment: {}\n"
                 "serving: {stack: vllm}\n"
                 "traffic: {input_tokens: 512, output_tokens: 128, concurrency: 8}\n");
  roofcast.write("sweep.yaml", "base: s.yaml\naxes:\n  traffic.concurrency: [1, 2]\n");
}

struct Refusal {
  std::string line;
  std::string message;
};

void refuses(const Program& roofcast, const std::vector<Refusal>& refusals) {
  for (const auto& [line, message] : refusals) {
    INFO(line);
    const Outcome refused = roofcast.shell("roofcast " + line);
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, message));
    CHECK(refused.out.empty());
  }
}

}  // namespace

TEST_CASE("Two outputs are refused on one stdout", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_scenario(roofcast);
  refuses(roofcast, {{"sweep sweep.yaml --csv - --report -", "error: - is named twice"},
                     {"simulate s.yaml --csv - --report -", "error: - is named twice"},
                     {"estimate s.yaml --save - --kubernetes -", "error: - is named twice"}});
}

TEST_CASE("A page and an answer in JSON both reach whoever asked for them", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_scenario(roofcast);
  const Outcome both = roofcast.run({"brief", "s.yaml", "-o", "-", "--json", "--no-replay"});
  CHECK(both.code == 0);
  CHECK(both.out == roofcast.output({"brief", "s.yaml", "-o", "-", "--no-replay"}));
  const std::string alone = roofcast.output({"brief", "s.yaml", "--json", "--no-replay"});
  const auto answer = [](const std::string& json) { return json.substr(0, json.find("made_by")); };
  CHECK(answer(both.err) == answer(alone));
}

TEST_CASE("A shard refuses what only a whole sweep writes, and a folder that is not there",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_scenario(roofcast);
  refuses(roofcast,
          {{"sweep sweep.yaml --csv x.csv --shard 1/1 --report x.html", "error: --report is of"},
           {"sweep sweep.yaml --csv x.csv --shard 1/1 --json", "error: --json is of"},
           {"sweep sweep.yaml --csv x.csv --shard 1/1 --made-by", "error: --made-by is of"},
           {"sweep sweep.yaml --csv nodir/x.csv --shard 1/1", "there is no folder nodir"}});
  CHECK(!std::filesystem::exists(roofcast.path("nodir")));
  CHECK(!std::filesystem::exists(roofcast.path("x.csv.parts")));
}

TEST_CASE("An option that nothing would read is refused", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_scenario(roofcast);
  roofcast.write("len.csv", "tokens\n5\n6\n");
  const std::string submit = "submit sweep.yaml --csv x.csv --shards 1 ";
  refuses(roofcast,
          {{"estimate s.yaml --before --set system=hgx_h200 --format csv",
            "error: --before is of text and JSON"},
           {"estimate s.yaml --image X", "error: --image and --host-gpus are of --kubernetes"},
           {"recommend s.yaml --gpus 2 --host-gpus 2",
            "error: --image and --host-gpus are of --kubernetes"},
           {submit + "--commands --dry-run", "error: --dry-run, --partition and --time are of"},
           {submit + "--kubernetes --image a --claim b --time 3:00",
            "error: --dry-run, --partition and --time are of --slurm"},
           {submit + "--commands --image g", "error: --image and --claim are of --kubernetes"},
           {"pack len.csv --tokens 4096 --count 5", "error: --count and --seed are of --lengths"},
           {"pack len.csv --tokens 4096 --part output", "len.csv is a table of tokens"},
           {"pack --lengths 5 --tokens 4096 --part output", "--part is of a trace of requests"}});
}

TEST_CASE("One knob has one setting, by whatever options it is set", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_scenario(roofcast);
  refuses(
      roofcast,
      {{"estimate s.yaml --set traffic.concurrency=2 --set traffic.concurrency=3",
        "error: --set traffic.concurrency=2 and --set traffic.concurrency=3 both set "
        "traffic.concurrency: leave one out"},
       {"estimate s.yaml --set traffic.concurrency=x3 --set traffic.concurrency=2", "both set"},
       {"estimate s.yaml --clients 4 --set traffic.concurrency=2",
        "error: --clients 4 and --set traffic.concurrency=2 both set traffic.concurrency"},
       {"simulate s.yaml --seed 3 --set traffic.seed=4", "--seed 3 both set traffic.seed"},
       {"sensitivity s.yaml --set system=hgx_h200 --set system=hgx_b200", "both set system"},
       {"solve s.yaml --vary serving.replicas=1..2 --until fits --set precision=bf16 --set "
        "precision=fp8",
        "both set precision"},
       {"kernel gemm --m 8 --n 8 --k 8 --system hgx_h200 --set system.chip.hbm.bandwidth=x2 --set "
        "system.chip.hbm.bandwidth=x3",
        "both set system.chip.hbm.bandwidth"}});
}

}  // namespace roofcast::cli::cli_question_refused_options
