// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/cli/printed.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_examples {
namespace {

constexpr std::size_t kManyPoints = 10'000;  // more are checked, not run

std::size_t points_of(const std::string& checked) {
  const std::string before = "ok, sweep of ";
  const auto at = checked.find(before);
  return at == std::string::npos ? 0 : std::stoul(checked.substr(at + before.size()));
}

// examples/expected/NAME.txt: "$ " and a command, what it prints, and so on.
std::string run_again(const std::filesystem::path& examples, const std::string& transcript) {
  const Program roofcast;
  std::filesystem::create_directory_symlink(examples, roofcast.path("examples"));
  std::string now;
  for (const std::string& line : lines_of(transcript)) {
    if (line.starts_with("$ ")) {
      const Outcome outcome = roofcast.shell(line.substr(2));
      INFO(line << "\n" << outcome.err);
      CHECK(outcome.code == 0);
      now += line + "\n" + outcome.out;
    }
  }
  return now;
}

}  // namespace

TEST_CASE("Every example that is run prints what is expected of it", "[cli][long]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::filesystem::path examples = std::filesystem::path(example("any")).parent_path();
  for (const std::string& name : example_names()) {
    if (points_of(roofcast.output({"check", example(name)})) >= kManyPoints) {
      continue;
    }
    INFO(name << "; when it was meant to change: scripts/regenerate-golden, and read the diff");
    const std::filesystem::path file = examples / "expected" / (name + ".txt");
    std::stringstream expected;
    expected << std::ifstream(file).rdbuf();
    REQUIRE(!expected.str().empty());
    const std::string now = run_again(examples, expected.str());
    if (std::getenv("ROOFCAST_REGENERATE") != nullptr) {
      std::ofstream(file) << now;
      continue;
    }
    const std::vector<std::string> was = lines_of(expected.str());
    const std::vector<std::string> is = lines_of(now);
    CHECK(was.size() == is.size());
    for (std::size_t i = 0; i < std::min(was.size(), is.size()); ++i) {
      if (!same_print(was[i], is[i])) {
        CHECK(is[i] == was[i]);
      }
    }
  }
}

TEST_CASE("A print is the same with one unit more in a last digit, not with two, or another word",
          "[cli]") {
  CHECK(same_print("TPOT  11.72 ms  1,036 tok/s", "TPOT 11.73 ms   1,035 tok/s"));
  CHECK(!same_print("TPOT 11.72 ms", "TPOT 11.74 ms"));
  CHECK(!same_print("TPOT 11.72 ms", "TPOT 11.72 us"));
  CHECK(!same_print("x1.06", "x1.06 x1.06"));
}

TEST_CASE("Every example says what it answers, and runs", "[cli][long]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  for (const std::string& name : example_names()) {
    INFO(name);
    const std::string text = roofcast.output({"show", "example", name});
    CHECK((text.starts_with("# ") || text.starts_with("question: ")));
    const std::string checked = roofcast.output({"check", example(name)});
    const std::size_t points = points_of(checked);
    if (contains(checked, "ok, roadmap of ")) {
      CHECK(contains(roofcast.output({"compare", example(name), "--strict"}),
                     contains(text, "\nfeatures:") ? "fund in this order" : "option "));
    } else if (contains(text, "\n  arrivals: ")) {
      const std::string out =
          roofcast.output({"simulate", example(name), "--set", "traffic.requests=200"});
      CHECK(contains(out, "attainment "));
    } else if (points == 0) {
      const Outcome outcome = roofcast.run({"estimate", example(name), "--explain", "--strict"});
      CHECK(outcome.code == 0);
      CHECK(contains(outcome.out, contains(text, "\ntraining:") ? "MFU" : "TPOT"));
    } else if (points < kManyPoints) {
      const std::string out = roofcast.output(
          {"sweep", example(name), "--force", "--csv", "o.csv", "--report", "o.html"});
      CHECK(base::read_csv(roofcast.path("o.csv")).rows() == points);
      CHECK(!contains(out, "No point meets"));
      CHECK(contains(out, " meet every constraint, "));
    }
  }
}

}  // namespace roofcast::cli::cli_examples
