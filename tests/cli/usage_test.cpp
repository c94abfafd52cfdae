// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_usage {
namespace {

// Bad usage: exit code 2, nothing on stdout, a text on stderr that ends its line.
void check_refused(const Program& roofcast, const std::vector<std::string>& arguments,
                   const std::vector<std::string>& parts) {
  const Outcome outcome = roofcast.run(arguments);
  std::string line = "roofcast";
  for (const std::string& argument : arguments) {
    line += " " + argument;
  }
  INFO(line << "\nstdout: " << outcome.out << "\nstderr: " << outcome.err);
  CHECK(outcome.code == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.ends_with('\n'));
  for (const std::string& part : parts) {
    INFO(part);
    CHECK(contains(outcome.err, part));
  }
}

}  // namespace

TEST_CASE("Help and version are results: stdout and exit code 0", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome version = roofcast.run({"--version"});
  CHECK(version.code == 0);
  CHECK(version.err.empty());
  CHECK(version.out.starts_with("roofcast "));
  CHECK(lines_of(version.out).size() == 1);
  const Outcome help = roofcast.run({"--help"});
  CHECK(help.code == 0);
  CHECK(help.err.empty());
  for (const char* command : {"list", "show", "check", "estimate", "sweep", "pareto", "report"}) {
    CHECK(contains(help.out, std::string("\n  ") + command));
    const Outcome own = roofcast.run({command, "--help"});
    CHECK(own.code == 0);
    CHECK(own.err.empty());
    CHECK(contains(own.out, "Usage: roofcast " + std::string(command)));
  }
}

TEST_CASE("Unknown commands and options are refused with a way to help", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  check_refused(roofcast, {}, {"--help"});
  check_refused(roofcast, {"estimat"}, {"estimat", "--help"});
  check_refused(roofcast, {"estimate"}, {"scenario", "--help"});
  check_refused(roofcast, {"estimate", example("llama-70b"), "--explian"}, {"--explian", "--help"});
  check_refused(roofcast, {"estimate", example("llama-70b"), "--format", "xml"},
                {"--format", "xml", "text", "json", "csv"});
  check_refused(roofcast, {"sweep", example("llama70b_what_if")}, {"--csv"});
  check_refused(roofcast,
                {"sweep", example("llama70b_what_if"), "--csv", "o.csv", "--threads", "x"},
                {"--threads"});
  check_refused(roofcast, {"pareto", "o.csv"}, {"--maximize", "--minimize"});
}

TEST_CASE("Files that cannot be read or written are bad input, by name", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  check_refused(roofcast, {"estimate", "absent.yaml"}, {"absent.yaml"});
  check_refused(roofcast, {"sweep", "absent.yaml", "--csv", "o.csv"}, {"absent.yaml"});
  check_refused(roofcast, {"estimate", "."}, {"."});
  check_refused(roofcast, {"pareto", "absent.csv", "--minimize", "ttft_p50_s"}, {"absent.csv"});
  check_refused(roofcast, {"report", "absent.csv", "-o", "o.html"}, {"absent.csv"});
  roofcast.write("small.yaml",
                 "base: " + example("llama-70b") + "\naxes:\n  traffic.concurrency: [1, 2]\n");
  check_refused(roofcast, {"sweep", "small.yaml", "--csv", "absent/o.csv"}, {"absent/o.csv"});
  REQUIRE(roofcast.run({"sweep", "small.yaml", "--csv", "o.csv", "--quiet"}).code == 0);
  check_refused(roofcast, {"report", "o.csv", "-o", "absent/o.html"}, {"absent/o.html"});
  check_refused(roofcast, {"pareto", "o.csv", "--minimize", "ttft_p5_s"},
                {"ttft_p5_s", "ttft_p50_s"});
  roofcast.write("rows.csv", "a,b\n1,2,3\n");
  check_refused(roofcast, {"pareto", "rows.csv", "--minimize", "a"}, {"rows.csv:2"});
}

TEST_CASE("A scenario given to sweep, and a sweep given to estimate, are sent to the right command",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  check_refused(roofcast, {"estimate", example("llama70b_what_if")}, {"roofcast sweep"});
  check_refused(roofcast, {"sweep", example("llama-70b"), "--csv", "o.csv"}, {"roofcast estimate"});
}

TEST_CASE(
    "A mistyped option is named before one that lacks, and short names of metrics find long ones",
    "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  check_refused(roofcast, {"--versoin"}, {"did you mean \"--version\"?"});
  check_refused(roofcast, {"recommend", "--gpsu", "8"}, {"did you mean \"--gpus\"?"});
  const auto until = [](const char* condition) {
    return std::vector<std::string>{
        "solve", example("llama-70b"), "--vary", "traffic.concurrency", "--until", condition};
  };
  check_refused(roofcast, until("tttf <= 1s"), {"did you mean \"ttft_mean_s\""});
  check_refused(roofcast, until("cots <= 1"), {"did you mean \"cost_usd_per_mtok\""});
}

}  // namespace roofcast::cli::cli_usage
