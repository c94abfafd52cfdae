// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "calibrate/accuracy.hpp"
#include "calibrate/fit.hpp"

namespace roofcast::calibrate {
namespace {

constexpr std::string_view kIntroduction = R"(# Accuracy of the operators

Written by `roofcast calibrate accuracy TABLES -o docs/accuracy.md` over the operators measured in ai-dynamo/aiconfigurator@095f58a on six
chips and two stacks; do not edit by hand. Errors are |predicted / measured − 1|; *in 90 %* is how many measurements the forecast's 90 %
interval held.

- **own**: the chip's own calibration (`hardware/calibrated/<chip>.<stack>.yaml`), on the fifth of the shapes that was held back whole from
  its fit. `gemm_power` is not fitted: all its rows, with the generic energies.
- **transferred**: the same rows and the others, as if the chip itself had never been measured: with the parameters of the nearest other chip
  (`--chip-parameters transferred`). This is what to expect of a chip that is not built.

The same shape measured by two versions of a stack differs by a factor of 1.1 to 1.2 at the median: errors below that are those of one version.

## By kind

)";

constexpr std::string_view kPeers = R"(
## What others publish

| who | what | error | source |
|---|---|---|---|
| AIConfigurator | its own tables, single sites left out: GEMM (interior), context attention, generation attention | median 4.9 %, 2.0 %, 1.1 % | ai-dynamo/aiconfigurator docs/design/perf_interp_design.md |
| GenZ | end to end, several platforms | geometric mean 5.8 % | arXiv 2406.01698 |
| BLIS | end to end, 36 runs held out | median 6.7 % (TTFT 17.6 %) | docs/blog/how-blis-learns-latency.md of its repository |

Each on its authors' own engine, versions and hardware; none forecasts chips that were not measured with a stated interval.
)";

std::string row(const std::string& first, const Judged& judged) {
  const ErrorSummary own = summarise(judged.own);
  const ErrorSummary other = summarise(judged.transferred);
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", first, own.rows,
                     percent(own.median), percent(own.mape), percent(own.p90), percent(own.bias),
                     percent(own.coverage90), percent(other.median), percent(other.mape),
                     percent(other.p90), percent(other.coverage90));
}

std::string header(std::string_view first, std::string_view rule) {
  return fmt::format(
      "| {} | own: rows | median | mean | p90 | bias | in 90 % | transferred: median | mean | p90 "
      "| in 90 % |\n|{}|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
      first, rule);
}

}  // namespace

std::string accuracy_page(const std::vector<KindAccuracy>& kinds) {
  std::string page(kIntroduction);
  page += header("kind", "---");
  for (const KindAccuracy& k : kinds) {
    page += row(k.kind, k.all);
  }
  page +=
      "\n## Rows that are not predicted\n\n| kind | rows | of | because |\n|---|---:|---:|---|\n";
  for (const KindAccuracy& k : kinds) {
    for (const auto& [reason, count] : k.refused) {
      page += fmt::format("| {} | {} | {} | {} |\n", k.kind, count, k.rows, reason);
    }
  }
  page +=
      "\n## By size\n\nMedian error of the own calibration, held back, by the measured time.\n\n| "
      "kind |";
  for (std::size_t size = 0; size < kSizes; ++size) {
    page += fmt::format(" {} |", size_name(size));
  }
  page += "\n|---|---:|---:|---:|---:|\n";
  for (const KindAccuracy& k : kinds) {
    page += fmt::format("| {} |", k.kind);
    for (const std::vector<Pair>& pairs : k.own_by_size) {
      page += fmt::format(" {} |", percent(summarise(pairs).median));
    }
    page += '\n';
  }
  page += "\n## By chip and stack\n";
  for (const KindAccuracy& k : kinds) {
    page += fmt::format("\n### {}\n\n", k.kind) + header("chip | stack", "---|---");
    for (const auto& [key, judged] : k.by_chip_and_stack) {
      page += row(key.first + " | " + key.second, judged);
    }
  }
  return page + std::string(kPeers);
}

namespace {

// measured / predicted at 200 quantiles of each chip, so that all chips count alike: most rows are of chips whose
// nearest relative is their twin.
std::vector<double> ratios_of_chips(const KindAccuracy& kind) {
  constexpr int kQuantiles = 200;
  std::map<std::string, std::vector<double>> by_chip;
  for (const auto& [key, judged] : kind.by_chip_and_stack) {
    for (const Pair& pair : judged.transferred) {
      by_chip[key.first].push_back(pair.measured / pair.predicted);
    }
  }
  std::vector<double> ratios;
  for (auto& [chip, all] : by_chip) {
    std::sort(all.begin(), all.end());
    for (int i = 0; i < kQuantiles; ++i) {
      const double position = (i + 0.5) / kQuantiles * static_cast<double>(all.size());
      ratios.push_back(all[static_cast<std::size_t>(position)]);
    }
  }
  return ratios;
}

}  // namespace

std::string transferred_errors(const std::vector<KindAccuracy>& kinds) {
  std::string text = "errors:\n";
  for (const KindAccuracy& k : kinds) {
    const ErrorSummary e = summarise(k.all.transferred);
    // Nine in ten of all rows, and of the chips' rows with all chips alike.
    const std::vector<double> ratios = ratios_of_chips(k);
    std::vector<double> rows;
    for (const Pair& pair : k.all.transferred) {
      rows.push_back(pair.measured / pair.predicted);
    }
    text += error_item({k.kind, 0, 0, static_cast<std::int64_t>(e.rows), e.median, e.p90, e.bias,
                        std::min(quantile(ratios, 0.05), quantile(rows, 0.05)),
                        std::max(quantile(ratios, 0.95), quantile(rows, 0.95))}) +
            "\n";
  }
  return text;
}

}  // namespace roofcast::calibrate
