// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kManyPoints = 10'000;  // more are checked, not run

std::size_t points_of(const std::string& checked) {
  const std::string before = "ok, sweep of ";
  const auto at = checked.find(before);
  return at == std::string::npos ? 0 : std::stoul(checked.substr(at + before.size()));
}

}  // namespace

TEST_CASE("Every example says what it answers, and runs", "[cli]") {
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
      CHECK(
          contains(roofcast.output({"compare", example(name), "--strict"}), "fund in this order"));
    } else if (contains(text, "\n  arrivals: ")) {
      const std::string out =
          roofcast.output({"simulate", example(name), "--set", "traffic.requests=200"});
      CHECK(contains(out, "good: "));
    } else if (points == 0) {
      const Outcome outcome = roofcast.run({"estimate", example(name), "--explain", "--strict"});
      CHECK(outcome.code == 0);
      CHECK(contains(outcome.out, contains(text, "\ntraining: ") ? "MFU" : "TPOT"));
    } else if (points < kManyPoints) {
      const std::string out = roofcast.output(
          {"sweep", example(name), "--csv", "o.csv", "--report", "o.html", "--quiet"});
      CHECK(base::read_csv(roofcast.path("o.csv")).rows() == points);
      CHECK(!contains(out, "No point meets"));
      CHECK(contains(out, " on the Pareto front"));
    }
  }
}

}  // namespace roofcast::cli
