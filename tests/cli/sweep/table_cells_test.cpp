// SPDX-License-Identifier: Apache-2.0
//
// Cells of results that another program has written.
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_sweep_table_cells {

TEST_CASE("A verdict counts as true or false whoever wrote it, and another word is refused",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string head = "size,fits,meets,tpot_mean_s\n";
  roofcast.write("ours.csv", head + "1,true,true,0.02\n2,true,false,0.01\n");
  const std::string ours = roofcast.output({"pareto", "ours.csv", "--minimize", "tpot_mean_s"});
  CHECK(contains(ours, "1 of 2 rows on the front"));
  for (const auto& [yes, no] : {std::pair{"True", "False"}, std::pair{"TRUE", " FALSE"}}) {
    const auto row = [yes = std::string(yes)](const std::string& size, const std::string& meets,
                                              const std::string& tpot) {
      return size + "," + yes + "," + meets + "," + tpot + "\n";
    };
    roofcast.write("theirs.csv", head + row("1", yes, "0.02") + row("2", no, "0.01"));
    CHECK(roofcast.output({"pareto", "theirs.csv", "--minimize", "tpot_mean_s"}) == ours);
    CHECK(contains(roofcast.output({"compare", "ours.csv", "theirs.csv", "--key", "size",
                                    "--report", "page.html", "--strict"}),
                   "2 rows: 2 same\n"));
    std::filesystem::remove(roofcast.path("page.html"));
  }
  roofcast.write("words.csv", head + "1,true,true,0.02\n2,true,yes,0.01\n");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"pareto", "words.csv", "--minimize", "tpot_mean_s"},
        {"compare", "ours.csv", "words.csv", "--key", "size"},
        {"report", "words.csv", "-o", "words.html"}}) {
    const Outcome refused = roofcast.run(command);
    CHECK(refused.code == 2);
    CHECK(
        contains(refused.err, "words.csv:3: error: meets: true or false is expected, not \"yes\""));
  }
}

TEST_CASE("Blanks around a number change no front", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("s.csv", "size,latency_us\n3, 4\n5,6\n7,\n");
  roofcast.output({"pareto", "s.csv", "--minimize", "latency_us", "--csv", "front.csv"});
  CHECK(contains(roofcast.read("front.csv"), "\n3, 4\n"));
}

TEST_CASE("A cell that is no number is refused with its line where a number is asked for",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("old.csv", "size,precision,us\n1,fp8,2000\n2,fp8,7\n");
  roofcast.write("new.csv", "size,precision,us\n1,fp8,\"2,100\"\n2,fp8,7\n");
  roofcast.write("line.csv", "size,us\n1,\"2\"\n2,1_000\n");
  const auto refuses = [&](const std::vector<std::string>& command, const std::string& message) {
    const Outcome refused = roofcast.run(command);
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, message));
  };
  refuses({"pareto", "old.csv", "--minimize", "precision"},
          "old.csv:2: error: precision: a number is expected, not \"fp8\"");
  refuses({"pareto", "old.csv", "--minimize", "us", "--where", "precision <= 5"},
          "old.csv:2: error: precision: a number is expected");
  refuses({"compare", "old.csv", "new.csv", "--key", "size", "--minimize", "us"},
          "new.csv:2: error: us: a number is expected, not \"2,100\"");
  refuses({"pareto", "line.csv", "--minimize", "us"},
          "line.csv:3: error: us: a number is expected, not \"1_000\"");
}

TEST_CASE("A sweep is compared with itself, whatever its bundles are called", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("s.yaml", kSweepBase +
                               "axes:\n  size:\n    '1': {traffic.concurrency: 1}\n    '01': "
                               "{traffic.concurrency: 2}\n    '1.0': {traffic.concurrency: 4}\n");
  roofcast.output({"sweep", "s.yaml", "--csv", "s.csv", "--quiet"});
  CHECK(contains(roofcast.output({"compare", "s.csv", "s.csv", "--strict"}), "3 rows: 3 same\n"));
}

}  // namespace roofcast::cli::cli_sweep_table_cells
