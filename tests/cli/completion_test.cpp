// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_completion {
namespace {

using Words = std::vector<std::string>;

// A line as it is typed, and all that could stand instead of its last word.
struct Case {
  std::string line;
  Words proposed;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"roofcast est", {"estimate"}},
      {"roofcast calibrate ", {"accuracy", "claims", "fit", "import", "parameters", "validate"}},
      {"roofcast compl", {"completion"}},  // `complete` is for the scripts
      {"roofcast sweep --th", {"--threads"}},
      {"roofcast estimate mine.yaml --format ", {"csv", "json", "text"}},
      {"roofcast list sys", {"systems"}},
      {"roofcast show chip h200", {"h200_sxm"}},
      {"roofcast show model llama-2-", {"llama-2-13b", "llama-2-70b", "llama-2-7b"}},
      {"roofcast show nothing ", {}},
      {"roofcast estimate mi", {"mine.yaml"}},
      {"roofcast estimate --system hgx_h2", {"hgx_h20", "hgx_h200"}},
      {"roofcast recommend --model llama-2-13", {"llama-2-13b"}},
      {"roofcast sweep sweep.yaml --csv ou", {"out.csv"}},
      {"roofcast check mine.yaml ou", {"out.csv"}},
      {"roofcast estimate mine.yaml --set sys", {"system.", "system="}},
      {"roofcast estimate mine.yaml --set system.chip.hbm.band", {"system.chip.hbm.bandwidth="}},
      {"roofcast estimate mine.yaml --set model.vocab=1 --set traffic.conc",
       {"traffic.concurrency="}},
      {"roofcast estimate absent.yaml --set sys", {}},
      {"roofcast pareto out.csv --maximize thr", {"throughput"}},
      {"roofcast pareto out.csv --maximize throughput --by sys", {"system"}},
      {"roofcast pareto absent.csv --minimize ttft_p5", {"ttft_p50_s"}},
      {"roofcast calibrate validate gem", {"gemm", "gemm_power"}},
      {"roofcast calibrate validate req", {"requests"}},
      {"roofcast calibrate validate gemm out.csv --where sys", {"system="}},
  };
  return all;
}

void write_files(const Program& roofcast) {
  roofcast.write("mine.yaml", roofcast.output({"show", "example", "llama-70b"}));
  roofcast.write("out.csv", "point,system,throughput\n0,hgx_h200,1\n");
}

// Lines of stdout up to a tab or trailing blanks, sorted.
Words proposed(const Outcome& outcome) {
  INFO(outcome.err);
  CHECK(outcome.code == 0);
  Words words;
  for (const std::string& line : lines_of(outcome.out)) {
    words.push_back(line.substr(0, line.find('\t')));
  }
  std::sort(words.begin(), words.end());
  return words;
}

bool installed(const Program& roofcast, const std::string& shell) {
  const bool is = roofcast.shell("command -v " + shell).code == 0;
  if (!is) {
    WARN(shell << " is not installed: its completion is not tested");
  }
  return is;
}

// What bash proposes for the words it makes of a line, the last one unfinished.
Words bash_proposes(const Program& roofcast, const std::string& words) {
  return proposed(
      roofcast.shell("source <(roofcast completion bash); COMP_WORDS=(" + words +
                     "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _roofcast; "
                     "((${#COMPREPLY[@]} == 0)) || printf '%s\\n' \"${COMPREPLY[@]}\""));
}

}  // namespace

TEST_CASE("bash completes commands, options, ids, knobs, columns and files", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_files(roofcast);
  for (const Case& each : cases()) {
    INFO(each.line);
    std::string words;
    for (const char c : each.line) {
      words += c == '=' ? " = " : std::string(1, c);
    }
    CHECK(bash_proposes(roofcast, each.line.ends_with(' ') ? words + "''" : words) ==
          each.proposed);
  }
}

TEST_CASE("bash completes what stands after an equals sign, at which it splits words", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_files(roofcast);
  const std::string set = "roofcast estimate mine.yaml --set system ";
  CHECK(bash_proposes(roofcast, set + "= hgx_h200") == Words{"hgx_h200"});
  CHECK(bash_proposes(roofcast, set + "=").size() > 10);
  CHECK(bash_proposes(roofcast, "roofcast estimate mine.yaml --format = j") == Words{"json"});
}

TEST_CASE("fish completes the same, where it is installed", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists() || !installed(roofcast, "fish")) {
    return;
  }
  write_files(roofcast);
  for (const Case& each : cases()) {
    INFO(each.line);
    const Outcome outcome =
        roofcast.shell("fish --no-config -c 'roofcast completion fish | source; complete -C \"" +
                       each.line + "\"'");
    CHECK(proposed(outcome) == each.proposed);
  }
}

// Outside its line editor zsh has no completion: stand-ins print what is handed to it.
TEST_CASE("zsh completes the same, where it is installed", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists() || !installed(roofcast, "zsh")) {
    return;
  }
  write_files(roofcast);
  roofcast.write("stand_ins.zsh",
                 "compdef() {}\n"
                 "compadd() { print -l -- ${(P)@[-1]} }\n"
                 "_files() { print -l -- ${PREFIX}*(N) }\n"
                 "source <(roofcast completion zsh)\n"
                 "words=(${(s: :)1} '')\n"
                 "[[ $1 == *' ' ]] || words[-1]=()\n"
                 "CURRENT=$#words PREFIX=$words[-1]\n"
                 "_roofcast\n");
  for (const Case& each : cases()) {
    INFO(each.line);
    CHECK(proposed(roofcast.shell("zsh -f stand_ins.zsh '" + each.line + "'")) == each.proposed);
  }
}

}  // namespace roofcast::cli::cli_completion
