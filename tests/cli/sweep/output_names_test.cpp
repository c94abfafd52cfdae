// SPDX-License-Identifier: Apache-2.0
//
// Names that outputs may have, and what lies under them already.
#include <filesystem>
#include <string>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_sweep_output_names {
namespace {

void write_sweep(const Program& roofcast) {
  roofcast.write("s.yaml", kSweepBase + "axes:\n  traffic.concurrency: [1, 2, 4]\n");
}

}  // namespace

TEST_CASE("Two outputs of one file are refused before anything is computed, whatever their names",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.shell("mkdir folder; ln -s folder linked; touch folder/x.csv; ln -s folder/x.csv y.csv");
  for (const char* outputs :
       {"--csv q.csv --report q.sweep.yaml", "--csv q.csv --report q.provenance.json",
        "--csv folder/q.csv --report linked/q.csv", "--csv folder/x.csv --report y.csv",
        "--csv folder/q.csv --report linked/q.provenance.json",
        "--csv folder/q.csv --report linked/q.sweep.yaml"}) {
    INFO(outputs);
    const Outcome refused =
        roofcast.shell("roofcast sweep s.yaml --force --quiet " + std::string(outputs));
    CHECK(refused.code == 2);
    CHECK((contains(refused.err, "is named twice") || contains(refused.err, "is written beside")));
    CHECK(roofcast.shell("ls *.csv folder").out == "y.csv\n\nfolder:\nx.csv\n");
  }
}

TEST_CASE("A table has a provenance whatever its ending, and is packed by an ending in capitals",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  for (const std::string name : {"a.CSV", "b.tsv", "c", "d.CSV.GZ", "e.csv.ZST"}) {
    INFO(name);
    roofcast.output({"sweep", "s.yaml", "--csv", name, "--quiet"});
    CHECK(contains(roofcast.output({"reproduce", name, "--quiet"}), name + ": the same bytes"));
    CHECK(contains(roofcast.read(name.substr(0, 1) + ".provenance.json"), "\"" + name + "\""));
  }
  CHECK(roofcast.shell("gunzip < d.CSV.GZ | cmp - a.CSV").code == 0);
  CHECK(roofcast.run({"sweep", "s.yaml", "--csv", "b.tsv", "--quiet"}).code == 2);
}

TEST_CASE("What is written unfinished goes into no file that has another name", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.write("mine", "mine\n");
  roofcast.shell("ln mine hard.csv.roofcast.part; ln -s mine soft.csv.roofcast.part");
  roofcast.output({"sweep", "s.yaml", "--csv", "hard.csv", "--quiet"});
  const Outcome refused = roofcast.run({"sweep", "s.yaml", "--csv", "soft.csv", "--quiet"});
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "soft.csv.roofcast.part is no regular file"));
  CHECK(roofcast.read("mine") == "mine\n");
  CHECK(lines_of(roofcast.read("hard.csv")).size() == 4);
}

TEST_CASE("Nothing that is said gets into a file when stdout and stderr are closed", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.output({"sweep", "s.yaml", "--csv", "a.csv"});
  for (const char* closed : {">&- 2>&-", "2>&-", "<&- >&- 2>&-"}) {
    INFO(closed);
    roofcast.shell("roofcast sweep s.yaml --csv b.csv --force " + std::string(closed));
    CHECK(roofcast.read("b.csv") == roofcast.read("a.csv"));
  }
}

TEST_CASE("Nothing is written beside a device or a pipe", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.output({"sweep", "s.yaml", "--csv", "a.csv", "--quiet"});
  const Outcome read = roofcast.shell(
      "mkfifo pipe; cat pipe > b.csv & roofcast sweep s.yaml --csv pipe --quiet --force; "
      "wait; cmp a.csv b.csv && ls");
  CHECK(read.out == "a.csv\na.provenance.json\na.sweep.yaml\nb.csv\npipe\ns.yaml\n");
  const Outcome device = roofcast.shell(
      "roofcast sweep s.yaml --csv /dev/stdout --quiet | cmp a.csv; "
      "ls /dev/*.yaml /dev/*.json");
  CHECK(device.out.empty());
  CHECK(roofcast.run({"sweep", "s.yaml", "--csv", "pipe", "--resume"}).code == 2);
}

TEST_CASE("A name that is too long is refused before anything is computed", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  for (const std::size_t letters : {240U, 250U, 300U}) {
    const Outcome refused =
        roofcast.run({"sweep", "s.yaml", "--csv", std::string(letters, 'n') + ".csv", "--quiet"});
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, "the name is too long"));
  }
  CHECK(roofcast.shell("ls").out == "s.yaml\n");
}

}  // namespace roofcast::cli::cli_sweep_output_names
