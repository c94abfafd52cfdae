// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_output_safety {

TEST_CASE("A sweep that is killed leaves the old file as it was", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.output(
      {"sweep", example("llama70b_h200_hbm"), "--csv", "r.csv", "--quiet", "--no-replay"});
  const std::string rows = roofcast.read("r.csv");
  const std::string sweep = roofcast.read("r.sweep.yaml");
  const Outcome killed = roofcast.shell("timeout -s KILL 0.3 roofcast sweep '" +
                                        example("llama70b_million") + "' --csv r.csv --quiet");
  CHECK(killed.code != 0);
  CHECK(roofcast.read("r.csv") == rows);
  CHECK(roofcast.read("r.sweep.yaml") == sweep);
  // What it leaves is taken over by the next run.
  roofcast.output(
      {"sweep", example("llama70b_h200_hbm"), "--csv", "r.csv", "--quiet", "--no-replay"});
  CHECK(roofcast.shell("ls").out == "r.csv\nr.provenance.json\nr.sweep.yaml\n");
}

TEST_CASE("A second writer of a file is refused while the first one lives", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string small =
      "roofcast sweep '" + example("llama70b_h200_hbm") + "' --csv r.csv --quiet --no-replay";
  // It waits for the first one to have the lock.
  const Outcome second = roofcast.shell(
      "roofcast sweep '" + example("llama70b_million") +
      "' --csv r.csv --quiet & until [ -e r.csv.roofcast.part ]; do sleep 0.01; done; " + small +
      "; rc=$?; kill -KILL $!; wait $! 2> killed; exit $rc");
  CHECK(second.code == 2);
  CHECK(contains(second.err, "another roofcast is writing r.csv"));
  CHECK(roofcast.shell(small).code == 0);
}

TEST_CASE("A sweep file that the user wrote is not lost to a CSV of like name", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::vector<std::string> sweep = {
      "sweep", example("llama70b_h200_hbm"), "--csv", "keep.csv", "--quiet", "--no-replay"};
  roofcast.write("keep.sweep.yaml", "mine\n");
  const Outcome refused = roofcast.run(sweep);
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "keep.sweep.yaml is not as roofcast wrote it"));
  CHECK(roofcast.read("keep.sweep.yaml") == "mine\n");
  CHECK(roofcast.shell("ls").out == "keep.sweep.yaml\n");
  roofcast.shell("rm keep.sweep.yaml");
  roofcast.output(sweep);
  std::vector<std::string> another = sweep;
  another.push_back("--all-columns");
  roofcast.output(another);
  roofcast.shell("echo '# mine' >> keep.sweep.yaml");
  CHECK(roofcast.run(sweep).code == 2);
}

TEST_CASE("A report is made of rows", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("line.txt", "name: x\n");
  const Outcome refused = roofcast.run({"report", "line.txt", "-o", "r.html"});
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "line.txt has no rows"));
  CHECK(roofcast.shell("ls").out == "line.txt\n");
}

TEST_CASE("A sweep that Ctrl-C or SIGTERM ends leaves nothing unfinished", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("r.csv", "the old result\n");
  for (const auto& [signal, code] : {std::pair{"INT", 128 + 2}, std::pair{"TERM", 128 + 15}}) {
    INFO(signal);
    const Outcome ended = roofcast.shell("timeout --preserve-status -s " + std::string(signal) +
                                         " 0.3 roofcast sweep '" + example("llama70b_million") +
                                         "' --csv r.csv --quiet");
    CHECK(ended.code == code);
    CHECK(contains(ended.err, "With --resume, what is done is kept"));
    CHECK(roofcast.shell("ls -d r.*").out == "r.csv\n");
    CHECK(roofcast.read("r.csv") == "the old result\n");
  }
}

TEST_CASE("No command writes over its input, nor over another of its outputs", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string scenario = roofcast.output({"show", "example", "llama-70b"});
  const std::string sweep = roofcast.output({"show", "example", "llama70b_h200_hbm"});
  roofcast.write("llama-70b.yaml", scenario);
  roofcast.write("r.sweep.yaml", sweep);
  for (const char* line : {"roofcast simulate llama-70b.yaml --csv llama-70b.yaml",
                           "roofcast brief llama-70b.yaml -o llama-70b.yaml --no-replay",
                           "roofcast sweep r.sweep.yaml --csv r.sweep.yaml",
                           "roofcast sweep r.sweep.yaml --csv llama-70b.yaml",
                           "roofcast sweep r.sweep.yaml --csv r.csv",
                           "roofcast sweep r.sweep.yaml --csv ./../$(basename $PWD)/r.csv",
                           "roofcast sweep r.sweep.yaml --csv x.csv --report x.csv --no-replay"}) {
    INFO(line);
    const Outcome outcome = roofcast.shell(line);
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, "would be lost"));
    CHECK(roofcast.read("llama-70b.yaml") == scenario);
    CHECK(roofcast.read("r.sweep.yaml") == sweep);
  }
  CHECK(contains(roofcast.read("x.csv"), "point,"));  // the first output is whole
}

TEST_CASE("A full disk behind stdout is an error", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists() || !std::filesystem::exists("/dev/full")) {
    return;
  }
  roofcast.write("llama-70b.yaml", roofcast.output({"show", "example", "llama-70b"}));
  for (const char* command : {"estimate llama-70b.yaml", "estimate llama-70b.yaml --format csv",
                              "list systems", "--help", "man", "check llama-70b.yaml"}) {
    INFO(command);
    const Outcome outcome = roofcast.shell("roofcast " + std::string(command) + " > /dev/full");
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, "cannot write"));
  }
  roofcast.write("hbm.yaml", roofcast.output({"show", "example", "llama70b_h200_hbm"}));
  roofcast.output({"sweep", "hbm.yaml", "--csv", "r.csv", "--quiet", "--no-replay"});
  for (const char* command :
       {"report r.csv -o -", "brief llama-70b.yaml -o - --no-replay",
        "estimate llama-70b.yaml --save -", "simulate llama-70b.yaml --report -",
        "sweep hbm.yaml --csv x.csv --no-replay --report -",
        "sweep hbm.yaml --csv - --no-replay"}) {
    INFO(command);
    const Outcome outcome = roofcast.shell("roofcast " + std::string(command) + " > /dev/full");
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, "cannot write"));
  }
}

TEST_CASE("Rows are not written as CSV under a name of something else", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("llama-70b.yaml", roofcast.output({"show", "example", "llama-70b"}));
  roofcast.write("hbm.yaml", roofcast.output({"show", "example", "llama70b_h200_hbm"}));
  for (const char* command :
       {"sweep hbm.yaml --csv o.parquet", "sweep hbm.yaml --csv o.arrow --shard 1/2",
        "sweep hbm.yaml --csv o.csv.xz --resume", "simulate llama-70b.yaml --csv o.feather",
        "submit hbm.yaml --shards 2 --commands --csv o.parquet"}) {
    INFO(command);
    const Outcome outcome = roofcast.shell("roofcast " + std::string(command));
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, "choose a name that ends in .csv or .csv.gz"));
    CHECK(roofcast.shell("ls o.* 2>/dev/null").out.empty());
  }
}

TEST_CASE("A name that begins as a formula is text in the CSV, and the same name when it is read",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("s.yaml", R"(base: llama-70b.yaml
axes:
  kind: {"=1+1": {}, "-2+3": {system.chip.hbm.bandwidth: x2}}
pareto: {maximize: [throughput_tok_per_s_per_gpu]}
)");
  roofcast.write("llama-70b.yaml", roofcast.output({"show", "example", "llama-70b"}));
  roofcast.output({"sweep", "s.yaml", "--csv", "o.csv", "--no-replay", "--quiet"});
  CHECK(contains(roofcast.read("o.csv"), ",'=1+1,"));
  CHECK(contains(roofcast.read("o.csv"), ",'-2+3,"));
  const std::string front =
      roofcast.output({"pareto", "o.csv", "--maximize", "throughput_tok_per_s_per_gpu"});
  CHECK(contains(front, "-2+3"));
  CHECK(!contains(front, "'-2+3"));
  roofcast.output({"report", "o.csv", "-o", "o.html"});
}

}  // namespace roofcast::cli::cli_output_safety
