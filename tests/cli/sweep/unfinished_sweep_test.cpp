// SPDX-License-Identifier: Apache-2.0
//
// A sweep in parts that ends while its result is written.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/csv/csv.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_sweep_unfinished_sweep {
namespace {

// 7,200 points.
void write_sweep(const Program& roofcast) {
  roofcast.write("s.yaml", kSweepBase +
                               "axes:\n"
                               "  traffic.input_tokens: {from: 64, to: 3840, step: 64}\n"
                               "  traffic.output_tokens: {from: 32, to: 480, step: 32}\n"
                               "  traffic.concurrency: [1, 2, 4, 8, 16, 32, 64, 128]\n"
                               "where: [fits]\n");
}

bool is_whole(const Program& roofcast) {
  return roofcast.read("r.csv") == roofcast.read("whole.csv") &&
         contains(roofcast.output({"reproduce", "r.csv", "--quiet"}), "r.csv: the same bytes") &&
         roofcast.shell("ls -d r.*").out == "r.csv\nr.provenance.json\nr.sweep.yaml\n";
}

}  // namespace

TEST_CASE("A sweep that is killed while it finishes is finished by the same command", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  const std::string sweep = "roofcast sweep s.yaml --csv r.csv --resume --quiet --no-replay";
  roofcast.output({"sweep", "s.yaml", "--csv", "whole.csv", "--quiet", "--no-replay"});
  int killed = 0;
  for (const char* delay : {"0", "0.02", "0.05", "0.1", "0.2"}) {
    INFO(delay);
    roofcast.shell("rm -rf r.*");
    roofcast.shell(sweep +
                   " & until [ -e r.csv.parts/finishing ] || ! kill -0 $!; do sleep 0.002; "
                   "done 2> /dev/null; sleep " +
                   delay + "; kill -KILL $! 2> /dev/null; wait $!");
    if (std::filesystem::exists(roofcast.path("r.csv.parts"))) {
      ++killed;
      CHECK(roofcast.shell(sweep).err.empty());
    }
    CHECK(is_whole(roofcast));
  }
  CHECK(killed > 0);
}

TEST_CASE("A file that no earlier run of the sweep has written is not replaced", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.output({"sweep", "s.yaml", "--csv", "whole.csv", "--quiet", "--no-replay"});
  roofcast.output({"sweep", "s.yaml", "--csv", "r.csv", "--shard", "1/1", "--quiet"});
  const std::string sweep = "roofcast sweep s.yaml --csv r.csv --resume --quiet --no-replay";
  roofcast.shell("echo mine > r.csv");
  for (const char* finishing : {"true", "echo $PWD/other.csv > r.csv.parts/finishing"}) {
    roofcast.shell(finishing);
    const Outcome refused = roofcast.shell(sweep);
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, "r.csv is there already"));
    CHECK(roofcast.read("r.csv") == "mine\n");
  }
  // An earlier run wrote r.csv, and what is there now is not it.
  const std::string hash =
      nlohmann::json::parse(roofcast.read("whole.provenance.json"))["outputs"][0]["fnv1a"];
  roofcast.shell("echo " + hash + " $PWD/r.csv > r.csv.parts/finishing");
  CHECK(contains(roofcast.shell(sweep).err, "r.csv is there already"));
  CHECK(roofcast.read("r.csv") == "mine\n");
  roofcast.shell("cp whole.csv r.csv");
  CHECK(roofcast.run({"sweep", "s.yaml", "--csv", "r.csv", "--quiet"}).code == 2);
  // A second run that ends before it has written it again leaves what the first has noted.
  CHECK(roofcast.shell(sweep + " --report /dev/full").code == 2);
  CHECK(roofcast.shell(sweep).code == 0);
  CHECK(is_whole(roofcast));
}

TEST_CASE("Ctrl-C while a sweep in parts is finished says that the same command goes on", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  const Outcome stopped = roofcast.shell(
      "roofcast sweep s.yaml --csv r.csv --resume --quiet & "
      "until [ -e r.csv.parts/finishing ]; do sleep 0.002; done; kill -TERM $!; wait $!");
  if (stopped.code != 0) {  // else it was done before
    CHECK(contains(stopped.err, "what is done is in r.csv.parts; the same command goes on"));
  }
}

TEST_CASE("What was written before the page failed says what made it", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  const Outcome failed =
      roofcast.run({"sweep", "s.yaml", "--csv", "r.csv", "--report", "/dev/full", "--quiet"});
  CHECK(failed.code == 2);
  CHECK(contains(failed.err, "/dev/full"));
  CHECK(contains(roofcast.read("r.provenance.json"), "\"r.csv\""));
  CHECK(!contains(roofcast.output({"compare", "r.csv", "r.csv"}), "is not of this"));
}

TEST_CASE("Shards have equally many parts, and each a part of every kind", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  // Every fourth part has the same parallelism.
  roofcast.write("k.yaml", kSweepBase +
                               "axes:\n"
                               "  traffic.input_tokens: {from: 64, to: 512, step: 64}\n"
                               "  deployment.tensor_parallel: [1, 2, 4, 8]\n"
                               "  traffic.concurrency: {from: 1, to: 256, step: 1}\n");
  std::set<std::string> all;
  for (int shard = 1; shard <= 4; ++shard) {
    const std::string csv = "k" + std::to_string(shard) + ".csv";
    roofcast.output(
        {"sweep", "k.yaml", "--csv", csv, "--shard", std::to_string(shard) + "/4", "--quiet"});
    std::set<std::string> kinds;
    const std::vector<std::string> parts =
        lines_of(roofcast.shell("ls " + csv + ".parts/*.csv").out);
    CHECK(parts.size() == 8);
    for (const std::string& part : parts) {
      const base::CsvTable table = base::read_csv(roofcast.path(part));
      kinds.insert(cell(table, 0, "deployment.tensor_parallel"));
      CHECK(all.insert(part.substr(part.rfind('/'))).second);
    }
    CHECK(kinds.size() == 4);
  }
  CHECK(all.size() == 32);
}

}  // namespace roofcast::cli::cli_sweep_unfinished_sweep
