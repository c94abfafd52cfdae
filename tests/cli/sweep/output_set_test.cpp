// SPDX-License-Identifier: Apache-2.0
//
// The files that one command writes are replaced together or not at all.
#include <string>
#include <utility>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_sweep_output_set {
namespace {

// l.yaml, and s.yaml: a sweep of it.
void write_documents(const Program& roofcast) {
  roofcast.write("l.yaml", roofcast.output({"show", "example", "llama-70b"}));
  roofcast.write("s.yaml",
                 "base: l.yaml\n"
                 "axes:\n"
                 "  system: [hgx_h100, hgx_h200]\n"
                 "  traffic.concurrency: {from: 1, to: 64, factor: 2}\n"
                 "where: [fits]\n"
                 "pareto: {maximize: [throughput_tok_per_s_per_gpu], minimize: [ttft_p50_s]}\n");
}

std::string all_bytes(const Program& roofcast) { return roofcast.shell("cksum *").out; }

}  // namespace

TEST_CASE("A command that refuses one of its files has replaced none of the others", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_documents(roofcast);
  roofcast.write("run.yaml", roofcast.output({"show", "example", "llama-405b_run"}));
  roofcast.write("roadmap.yaml", roofcast.output({"show", "example", "roadmap_features"}));
  roofcast.write("s.csv", "precious\n");
  roofcast.write("k.csv", "precious\n");
  const std::string before = all_bytes(roofcast);
  for (const char* line : {"brief s.yaml -o s.yaml", "scale run.yaml --csv k.csv --report run.yaml",
                           "compare roadmap.yaml --csv k.csv --report roadmap.yaml",
                           "recommend l.yaml --gpus 1 --csv k.csv --save l.yaml",
                           "sweep s.yaml --csv k.csv --report l.yaml"}) {
    INFO(line);
    const Outcome refused = roofcast.shell("roofcast " + std::string(line) + " --force");
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, "would be lost"));
    CHECK(refused.out.empty());
    CHECK(all_bytes(roofcast) == before);
  }
}

TEST_CASE("A command that fails leaves every file that it would have replaced", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_documents(roofcast);
  roofcast.write("t.yaml", "base: l.yaml\naxes: {traffic.concurrency: [1, 2]}\n");
  for (const auto& [first, second] :
       {std::pair{"sweep s.yaml --csv o.csv --report o.html",
                  "sweep t.yaml --csv o.csv --report o.html"},
        std::pair{"recommend l.yaml --gpus 2 --csv r.csv --report r.html --save r.yaml",
                  "recommend l.yaml --gpus 1 --csv r.csv --report r.html --save r.yaml"}}) {
    roofcast.shell("roofcast " + std::string(first) + " --no-replay");
    const std::string before = all_bytes(roofcast);
    // The page does not fit, and the rows do.
    const Outcome failed =
        roofcast.shell("ulimit -f 100; roofcast " + std::string(second) + " --no-replay --force");
    INFO(second << failed.err);
    CHECK(failed.code == 2);
    CHECK(contains(failed.err, "File too large"));
    CHECK(all_bytes(roofcast) == before);
    CHECK(roofcast.shell("roofcast " + std::string(second) + " --no-replay --force").code == 0);
    CHECK(all_bytes(roofcast) != before);
  }
}

TEST_CASE("A table whose provenance cannot be written replaces no other", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string rows = std::string(250, 'x') + "";  // a long name makes a long provenance
  const std::string line = "roofcast pareto " + rows + " --maximize tok --csv o.csv";
  roofcast.write(rows, "id,tok\n1,2\n");
  CHECK(roofcast.shell(line).code == 0);
  roofcast.write(rows, "id,tok\n1,3\n");
  const std::string before = all_bytes(roofcast);
  const Outcome failed = roofcast.shell("ulimit -f 1; " + line + " --force");
  CHECK(failed.code == 2);
  CHECK(contains(failed.err, "cannot write o.provenance.json: File too large"));
  CHECK(all_bytes(roofcast) == before);
}

TEST_CASE("What lies beside a result that is read is not replaced", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_documents(roofcast);
  roofcast.output({"sweep", "s.yaml", "--csv", "w.csv", "--no-replay"});
  const std::string before = all_bytes(roofcast);
  for (const char* line :
       {"report w.csv -o w.provenance.json", "report w.csv -o w.sweep.yaml",
        "pareto w.csv --minimize ttft_p50_s --csv w.sweep.yaml",
        "pareto w.csv --minimize ttft_p50_s --csv w.csv.gz",
        "compare w.csv w.csv --csv w.sweep.yaml", "compare w.csv w.csv --csv w.csv.zst"}) {
    INFO(line);
    const Outcome refused = roofcast.shell("roofcast " + std::string(line) + " --force");
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, "would be lost"));
    CHECK(all_bytes(roofcast) == before);
  }
}

}  // namespace roofcast::cli::cli_sweep_output_set
