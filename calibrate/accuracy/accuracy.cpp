// SPDX-License-Identifier: Apache-2.0
#include "calibrate/accuracy/accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"
#include "base/statistics/quantile.hpp"
#include "calibrate/accuracy/architectures.hpp"
#include "calibrate/fit/fit.hpp"
#include "calibrate/operators/operator_rows.hpp"
#include "calibrate/operators/predict.hpp"
#include "calibrate/platforms/chip_platforms.hpp"
#include "calibrate/platforms/held_back.hpp"
#include "calibrate/platforms/measurements.hpp"
#include "hardware/calibration.hpp"

namespace roofcast::calibrate {
namespace {

std::size_t size_of(double seconds) {
  std::size_t size = 0;
  for (const double most : {1e-5, 1e-4, 1e-3}) {
    size += seconds >= most ? 1 : 0;
  }
  return size;
}

// The platforms of chips with less and less that is known of them.
struct Platforms {
  ChipPlatforms own;
  ChipPlatforms transferred{"", hardware::Unmeasured::chip};
  ChipPlatforms unknown{"", hardware::Unmeasured::architecture};
  // By another architecture that is not known either.
  std::map<std::string, ChipPlatforms> less;
  std::map<std::tuple<std::string, std::string, std::string>,
           std::vector<hardware::TransferredError>>
      errors;  // by chip, stack and that architecture

  Platforms() {
    for (const std::string& also : measured_architectures()) {
      less.emplace(also, ChipPlatforms("", hardware::Unmeasured::architecture, also));
    }
  }

  const hardware::TransferredError* error(const sim::Platform& platform, const std::string& stack,
                                          const std::string& also, const std::string& kind) {
    const auto key = std::tuple(platform.system.chip.id, stack, also);
    auto known = errors.find(key);
    if (known == errors.end()) {
      const base::Node chip = base::load_entry(hardware::chip_catalog(), platform.system.chip.id);
      known = errors
                  .emplace(key, hardware::transferred_errors(
                                    chip, stack, hardware::Unmeasured::architecture, also))
                  .first;
    }
    const auto at = std::find_if(known->second.begin(), known->second.end(),
                                 [&](const auto& e) { return e.kind == kind; });
    return at == known->second.end() ? nullptr : &*at;
  }

  // Scores of a row as if its architecture, and one more, had never been measured.
  void add_scores(const MeasuredOperator& row, const std::string& kind,
                  ArchitectureScores& scores) {
    const std::string stack = has_kernels_of(kind, row.stack, "vllm") ? "vllm" : row.stack;
    const std::string architecture = platform_of(row, kind, own)->system.chip.architecture;
    const auto add = [&](ChipPlatforms& platforms, const std::string& also,
                         const char* unmeasured) {
      const sim::Platform* platform = platform_of(row, kind, platforms);
      const auto* error = this->error(*platform, stack, also, kind);
      // What waits for the host says nothing of the kind.
      if (error != nullptr && error->variance > 0.0 &&
          error_kind(row, kind, platform->machine) == kind) {
        scores.add(unmeasured, kind, architecture, row.chip + "." + row.stack,
                   std::log(measured(row) / predicted(row, platform->machine)), *error);
      }
    };
    add(unknown, "", kNone);
    for (auto& [also, platforms] : less) {
      if (also != architecture) {
        add(platforms, also, also.c_str());
      }
    }
  }
};

KindAccuracy judge(const std::string& kind, const base::CsvTable& table, Platforms& platforms,
                   ArchitectureScores& scores) {
  const OperatorRows rows(kind, table);
  KindAccuracy result;
  result.kind = kind;
  result.rows = table.rows();
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const MeasuredOperator row = rows.row(i);
    const sim::Platform* platform = platform_of(row, kind, platforms.own);
    const std::string reason =
        platform == nullptr ? no_system_with(row.chip) : reason_against(row, platform->machine);
    if (!reason.empty()) {
      ++result.refused[reason];
      continue;
    }
    const auto pair_of = [&](const sim::Platform& p) {
      const double value = predicted(row, p.machine);
      const Interval within =
          interval(value, error_kind(row, kind, p.machine), p.system.calibration);
      return Pair{measured(row), value, within.low, within.high};
    };
    Judged& group = result.by_chip_and_stack[{row.chip, row.stack}];
    const bool fitted = row.measured_w == 0.0;
    if (!fitted || held_back(draw_of(rows.shape(i)))) {
      const Pair pair = pair_of(*platform);
      result.all.own.push_back(pair);
      group.own.push_back(pair);
      result.own_by_size[size_of(row.measured_s)].push_back(pair);
    }
    const Pair pair = pair_of(*platform_of(row, kind, platforms.transferred));
    result.all.transferred.push_back(pair);
    group.transferred.push_back(pair);
    result.unknown[{platform->system.chip.architecture, row.stack}].push_back(
        pair_of(*platform_of(row, kind, platforms.unknown)));
    if (!fitted || held_back(draw_of(rows.shape(i)))) {  // enough, and quicker
      platforms.add_scores(row, kind, scores);
    }
  }
  return result;
}

// Of the built-in generic parameters: errors of kinds that no table is of. They were measured otherwise and are kept.
std::vector<hardware::KindError> errors_without_table() {
  const base::Node document = base::load_entry(hardware::calibration_catalog(), "generic");
  base::Problems problems;
  base::Fields fields(document, "", problems);
  hardware::Calibration generic;
  read(fields, generic);
  problems.throw_if_any();
  const std::vector<std::string> tables = operator_kinds();
  std::erase_if(generic.errors, [&](const hardware::KindError& e) {
    return std::find(tables.begin(), tables.end(), e.kind) != tables.end();
  });
  return std::move(generic.errors);
}

}  // namespace

std::string_view size_name(std::size_t size) {
  constexpr std::array<std::string_view, kSizes> kNames = {"< 10 us", "10-100 us", "0.1-1 ms",
                                                           "> 1 ms"};
  return kNames[size];
}

Accuracy accuracy(const std::filesystem::path& tables) {
  Platforms platforms;
  ArchitectureScores scores;
  std::vector<KindAccuracy> kinds;
  for (const std::string& kind : operator_kinds()) {
    if (const auto file = find_table(tables, kind)) {
      kinds.push_back(judge(kind, base::read_csv(*file), platforms, scores));
    }
  }
  if (kinds.empty()) {
    throw base::InputError(
        fmt::format("error: {} has no table of measured operators\n", tables.string()));
  }
  return {std::move(kinds), scores.spreads()};
}

std::string generic_errors(const Accuracy& accuracy) {
  std::string text = "errors:\n";
  for (const KindAccuracy& k : accuracy.kinds) {
    std::vector<Pair> pairs;
    for (const auto& [key, of_one] : k.unknown) {
      pairs.insert(pairs.end(), of_one.begin(), of_one.end());
    }
    const ErrorSummary e = summarise(pairs);
    for (const hardware::ArchitectureSpread& s : accuracy.spreads) {
      if (s.unmeasured == kNone && s.kind == k.kind) {
        text += error_item({k.kind, 0, 0, static_cast<std::int64_t>(e.rows), e.median, e.p90,
                            e.bias, std::exp(-s.below), std::exp(s.above)}) +
                "\n";
      }
    }
  }
  for (const hardware::KindError& e : errors_without_table()) {
    text += error_item(e) + "\n";
  }
  return text;
}

}  // namespace roofcast::calibrate
