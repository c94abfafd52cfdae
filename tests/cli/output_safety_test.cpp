// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_output_safety {

TEST_CASE("A sweep that is killed leaves the old file as it was", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("r.csv", "the old result\n");
  roofcast.write("r.sweep.yaml", "# the old sweep\n");
  const Outcome killed = roofcast.shell("timeout -s KILL 0.3 roofcast sweep '" +
                                        example("llama70b_million") + "' --csv r.csv --quiet");
  CHECK(killed.code != 0);
  CHECK(roofcast.read("r.csv") == "the old result\n");
  CHECK(roofcast.read("r.sweep.yaml") == "# the old sweep\n");
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
