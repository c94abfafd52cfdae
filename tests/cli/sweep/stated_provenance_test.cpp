// SPDX-License-Identifier: Apache-2.0
//
// Whether a provenance is of the bytes that it lies beside, and states the hashes of the bytes that were read.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_sweep_stated_provenance {
namespace {

void provide(const Program& roofcast) {
  roofcast.write("s.yaml", roofcast.output({"show", "example", "llama70b_h200_hbm"}));
  roofcast.write("llama-70b.yaml", roofcast.output({"show", "example", "llama-70b"}));
  roofcast.output({"sweep", "s.yaml", "--csv", "a.csv", "--quiet", "--no-replay"});
}

nlohmann::json provenance(const Program& roofcast, const std::string& name) {
  return nlohmann::json::parse(roofcast.read(name + ".provenance.json"));
}

}  // namespace

TEST_CASE("All that read a result say so where its provenance is of other bytes", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  roofcast.output({"sweep", "s.yaml", "--csv", "b.csv", "--quiet", "--no-replay", "--made-by"});
  const auto say_it = [&](bool expected) {
    for (const char* reader :
         {"report a.csv -o a.html --force", "compare a.csv a.csv", "reproduce a.csv",
          "pareto a.csv --maximize throughput_tok_per_s_per_gpu",
          "pareto b.csv --against a.csv --maximize throughput_tok_per_s_per_gpu"}) {
      INFO(reader);
      const Outcome outcome = roofcast.shell("roofcast " + std::string(reader));
      CHECK(contains(outcome.out + outcome.err, "a.provenance.json is not of this ") == expected);
    }
  };
  say_it(false);
  // As after a kill between the two.
  roofcast.shell("cp b.csv a.csv");
  say_it(true);
}

TEST_CASE("A result that was cut is no whole one, also where its provenance is lost", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  roofcast.shell("rm a.provenance.json; cp a.csv b.csv; cp a.sweep.yaml b.sweep.yaml");
  roofcast.shell("head -n 3 b.csv > c.csv; mv c.csv a.csv");
  for (const char* reader : {"compare b.csv a.csv", "compare a.csv b.csv",
                             "pareto a.csv --maximize throughput_tok_per_s_per_gpu"}) {
    INFO(reader);
    const Outcome outcome = roofcast.shell("roofcast " + std::string(reader));
    CHECK(contains(outcome.out + outcome.err, "a.csv has 2 rows, but a.sweep.yaml makes "));
    CHECK_FALSE(contains(outcome.out + outcome.err, "b.csv has"));
  }
}

TEST_CASE("A report says so where the sweep beside the result is not what was written with it",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  const std::string said = "a.sweep.yaml is not what was written with a.csv";
  CHECK_FALSE(contains(roofcast.run({"report", "a.csv", "-o", "a.html"}).err, said));
  roofcast.shell("echo '# mine' >> a.sweep.yaml");
  CHECK(contains(roofcast.run({"report", "a.csv", "-o", "b.html"}).err, said));
}

TEST_CASE("A sweep that is killed before its page is written leaves the old result whole",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  const std::string before = roofcast.shell("cksum a.*").out;
  // The rows are written, and the page after them waits for its reader: then comes the kill.
  const Outcome killed = roofcast.shell(
      "mkfifo page; roofcast sweep s.yaml --csv a.csv --quiet --force --report page "
      "& until test -s a.sweep.yaml.roofcast.part; do sleep 0.01; done; sleep 0.1; kill -9 $!; "
      "wait; rm a.*.part");
  CHECK(killed.code == 0);
  CHECK(roofcast.shell("cksum a.*").out == before);
}

TEST_CASE("The hash of a table in a provenance is that of the bytes that were read", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  for (const char* ending : {"", ".gz", ".zst"}) {
    const std::string name = std::string("in.csv") + ending;
    INFO(name);
    roofcast.output({"sweep", "s.yaml", "--csv", name, "--quiet", "--no-replay", "--force"});
    roofcast.output(
        {"pareto", name, "--maximize", "throughput_tok_per_s_per_gpu", "--csv", "calm.csv"});
    // The front of a pipe is found after that of the table, which is another one by then.
    const Outcome outcome = roofcast.shell(
        "mkfifo older; roofcast pareto " + name +
        " --against older --maximize throughput_tok_per_s_per_gpu --csv changed.csv > answer & "
        "exec 3> older; head -2 a.csv > other; mv other " +
        name + "; cat a.csv >&3; exec 3>&-; wait $!; code=$?; rm older; exit $code");
    CHECK(outcome.code == 0);
    CHECK(roofcast.read("calm.csv") == roofcast.read("changed.csv"));
    CHECK(provenance(roofcast, "calm")["inputs"][0] ==
          provenance(roofcast, "changed")["inputs"][0]);
    roofcast.shell("rm calm.* changed.* in.*");
  }
}

TEST_CASE("A pipe is read to its end, packed or not, and has no hash", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  roofcast.shell("gzip -k a.csv; mkfifo pipe.csv");
  for (const char* name : {"a.csv", "a.csv.gz"}) {
    INFO(name);
    const Outcome outcome = roofcast.shell(
        "cat " + std::string(name) +
        " > pipe.csv & roofcast pareto pipe.csv --maximize throughput_tok_per_s_per_gpu --csv "
        "f.csv --force");
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(provenance(roofcast, "f")["inputs"].empty());
  }
}

TEST_CASE("What was read from stdin is in the provenance, and is made again from there", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  CHECK(roofcast
            .shell("roofcast sweep - --csv b.csv --report b.html --no-replay --quiet < s.yaml; "
                   "cp s.yaml kept; rm s.yaml")
            .code == 0);
  CHECK(provenance(roofcast, "b")["stdin"] == roofcast.read("kept"));
  const Outcome again = roofcast.run({"reproduce", "b.csv"});
  INFO(again.out << again.err);
  CHECK(again.code == 0);
  CHECK(contains(again.out, "b.csv: the same bytes"));
  CHECK(contains(again.out, "b.html: the same bytes"));
  CHECK(roofcast
            .shell("roofcast estimate - --json --no-replay < llama-70b.yaml > e.json; "
                   "roofcast reproduce e.json")
            .code == 0);
  // A table may be large, and is not kept.
  roofcast.shell("roofcast pareto - --maximize throughput_tok_per_s_per_gpu --csv f.csv < b.csv");
  CHECK(contains(roofcast.run({"reproduce", "f.csv"}).err, "what it read from stdin is not kept"));
}

}  // namespace roofcast::cli::cli_sweep_stated_provenance
