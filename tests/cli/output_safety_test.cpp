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
  const Outcome killed =
      roofcast.shell("timeout -s KILL 0.3 roofcast sweep '" + example("llama70b_million") +
                     "' --csv r.csv --quiet --force");
  CHECK(killed.code != 0);
  CHECK(roofcast.read("r.csv") == rows);
  CHECK(roofcast.read("r.sweep.yaml") == sweep);
  // What it leaves is taken over by the next run.
  roofcast.output({"sweep", example("llama70b_h200_hbm"), "--csv", "r.csv", "--quiet",
                   "--no-replay", "--force"});
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

TEST_CASE("Nothing that exists is replaced without --force, whatever command writes it", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("s.yaml", roofcast.output({"show", "example", "llama-70b"}));
  roofcast.write("llama-70b.yaml", roofcast.read("s.yaml"));
  roofcast.write("hbm.yaml", roofcast.output({"show", "example", "llama70b_h200_hbm"}));
  roofcast.write("rows.csv", "id,tok\n1,2\n");
  roofcast.output({"sweep", "hbm.yaml", "--csv", "p.csv", "--shard", "1/1", "--quiet"});
  const std::string scenario =
      " --model llama-3.1-8b --system hgx_h100 --input 900 --output 90 --no-replay ";
  for (const std::string& line :
       {std::string("sweep hbm.yaml --csv kept"), std::string("sweep hbm.yaml --csv kept --resume"),
        std::string("sweep hbm.yaml --csv x.csv --report kept"),
        std::string("merge p.csv.parts --csv kept"), std::string("simulate s.yaml --csv kept"),
        std::string("simulate s.yaml --timeline kept"),
        std::string("simulate s.yaml --report kept"), "estimate" + scenario + "--save kept",
        std::string("sensitivity s.yaml --report kept"), std::string("report p.csv -o kept"),
        std::string("brief hbm.yaml -o kept"),
        std::string("pareto rows.csv --maximize tok --csv kept"),
        std::string("compare rows.csv rows.csv --csv kept"),
        std::string("kernel gemm --m 8 --n 8 --k 8 --chip h100_sxm --csv kept"),
        std::string("calibrate claims -o kept"), std::string("init kept")}) {
    INFO(line);
    roofcast.write("kept", "precious\n");
    const std::string before = roofcast.shell("ls").out;
    const Outcome outcome = roofcast.shell("roofcast " + line + " < /dev/null");
    CHECK(outcome.code == 2);
    CHECK(outcome.err == "error: kept is there already; --force replaces it\n");
    CHECK(outcome.out.empty());
    CHECK(roofcast.read("kept") == "precious\n");
    CHECK(roofcast.shell("ls").out == before);
  }
  roofcast.output({"simulate", "s.yaml", "--csv", "kept", "--force"});
  CHECK(contains(roofcast.read("kept"), "ttft_s"));
}

TEST_CASE("What would be written beside a named file is not replaced either", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("hbm.yaml", roofcast.output({"show", "example", "llama70b_h200_hbm"}));
  roofcast.write("s.yaml", roofcast.output({"show", "example", "llama-70b"}));
  roofcast.write("llama-70b.yaml", roofcast.read("s.yaml"));
  for (const auto& [line, file] : {std::pair{"brief hbm.yaml -o page.html", "page.csv"},
                                   {"simulate s.yaml --csv o.csv", "o.provenance.json"},
                                   {"sweep hbm.yaml --csv o.csv", "o.sweep.yaml"}}) {
    INFO(line);
    roofcast.write(file, "precious\n");
    const Outcome refused = roofcast.shell(std::string("roofcast ") + line);
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, std::string(file) + " is there already"));
    CHECK(roofcast.read(file) == "precious\n");
    roofcast.shell(std::string("rm ") + file);
  }
}

TEST_CASE("A file that somebody makes while its command computes is not replaced", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome late = roofcast.shell(
      "roofcast sweep '" + example("llama70b_what_if") +
      "' --csv r.csv --simulate --quiet & until [ -e r.csv.roofcast.part ]; do sleep 0.01; done; "
      "echo mine > r.csv; wait $!");
  CHECK(late.code == 2);
  CHECK(contains(late.err, "File exists"));
  CHECK(roofcast.read("r.csv") == "mine\n");
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
  CHECK(contains(refused.err,
                 "keep.sweep.yaml is there already, and one would be written beside keep.csv"));
  CHECK(roofcast.read("keep.sweep.yaml") == "mine\n");
  CHECK(roofcast.shell("ls").out == "keep.sweep.yaml\n");
  roofcast.shell("rm keep.sweep.yaml");
  roofcast.output(sweep);
  std::vector<std::string> another = sweep;
  another.push_back("--all-columns");
  roofcast.shell("rm keep.csv");
  roofcast.output(another);  // what was written beside the result goes with it
  roofcast.shell("rm keep.csv; echo '# mine' >> keep.sweep.yaml");
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
                                         " 2 roofcast sweep '" + example("llama70b_million") +
                                         "' --csv r.csv --quiet --force");
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
                           "roofcast sweep r.sweep.yaml --csv x.csv --report llama-70b.yaml",
                           "roofcast sweep r.sweep.yaml --csv x.csv --report ./x.csv"}) {
    INFO(line);
    CHECK(roofcast.shell(line).code == 2);
    const Outcome outcome = roofcast.shell(line + std::string(" --force"));
    CHECK(outcome.code == 2);
    CHECK((contains(outcome.err, "would be lost") || contains(outcome.err, "named twice")));
    CHECK(roofcast.read("llama-70b.yaml") == scenario);
    CHECK(roofcast.read("r.sweep.yaml") == sweep);
  }
  CHECK(!std::filesystem::exists(roofcast.path("x.csv")));  // nothing was computed
  roofcast.write("t.csv", "id,tok\n1,2\n");
  const Outcome ranked = roofcast.shell("roofcast pareto t.csv --maximize tok --csv t.csv --force");
  CHECK(ranked.code == 2);
  CHECK(ranked.out.empty());  // the refusal comes before the answer
}

TEST_CASE("A merge writes nothing into the parts that it reads", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("llama-70b.yaml", roofcast.output({"show", "example", "llama-70b"}));
  roofcast.write("s.yaml", "base: llama-70b.yaml\naxes: {traffic.concurrency: [1, 2]}\n");
  roofcast.output({"sweep", "s.yaml", "--csv", "s.csv", "--shard", "1/1", "--quiet"});
  const std::string part = roofcast.read("s.csv.parts/00000.csv");
  const Outcome outcome =
      roofcast.run({"merge", "s.csv.parts", "--csv", "s.csv.parts/00000.csv", "--force"});
  CHECK(outcome.code == 2);
  CHECK(contains(outcome.err, "is in a folder of parts"));
  CHECK(roofcast.read("s.csv.parts/00000.csv") == part);
}

TEST_CASE("A file in a folder that is not there is refused before anything is computed", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("llama-70b.yaml", roofcast.output({"show", "example", "llama-70b"}));
  roofcast.write("s.yaml", "base: llama-70b.yaml\naxes: {traffic.concurrency: [1, 2]}\n");
  const Outcome outcome =
      roofcast.run({"sweep", "s.yaml", "--csv", "s.csv", "--report", "none/s.html"});
  CHECK(outcome.code == 2);
  CHECK(contains(outcome.err, "none/s.html: there is no folder none"));
  CHECK(!std::filesystem::exists(roofcast.path("s.csv")));
}

TEST_CASE(
    "A link to nothing, an empty name or an empty text is refused before anything is computed",
    "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("hbm.yaml", roofcast.output({"show", "example", "llama70b_h200_hbm"}));
  roofcast.shell("ln -s gone/x.csv linked.csv; ln -s gone linked.provenance.json");
  for (const char* options :
       {"--csv linked.csv", "--csv linked.csv.gz", "--csv ''", "--csv x.csv --report ''",
        "--csv x.csv --shard ''", "--csv x.csv --memory ''"}) {
    INFO(options);
    const Outcome refused = roofcast.shell("roofcast sweep hbm.yaml " + std::string(options));
    CHECK(refused.code == 2);
    CHECK((contains(refused.err, "is a link to a file that is not there") ||
           contains(refused.err, "is empty")));
    CHECK(!contains(refused.err, "points in"));
  }
  CHECK(roofcast.shell("ls").out == "hbm.yaml\nlinked.csv\nlinked.provenance.json\n");
}

TEST_CASE("A result has its own provenance, also when nobody reads what is printed", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("llama-70b.yaml", roofcast.output({"show", "example", "llama-70b"}));
  roofcast.write("hbm.yaml", roofcast.output({"show", "example", "llama70b_h200_hbm"}));
  roofcast.output({"sweep", "hbm.yaml", "--csv", "r.csv", "--quiet", "--all-columns"});
  roofcast.shell("cp r.provenance.json old.json");
  const Outcome closed = roofcast.shell(
      "roofcast sweep hbm.yaml --csv r.csv --no-replay --force | true; echo ${PIPESTATUS[0]}");
  CHECK(closed.out == "141\n");  // as of any program
  CHECK(!contains(closed.err, "error"));
  CHECK(contains(roofcast.output({"reproduce", "r.csv", "--quiet"}), "r.csv: the same bytes"));
  CHECK(!contains(roofcast.output({"compare", "r.csv", "r.csv"}), "is not of this"));
  roofcast.shell("mv old.json r.provenance.json");
  CHECK(contains(roofcast.output({"compare", "r.csv", "r.csv"}),
                 "r.provenance.json is not of this r.csv"));
  const Outcome page = roofcast.run({"report", "r.csv", "-o", "r.html"});
  CHECK(contains(page.err, "r.provenance.json is not of this r.csv"));
}

TEST_CASE("A result is not written over what lies beside one of like name", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("llama-70b.yaml", roofcast.output({"show", "example", "llama-70b"}));
  roofcast.write("hbm.yaml", roofcast.output({"show", "example", "llama70b_h200_hbm"}));
  roofcast.output({"sweep", "hbm.yaml", "--csv", "r.csv", "--quiet", "--no-replay"});
  const std::vector<std::string> packed = {"sweep", "hbm.yaml", "--csv", "r.csv.gz", "--quiet"};
  const Outcome refused = roofcast.run(packed);
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "r.provenance.json is there already, and one would be written"));
  roofcast.shell("rm r.csv");
  CHECK(roofcast.run(packed).code == 2);
  roofcast.output({"sweep", "hbm.yaml", "--csv", "r.csv", "--quiet", "--no-replay"});
}

TEST_CASE("A file that may not grow is an error in words", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("llama-70b.yaml", roofcast.output({"show", "example", "llama-70b"}));
  roofcast.write("hbm.yaml", roofcast.output({"show", "example", "llama70b_h200_hbm"}));
  const Outcome small =
      roofcast.shell("ulimit -f 4; roofcast sweep hbm.yaml --csv r.csv --quiet --no-replay");
  CHECK(small.code == 2);
  CHECK(contains(small.err, "r.csv: error: cannot write: File too large"));
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
    CHECK(contains(outcome.err, "choose a name that ends in .csv"));
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
