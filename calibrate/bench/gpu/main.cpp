// SPDX-License-Identifier: Apache-2.0
//
// roofcast-bench: runs the suites, each in a process of its own, within the time there is.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "base/document/problems.hpp"
#include "calibrate/bench/apart.hpp"
#include "calibrate/bench/drift.hpp"
#include "calibrate/bench/measure.hpp"
#include "calibrate/bench/options.hpp"

namespace roofcast::bench {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;  // a suite, or a comparison
constexpr int kBadInput = 2;
constexpr int kNothing = 77;  // to measure, or to compare with: what tests end with that skip

using Run = void (*)(SuiteRun&);
struct Runner {
  std::string_view suite;
  Run run;            // nullptr: not built
  const char* needs;  // a library
};

#ifdef ROOFCAST_BENCH_CUBLASLT
constexpr Run kGemm = run_gemm;
constexpr Run kGemmBackward = run_gemm_backward;
constexpr Run kPower = run_power;
constexpr Run kSustained = run_sustained;
#else
constexpr Run kGemm = nullptr;
constexpr Run kGemmBackward = nullptr;
constexpr Run kPower = nullptr;
constexpr Run kSustained = nullptr;
#endif
#ifdef ROOFCAST_BENCH_CUBLAS
constexpr Run kGroupedGemm = run_grouped_gemm;
#else
constexpr Run kGroupedGemm = nullptr;
#endif
#ifdef ROOFCAST_BENCH_NCCL
constexpr Run kNccl = run_nccl;
int run_rank(const Options& options) {
  run_nccl_rank(options.board, options.rank);
  return kDone;
}
#else
constexpr Run kNccl = nullptr;
int run_rank(const Options& /*options*/) { return kBadInput; }
#endif

constexpr Runner kRunners[] = {
    {"copy", run_copy, ""},
    {"arithmetic", run_arithmetic, ""},
    {"launch", run_launch, ""},
    {"host", run_host, ""},
    {"latency", run_latency, ""},
    {"in_flight", run_in_flight, ""},
    {"gemm", kGemm, "cuBLASLt"},
    {"power", kPower, "cuBLASLt"},
    {"sustained", kSustained, "cuBLASLt"},
    {"decode", run_decode, ""},
    {"prefill", run_prefill, ""},
    {"gemm_backward", kGemmBackward, "cuBLASLt"},
    {"elementwise", run_elementwise, ""},
    {"grouped_gemm", kGroupedGemm, "cuBLAS"},
    {"mamba2", run_mamba2, ""},
    {"pcie", run_pcie, ""},
    {"nccl", kNccl, "NCCL"},
};

const Runner& runner_of(std::string_view suite) {
  return *std::find_if(std::begin(kRunners), std::end(kRunners),
                       [&](const Runner& runner) { return runner.suite == suite; });
}

void list_suites() {
  for (const Suite& suite : suites()) {
    const Runner& runner = runner_of(suite.name);
    fmt::print("{:<13} {}{}\n", suite.name, suite.subject,
               runner.run == nullptr ? fmt::format(" (not built: no {})", runner.needs) : "");
  }
}

int run_suite(const Suite& suite, const Options& options, double seconds) {
  SuiteRun run{options.directory, subject(options.chip), Deadline(seconds), lost_gpu};
  runner_of(suite.name).run(run);
  fmt::print("{:<13} {} shapes{}\n", suite.name, run.rows,
             run.failures == 0 ? ""
                               : fmt::format(", {} without a result, the first: {}", run.failures,
                                             run.first_failure));
  return run.gone.empty() ? kDone : kFailed;
}

int run_suites(const Options& options) {
  std::vector<Suite> chosen;
  for (const Suite& suite : suites()) {
    const auto& only = options.only;
    if (only.empty() || std::find(only.begin(), only.end(), suite.name) != only.end()) {
      chosen.push_back(suite);
    }
  }
  std::filesystem::create_directories(options.directory);
  constexpr double kStart = 60.0;  // seconds for what has no deadline of its own
  const Ended begun = run_apart(
      [&] {
        if (const std::string reason = no_gpu(); !reason.empty()) {
          fmt::print(stderr, "roofcast-bench: {}\n", reason);
          return kNothing;
        }
        try {
          write_environment(options.directory, subject(options.chip));
        } catch (const std::exception& error) {
          fmt::print(stderr, "roofcast-bench: {}\n", error.what());
          return kBadInput;
        }
        return kDone;
      },
      kStart);
  if (begun.status != kDone) {
    fmt::print(stderr, "{}",
               begun.problem.empty() ? "" : "roofcast-bench: " + begun.problem + "\n");
    return begun.problem.empty() ? begun.status : kFailed;
  }

  const Deadline whole(options.budget_s);
  int status = kDone;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const Suite& suite = chosen[i];
    const Runner& runner = runner_of(suite.name);
    if (runner.run == nullptr) {
      fmt::print("{:<13} not built: {} was not found\n", suite.name, runner.needs);
      continue;
    }
    const double seconds =
        std::max(0.0, allowance(whole.remaining_s(), std::span(chosen).subspan(i)));
    const Deadline started(0.0);
    const Ended ended =
        run_apart([&] { return run_suite(suite, options, seconds); }, seconds + kStart);
    const bool good = ended.problem.empty() && ended.status == kDone;
    fmt::print(
        "{:<13} {:5.1f} s{}\n", suite.name, -started.remaining_s(),
        good ? ""
             : fmt::format(", failed: {}", ended.problem.empty() ? "see above" : ended.problem));
    std::fflush(stdout);
    status = good ? status : kFailed;
  }
  return status;
}

int run_drift(const Options& options) {
  if (const std::string reason = no_gpu(); !reason.empty()) {
    fmt::print(stderr, "roofcast-bench: {}\n", reason);
    return kNothing;
  }
  std::string id;
  try {
    id = subject(options.chip).chip;
  } catch (const std::exception& error) {
    fmt::print(stderr, "roofcast-bench: {}\n", error.what());
    return kNothing;
  }
  const hardware::Chip chip = catalog_chip(id);
  using base::byte, base::flop, base::second;
  const Observed observed{copy_bandwidth() * byte / second, l2_bandwidth() * byte / second,
                          dram_latency() * second,
#ifdef ROOFCAST_BENCH_CUBLASLT
                          bf16_rate() * flop / second
#else
                          {}
#endif
  };
  int status = kDone;
  fmt::print("{}\n", chip.name);
  for (const Comparison& comparison : compare(observed, chip)) {
    fmt::print("{}\n", line(comparison));
    status = comparison.agrees() ? status : kFailed;
  }
  return status;
}

int run(int argc, char** argv) {
  Options options;
  const auto parser = make_parser(options);
  try {
    parser->parse(argc, argv);
    if (options.list) {
      list_suites();
      return kDone;
    }
    if (!options.board.empty()) {
      return run_rank(options);
    }
    return options.drift ? run_drift(options) : run_suites(options);
  } catch (const CLI::ParseError& error) {
    return parser->exit(error) == 0 ? kDone : kBadInput;
  } catch (const base::InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "roofcast-bench: {}\n", error.what());
    return kFailed;
  }
}

}  // namespace
}  // namespace roofcast::bench

int main(int argc, char** argv) { return roofcast::bench::run(argc, argv); }
