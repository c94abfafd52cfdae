// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/accuracy_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/statistics/quantile.hpp"

namespace roofcast::cli {
namespace {

using calibrate::ErrorSummary;
using calibrate::Judged;
using calibrate::KindAccuracy;
using calibrate::kSizes;
using calibrate::Pair;

constexpr std::string_view kIntroduction = R"(# Accuracy of the operators, and of training

Written by `scripts/accuracy` over the measured tables of `calibrate/measurements`: those of `ops`, measured in ai-dynamo/aiconfigurator@095f58a on six chips and
two stacks, and [published training steps](#training). Do not edit by hand. Errors are |predicted / measured − 1|; *in 90 %* is how many measurements the forecast's 90 %
interval held.

## As if the architecture had never been measured

This is what to expect of a chip that nobody has built. Nothing that was measured on the architecture is used: no parameters, no corrections,
no errors (`calibrate validate KIND --as-if-unmeasured architecture`). Parameters are the weighted means of the other architectures', and the
interval has the spread between these (`hardware/nearest_calibration.hpp`). What is shared by construction: the physics, the datasheets,
`generic.yaml`, from which the fits of the other architectures start, and what the hosts of systems do: the rate that GPUs share in the PCIe
server of the L40S is of the same rows.

@UNKNOWN@
## Chips that were measured

- **own**: the chip's own calibration (`hardware/calibrated/<chip>.<stack>.yaml`), on the fifth of the shapes that was held back whole from
  its fit. `gemm_power` is not fitted: all its rows, with the generic energies.
- **transferred**: the same rows and the others, as if the chip itself had never been measured (`--as-if-unmeasured chip`). Most rows are of
  chips whose twin was measured, so this is what to expect of a variant of a measured chip.

Each row is forecast with the kernels of its version of the stack (`roofcast list stacks`). The intervals are those of the newest version.

## By kind

)";

constexpr std::string_view kUnknown = "@UNKNOWN@\n";

constexpr std::string_view kNewLayers = R"(
## A model that nobody measured

The shapes above were held back one by one: each is a neighbour of shapes that were fitted. Here every calibration was fitted again without
any shape of a fifth of the layers, and judged by these: GEMMs with a width that no fitted GEMM has, attention with other heads, experts of
other sizes. Of few layers one is held back. Of the exchanges of TensorRT-LLM one layer was measured: it is a size of the group that no fitted
exchange has. The intervals are those that ship. Collectives have no layers.
)";

constexpr std::string_view kOwn = R"(
## Measured by roofcast-bench

roofcast-bench measured these chips ([bench.md](bench.md#measured-chips)). No calibration that ships was fitted to these rows. The forecasts
are those of the calibrations for TensorRT-LLM, whose GEMMs are cuBLASLt's too. Their context attention contains the rotation of queries and
the writing of the cache; cuDNN's does not. The interval of a GEMM is wider than that of the tables it was fitted to, by what two laboratories
measure of one GEMM (`hardware/spreads.hpp`): the 90 % quantile of |ln(their time / ours)| over the same GEMMs, below. Rows in fp16
were not in the tables: they take the corrections of bf16. Other operators were measured by one laboratory only.
)";

constexpr std::string_view kRepeated = R"(
The same GEMMs in the tables of others, bf16. *Apart* is |their time / ours − 1|. No forecast can be nearer to both.

| chip | stack of the other table | GEMMs | median of their time / ours | apart: median | p90 |
|---|---|---:|---:|---:|---:|
)";

constexpr std::string_view kAlone = R"(
A calibration that was fitted to the chip's own GEMMs alone, on the fifth of the shapes that its fit did not see:
)";

constexpr std::string_view kParameters = R"(
Its parameters beside those that ship for TensorRT-LLM. The bench measures GEMMs without a pause, near the power limit, so its
tensor efficiencies contain lower clocks than the others' bursts.

| chip | parameter | own rows alone | ships |
|---|---|---:|---:|
)";

constexpr std::string_view kTraining = R"(
## Training

Optimizer steps that others published, each beside its forecast, as `calibrate validate training` prints them. How the runs were made is
data, a source for each setting (`calibrate/conventions/trainings.yaml`); what is known of the errors is in
[validation.md](validation.md#training). The trainer's slowdown is fitted to the steps of Megatron-LM (GPT on A100 and H100), its host times to
half of Megatron Bridge's. No step of SimuMax or MPT is fitted, none of LoRA or SFT, and no memory. In *all* each row counts once. Steps of
whole models that were measured here on H200 and H100 are in [validation.md](validation.md#whole-models-on-one-gpu), those of MLPerf and whole runs in
[runs.md](runs.md).

)";

constexpr std::string_view kTrainingMemory = R"(
Memory of the fullest GPU, of what the processes allocated:

| table | rows | median | mean | p90 | bias |
|---|---:|---:|---:|---:|---:|
)";

constexpr std::string_view kTrainingParts = R"(
Host times of the trainer are fitted to one half of Megatron Bridge's steps: whole settings of a model on a system, drawn by a hash.
)";

constexpr std::string_view kTrainingRefused = R"(
Published steps without a forecast:

| table | rows | of | because |
|---|---:|---:|---|
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
                     calibrate::percent(own.median), calibrate::percent(own.mape),
                     calibrate::percent(own.p90), calibrate::percent(own.bias),
                     calibrate::percent(own.coverage90), calibrate::percent(other.median),
                     calibrate::percent(other.mape), calibrate::percent(other.p90),
                     calibrate::percent(other.coverage90));
}

std::string header(std::string_view first, std::string_view rule) {
  return fmt::format(
      "| {} | own: rows | median | mean | p90 | bias | in 90 % | transferred: median | mean | p90 "
      "| in 90 % |\n|{}|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
      first, rule);
}

std::string errors_row(const std::string& first, const std::vector<Pair>& pairs) {
  const ErrorSummary e = summarise(pairs);
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", first, e.rows,
                     calibrate::percent(e.median), calibrate::percent(e.mape),
                     calibrate::percent(e.p90), calibrate::percent(e.bias),
                     calibrate::percent(e.coverage90));
}

std::string errors_header(std::string_view first, std::string_view rule) {
  return fmt::format(
      "\n| {} | rows | median | mean | p90 | bias | in 90 % "
      "|\n|{}|---:|---:|---:|---:|---:|---:|\n",
      first, rule);
}

std::string new_layers_text(const std::vector<calibrate::NewLayers>& all) {
  std::string kinds = errors_header("kind", "---");
  std::string chips = errors_header("kind | chip | stack", "---|---|---");
  std::vector<std::string> none;
  for (const calibrate::NewLayers& layers : all) {
    std::vector<Pair> together;
    for (const auto& [key, pairs] : layers.pairs) {
      together.insert(together.end(), pairs.begin(), pairs.end());
      chips += errors_row(fmt::format("{} | {} | {}", layers.kind, key.first, key.second), pairs);
    }
    if (together.empty()) {
      none.push_back("`" + layers.kind + "`");
    } else {
      kinds += errors_row(layers.kind, together);
    }
  }
  const std::string without =
      none.empty() ? ""
                   : fmt::format("\nNo row: {}. They are not fitted.\n", fmt::join(none, ", "));
  return kinds + without + chips;
}

std::string own_text(const calibrate::OwnMeasurements& own) {
  if (own.forecasts.empty()) {
    return {};
  }
  std::string text(kOwn);
  text += errors_header("chip | rows of", "---|---");
  for (const calibrate::OwnErrors& errors : own.forecasts) {
    text += errors_row(errors.chip + " | " + errors.what, errors.pairs);
  }
  text += kRepeated;
  for (const calibrate::RepeatedGemms& gemms : own.repeated) {
    std::vector<double> apart;
    for (const double ratio : gemms.ratios) {
      apart.push_back(std::abs(ratio - 1.0));
    }
    text += fmt::format("| {} | {} | {} | {:.3f} | {} | {} |\n", gemms.chip, gemms.stack,
                        apart.size(), base::quantile(gemms.ratios, 0.5),
                        calibrate::percent(base::quantile(apart, 0.5)),
                        calibrate::percent(base::quantile(apart, 0.9)));
  }
  text += std::string(kAlone) + errors_header("chip | rows of", "---|---");
  for (const calibrate::OwnErrors& errors : own.alone) {
    text += errors_row(errors.chip + " | " + errors.what, errors.pairs);
  }
  text += kParameters;
  for (const calibrate::OwnParameter& p : own.parameters) {
    text += fmt::format("| {} | `{}` | {} | {} |\n", p.chip, p.path, p.alone, p.shipped);
  }
  return text;
}

// `of`: groups of errors with a name each.
template <class Map, class Name>
std::string errors_rows(const Map& of, Name name) {
  std::string text;
  for (const auto& [key, pairs] : of) {
    text += errors_row(name(key), pairs);
  }
  return text;
}

std::string training_text(const std::vector<calibrate::TrainingTable>& tables) {
  std::string text(kTraining);
  text +=
      "| table | rows | forecast | median | mean | p90 | bias | in 90 % "
      "|\n|---|---:|---:|---:|---:|---:|---:|---:|\n";
  std::string memory, parts, kinds, groups, refused;
  std::size_t rows = 0;
  std::vector<Pair> all;
  for (const calibrate::TrainingTable& table : tables) {
    const calibrate::TrainingErrors& errors = table.errors;
    const auto named = [&](std::string_view what) {
      return fmt::format("`{}` | {}", table.name, what);
    };
    text += errors_row(fmt::format("`{}` | {}", table.name, table.rows), errors.steps);
    rows += table.rows;
    all.insert(all.end(), errors.steps.begin(), errors.steps.end());
    if (!errors.memory.empty()) {
      const ErrorSummary e = summarise(errors.memory);
      memory += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", table.name, e.rows,
                            calibrate::percent(e.median), calibrate::percent(e.mape),
                            calibrate::percent(e.p90), calibrate::percent(e.bias));
    }
    parts += errors_rows(errors.parts, named);
    kinds += errors_rows(errors.kinds, named);
    groups += errors_rows(errors.groups, [&](const auto& key) {
      return fmt::format("`{}` | {} | {}", table.name, key.first, key.second);
    });
    for (const auto& [reason, count] : errors.skipped) {
      refused += fmt::format("| `{}` | {} | {} | {} |\n", table.name, count, table.rows, reason);
    }
  }
  text += errors_row(fmt::format("all | {}", rows), all);
  text += std::string(kTrainingMemory) + memory;
  text += std::string(kTrainingParts) + errors_header("table | steps that", "---|---") + parts;
  text += "\nBy what is trained:\n" + errors_header("table | kind", "---|---") + kinds;
  text += std::string(kTrainingRefused) + refused;
  return text + "\nBy model and chip, as the tables name them:\n" +
         errors_header("table | model | chip", "---|---|---") + groups;
}

}  // namespace

std::string accuracy_page(const std::vector<KindAccuracy>& kinds,
                          const std::vector<calibrate::NewLayers>& new_layers,
                          const calibrate::OwnMeasurements& own,
                          const std::vector<calibrate::TrainingTable>& trainings) {
  const std::size_t mark = kIntroduction.find(kUnknown);
  std::string page(kIntroduction.substr(0, mark));
  page += errors_header("kind | architecture | stack", "---|---|---").substr(1);
  for (const KindAccuracy& k : kinds) {
    for (const auto& [key, pairs] : k.unknown) {
      page += errors_row(fmt::format("{} | {} | {}", k.kind, key.first, key.second), pairs);
    }
  }
  page += kIntroduction.substr(mark + kUnknown.size());
  page += header("kind", "---");
  for (const KindAccuracy& k : kinds) {
    page += row(k.kind, k.all);
  }
  page += std::string(kNewLayers) + new_layers_text(new_layers);
  page += own_text(own);
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
    page += fmt::format(" {} |", calibrate::size_name(size));
  }
  page += "\n|---|---:|---:|---:|---:|\n";
  for (const KindAccuracy& k : kinds) {
    page += fmt::format("| {} |", k.kind);
    for (const std::vector<Pair>& pairs : k.own_by_size) {
      page += fmt::format(" {} |", calibrate::percent(summarise(pairs).median));
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
  return page + training_text(trainings) + std::string(kPeers);
}

}  // namespace roofcast::cli
