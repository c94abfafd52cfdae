// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/claims_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/statistics/quantile.hpp"
#include "calibrate/accuracy/claims.hpp"
#include "calibrate/platforms/error_summary.hpp"

namespace roofcast::cli {
namespace {

using calibrate::Claim;
using calibrate::Claims;
using calibrate::Computed;
using calibrate::NotComputed;

constexpr std::string_view kClaimsIntroduction = R"(# What others publish

Written by `roofcast calibrate claims -o docs/workloads.md` from `calibrate/claims/*.yaml`; do not edit by hand. Each row is a figure that somebody
published, the same computed here, and the difference, ours / published − 1. Where that is more than 20 % the last column says why, and a test
wants a reason there and nowhere else. Figures of ai-dynamo/aiconfigurator are among those that kernels were fitted to
([accuracy.md](accuracy.md)), those of NeMo RL among those that its trainer was fitted to; nothing was fitted to the others. *From* gives the two numbers behind a ratio, in SI units, and the point of a sweep where the best was found.
[extending.md](extending.md#a-published-figure) says how a figure is added.

)";

constexpr std::string_view kRuns = R"(# Training runs that were published

Written by `roofcast calibrate claims --page runs -o docs/runs.md` from `calibrate/claims/training_runs.yaml`; do not edit by hand. Each row is a
figure of a run that somebody published, the same forecast here, and the difference, ours / published − 1. Where that is more than 20 % the last
column says why, and a test wants a reason there and nowhere else. *Fitted to it* names what of the forecast was taken from the same run: where it
is empty nothing was. The trainer's slowdown of 1.13 was fitted to GPT models on A100 (arXiv 2104.04473, 2205.05198); every run below has it, and no
other figure of a step was fitted to any of them. *From* gives the two numbers behind a ratio, in SI units.
[scenarios/run.md](scenarios/run.md) has the model, [extending.md](extending.md#a-published-figure) says how a figure is added.

)";

constexpr std::string_view kMlperf = R"(# MLPerf Inference 5.1

Written by `roofcast calibrate claims --page mlperf -o docs/mlperf.md` from `calibrate/claims/mlperf_*.yaml`; do not edit by hand. Nothing
of roofcast was fitted to these results. Each row is one kind of server of the round (mlcommons/inference_results_v5.1@965182b), closed division if
not said otherwise: the median of all submitters that deployed it alike, and the forecast of that deployment.

- **Offline**: all requests are there at once. The forecast is a simulation of the whole run, with as many requests for each replica as the
  submission had, until the last is answered. The interval is that of the steady state, to scale.
- **Server and Interactive**: requests arrive at random, and 99 % of TTFT and of TPOT must be within limits. The forecast is the highest rate that
  meets them, of rates that are 3 % apart. Submitters choose their rate by trials, so these figures say how well the end of a queue is known.
- **Lengths**: Llama-2-70B has 222 tokens of a prompt on average (the sum over the 24,576 prompts, FlashLab-MBZUAI/HBFSim@96cf1b3
  validation/calibration), Llama-3.1-405B 9,400 (mlcommons.org/2025/04/llm-inference-v5). DeepSeek-R1 has 800, assumed. Answers have the mean of
  each result, tokens over samples. Their spread is from percentiles of latency in the Server logs, at a constant TPOT (cv 0.62,
  0.34 and 1.6); the spread of prompts is assumed.
- **Deployments**: parallelism, batch, token budget and precision are those of the submission (`configs/` or the YAML of its harness). The engines
  run in the process of the benchmark, so there is no front end.
- *Inside* says whether the 90 % interval of the forecast holds the result; a highest rate has none.

)";

std::string_view introduction(calibrate::ClaimsPage page) {
  switch (page) {
    case calibrate::ClaimsPage::runs:
      return kRuns;
    case calibrate::ClaimsPage::mlperf:
      return kMlperf;
    case calibrate::ClaimsPage::workloads:
      break;
  }
  return kClaimsIntroduction;
}

std::string grouped(std::int64_t whole) {
  return whole < 1000 ? fmt::format("{}", whole)
                      : fmt::format("{},{:03}", grouped(whole / 1000), whole % 1000);
}

// "3.31", "12,345", "0.0271"
std::string figure(double value) {
  if (std::isnan(value)) {
    return "–";
  }
  if (std::abs(value) < 1000.0) {
    return fmt::format("{:.3g}", value);
  }
  const auto whole = static_cast<std::int64_t>(std::llround(value));
  return whole < 10'000 ? fmt::format("{}", whole) : grouped(whole);
}

std::string percent_of(double difference) {
  const double whole = std::round(100.0 * difference);
  return std::isnan(whole) ? "–" : fmt::format("{:+.0f} %", whole == 0.0 ? 0.0 : whole);
}

std::string with_unit(const std::string& value, const std::string& unit) {
  return unit == "x" || unit == "%" ? fmt::format("{}{}", value, unit == "x" ? "×" : " %")
                                    : fmt::format("{} {}", value, unit);
}

std::string published(const Claim& claim) {
  const bool range = claim.most > claim.least;
  return with_unit(range ? fmt::format("{} to {}", figure(claim.least), figure(claim.most))
                         : figure(claim.least),
                   claim.unit);
}

class Sources {
 public:
  std::size_t number(const std::string& source) {
    const auto found = std::find(all_.begin(), all_.end(), source);
    if (found != all_.end()) {
      return static_cast<std::size_t>(found - all_.begin()) + 1;
    }
    all_.push_back(source);
    return all_.size();
  }
  std::string text() const {
    std::string text = "\nSources:\n\n";
    for (std::size_t i = 0; i < all_.size(); ++i) {
      text += fmt::format("{}. {}\n", i + 1, all_[i]);
    }
    return text;
  }

 private:
  std::vector<std::string> all_;
};

// "2,607 to 5,413, inside"
std::string interval(const Computed& ours, const Claim& claim) {
  if (std::isnan(ours.low)) {
    return "–";
  }
  const bool inside = claim.least <= ours.high && ours.low <= claim.most;
  return fmt::format("{} to {}, {}", figure(ours.low), figure(ours.high),
                     inside ? "inside" : "**outside**");
}

std::string section(const Claims& claims, std::vector<double>& differences) {
  Sources sources;
  std::string text = fmt::format("\n## {}\n", claims.title);
  const bool fitted = claims.page == calibrate::ClaimsPage::runs;
  const bool intervals = claims.page == calibrate::ClaimsPage::mlperf;
  const std::string_view own = fitted ? "fitted to it | " : intervals ? "90 % interval | " : "";
  if (!claims.claims.empty()) {
    text += fmt::format(
        "\n| claim | published | ours | difference | {}from | why |\n"
        "|---|---:|---:|---:|{}---|---|\n",
        own, own.empty() ? "" : "---|");
  }
  for (const Claim& claim : claims.claims) {
    const Computed ours = calibrate::compute(claim);
    differences.push_back(ours.difference);
    text += fmt::format("| {}{} [{}] | {} | {} | {} | {}{} | {} |\n", claim.claim,
                        claim.conditions.empty() ? "" : fmt::format("; {}", claim.conditions),
                        sources.number(claim.source), published(claim),
                        with_unit(figure(ours.value), claim.unit), percent_of(ours.difference),
                        fitted      ? claim.fitted + " | "
                        : intervals ? interval(ours, claim) + " | "
                                    : "",
                        ours.how, claim.reason);
  }
  if (!claims.not_computed.empty()) {
    text += "\n| not computed | published | because |\n|---|---|---|\n";
  }
  for (const NotComputed& each : claims.not_computed) {
    text += fmt::format("| {} [{}] | {} | {} |\n", each.claim, sources.number(each.source),
                        each.published, each.because);
  }
  return text + sources.text();
}

}  // namespace

std::string claims_page(calibrate::ClaimsPage page) {
  std::vector<Claims> all;
  for (const std::string& id : base::catalog_ids(calibrate::claim_catalog())) {
    Claims claims = calibrate::read_claims(base::load_entry(calibrate::claim_catalog(), id));
    if (claims.page == page) {
      all.push_back(std::move(claims));
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Claims& a, const Claims& b) { return a.section < b.section; });
  std::vector<double> differences;
  std::string sections;
  std::size_t left_out = 0;
  for (const Claims& claims : all) {
    sections += section(claims, differences);
    left_out += claims.not_computed.size();
  }
  std::vector<double> sizes;
  std::size_t near = 0;
  for (const double difference : differences) {
    if (!std::isnan(difference)) {
      sizes.push_back(std::abs(difference));
      near += sizes.back() <= calibrate::kExplained ? 1 : 0;
    }
  }
  return fmt::format(
      "{}{} figures; {} of them are met within 20 %, the median difference is {}. {} more are "
      "listed "
      "that cannot be computed.\n{}",
      introduction(page), differences.size(), near, calibrate::percent(base::quantile(sizes, 0.5)),
      left_out, sections);
}

}  // namespace roofcast::cli
