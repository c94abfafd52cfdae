// SPDX-License-Identifier: Apache-2.0
//
// Input that once broke the program (tests/cases/attacks, and others of the same audit), as a user would give it. Each
// command ends by itself, with exit code 0, 2 or 3, without "nan", "inf" or an internal error.
#include <fmt/format.h>

#include <filesystem>
#include <regex>
#include <string>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli {
namespace {

// Far above what any of them takes; a loop without end takes it all.
constexpr int kMostSeconds = 100;  // of the processor

struct Attack {
  std::string command;
  int code;
  std::string said;  // a part of what is printed
};

void provide(const Program& roofcast) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(example("any")).parent_path().parent_path();
  fs::create_directory_symlink(root / "tests" / "cases", roofcast.path("cases"));
  fs::create_directory_symlink(root / "examples", roofcast.path("examples"));
  roofcast.write("word.yaml", "fp8\n");
  roofcast.write("infinite.csv", "a,b\n1,inf\n2,3\n");
  roofcast.write("epoch.csv",
                 "arrival_s,input_tokens,output_tokens\n1700000000,900,9\n1700000001,90,90\n");
  roofcast.write("wrong_year.csv",
                 "arrival_s,input_tokens,output_tokens\n0,900,9\n63800000000,90,90\n");
}

}  // namespace

TEST_CASE("What once broke the program is answered or refused in words", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  const std::string one = " examples/llama-70b.yaml ";
  const Attack attacks[] = {
      {"estimate cases/attacks/short_prompts.yaml --set system.chip.hbm.bandwidth=x1.5", 0, "TPOT"},
      {"simulate cases/attacks/short_prompts.yaml", 0, "TPOT"},
      {"estimate cases/attacks/short_answers.yaml", 0, "TPOT"},
      {"simulate cases/attacks/short_answers.yaml", 0, "TPOT"},
      {"estimate cases/attacks/edge_of_memory.yaml --set system.chip.hbm.bandwidth=x1.5", 0,
       "TPOT"},
      {"simulate cases/attacks/edge_of_memory.yaml", 0, "TPOT"},
      {"estimate cases/attacks/two_clients.yaml --set system.chip.hbm.capacity=x2", 0, "TPOT"},
      {"simulate cases/attacks/two_clients.yaml", 0, "TPOT"},
      {"estimate cases/attacks/drafts_without_end.yaml", 2, "must be at most 64, not 4294967296"},
      {"check cases/attacks/drafts_without_end.yaml", 2, "must be at most 64, not 4294967296"},
      {"calibrate validate serving cases/attacks/clients_without_end.csv", 0,
       "more than 100000 clients are not simulated"},
      {"estimate" + one + "--set precision=./word.yaml", 2, "a precision is a map of keys"},
      {"estimate" + one + "--set system=./word.yaml", 2, "a system is a map of keys"},
      {"estimate" + one + "--set model=./word.yaml", 2, "a model is a map of keys"},
      {"estimate" + one + "--set serving.stack=./word.yaml", 2, "is a map of keys"},
      {"simulate" + one + "--trace epoch.csv", 0, "2 requests"},
      {"simulate" + one + "--trace wrong_year.csv", 0, "more than 100 days"},
      {"simulate examples/llama-70b_arrivals.yaml --set 'traffic.arrivals.rate=1e-9 /s' "
       "--set traffic.requests=10",
       0, "more than 100 days"},
      {"simulate" + one + "--trace /dev/zero", 2, "longer than 256 MiB"},
      {"estimate" + one + "--set 'traffic={trace: /dev/zero}'", 2, "longer than 256 MiB"},
      {"pareto /dev/zero --maximize x", 2, "longer than 256 MiB"},
      {"report /dev/zero -o page.html", 2, "longer than 256 MiB"},
      {"compare" + one + "/dev/zero", 2, "longer than 256 MiB"},
      {"calibrate validate serving /dev/zero", 2, "longer than 256 MiB"},
      {"estimate /dev/zero", 2, "larger than 4 MiB"},
      {"sweep /dev/zero --csv x.csv", 2, "larger than 4 MiB"},
      {"solve" + one + "--vary traffic.concurrency=1..512 --until 'step_s <= 10'", 2,
       "it is of training, and the scenario serves"},
      {"pareto infinite.csv --maximize a --maximize b", 0, "1 of 2 rows on the front"},
      {"simulate" + one +
           "--set system.chips=1000000 --set serving.replicas=125000 "
           "--set traffic.concurrency=1000000 --set traffic.requests=1000",
       0, "125000 replicas"},
  };
  static const std::regex no_number(R"(\b-?(nan|inf)\b)");
  for (const Attack& attack : attacks) {
    const Outcome outcome =
        roofcast.shell(fmt::format("ulimit -t {}; roofcast {}", kMostSeconds, attack.command));
    INFO(attack.command << "\n" << outcome.out << outcome.err);
    CHECK(outcome.code == attack.code);
    CHECK(contains(outcome.out + outcome.err, attack.said));
    CHECK(!contains(outcome.err, "internal error"));
    CHECK(!std::regex_search(outcome.out, no_number));
  }
}

}  // namespace roofcast::cli
