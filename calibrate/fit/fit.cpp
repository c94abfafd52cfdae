// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>

#include "base/document/schema.hpp"
#include "base/statistics/quantile.hpp"
#include "calibrate/fit/correction_fit.hpp"
#include "calibrate/fit/least_squares.hpp"
#include "calibrate/operators/predict.hpp"
#include "calibrate/platforms/chip_platforms.hpp"
#include "calibrate/platforms/measurements.hpp"

namespace roofcast::calibrate {
namespace {

using base::Node;

constexpr std::size_t kRowsOfAFormat = 600;  // that parameters are fitted to
constexpr double kHuber = 0.05;
// They trade against the others: the exponent against all, widening against the efficiency of bf16.
constexpr std::string_view kNotFitted[] = {"gemm.overlap_exponent", "gemm.widened_per_sm_clock"};
constexpr std::string_view kSustained = "gemm_power";  // GEMMs that tell of older versions only
constexpr double kReach = 8.0;  // a parameter stays within this factor of its start

// What is fitted together, by the beginnings of paths: later stages take what earlier ones fitted. The
// rates of the L2 and the latency of the DRAM are the chip's own, measured, and not fitted.
struct Stage {
  std::vector<std::string> kinds;
  std::vector<std::string> paths;
  std::vector<std::string> corrected =
      {};  // kinds of other kernels: only corrections are fitted to them
};
const std::vector<Stage>& stages() {
  static const std::vector<Stage> all = {
      {{"gemm"}, {"launch.", "memory.dram_efficiency", "memory.in_flight_bytes_per_sm", "gemm."}},
      {{"attention_context", "attention_generation"},
       {"attention."},
       {"mla_context", "mla_generation"}},
      {{"moe"}, {"moe."}},
      {{"nccl", "custom_allreduce", "deepep_ll", "deepep_normal", "trtllm_alltoall"},
       {"launch.eager", "collective."}},
      {{"mamba2", "gdn"}, {"recurrence."}}};
  return all;
}

struct Row {
  MeasuredOperator measured;
  std::uint64_t draw = 0;
};

struct Table {
  std::string kind;
  std::vector<Row> held_back;
  std::vector<Row> given;
  std::vector<const Row*> fitted;  // of the given ones, those that parameters are fitted to
  std::map<std::string, std::size_t> refused;
};

std::vector<const Row*> pointers(const std::vector<Row>& rows) {
  std::vector<const Row*> all;
  for (const Row& row : rows) {
    all.push_back(&row);
  }
  return all;
}

// The draw decides; each format gives at most kRowsOfAFormat.
std::vector<const Row*> thinned(const std::vector<Row>& rows) {
  std::vector<const Row*> sorted = pointers(rows);
  std::erase_if(sorted, [](const Row* row) { return row->measured.untuned; });
  std::stable_sort(sorted.begin(), sorted.end(), [](const Row* a, const Row* b) {
    return std::tie(a->measured.format, a->draw) < std::tie(b->measured.format, b->draw);
  });
  std::vector<const Row*> kept;
  std::size_t of_format = 0;
  for (const Row* row : sorted) {
    of_format =
        kept.empty() || kept.back()->measured.format != row->measured.format ? 0 : of_format;
    if (of_format++ < kRowsOfAFormat) {
      kept.push_back(row);
    }
  }
  return kept;
}

// Of a table's rows of a chip and stack, by format; rows of another stack, as NCCL's, have no version of this one.
class NewestVersions {
 public:
  NewestVersions(const OperatorRows& rows, std::size_t count, const std::string& chip,
                 const std::string& stack) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto version = base::parse_version(rows.version(i));
      if (version && rows.stack(i) == stack && rows.chip(i) == chip) {
        base::Version& newest = by_format_[std::string(rows.format(i))];
        newest = std::max(newest, *version);
      }
    }
  }
  const base::Version& of(std::string_view format) const { return by_format_.find(format)->second; }

 private:
  std::map<std::string, base::Version, std::less<>> by_format_;
};

// What is read of all tables.
struct Versions {
  base::Version newest{{}};
  std::string text;  // of the newest
  OlderRows older;
};

std::optional<Table> read_table(const std::string& kind, const std::filesystem::path& directory,
                                const std::string& chip, const std::string& stack,
                                const models::Machine& machine, Split split, Versions& versions) {
  const auto known = operator_kinds();
  const auto file = find_table(directory, kind);
  if (std::find(known.begin(), known.end(), kind) == known.end() || !file) {
    return std::nullopt;
  }
  const base::CsvTable csv = base::read_csv(*file);
  const OperatorRows rows(kind, csv);
  const NewestVersions newest(rows, csv.rows(), chip, stack);
  const bool sustained = kind == kSustained;
  Table table{kind, {}, {}, {}, {}};
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    if (!has_kernels_of(kind, rows.stack(i), stack) || rows.chip(i) != chip) {
      continue;
    }
    Row row{rows.row(i), 0};
    if (sustained) {
      if (row.measured.host.launches > 0.0) {
        continue;  // a host paces these otherwise than those of gemm
      }
      row.measured.measured_w = 0.0;  // times are fitted
    }
    if (const std::string reason = reason_against(row.measured, machine); !reason.empty()) {
      ++table.refused[reason];
      continue;
    }
    row.draw = draw_of(rows.shape(i));
    const std::vector<std::string> layer =
        split == Split::layers ? rows.layer(i) : std::vector<std::string>();
    const bool judges = layer.empty() ? held_back(row.draw) : held_back_layer(layer);
    const auto version =
        rows.stack(i) == stack ? base::parse_version(rows.version(i)) : std::nullopt;
    if (version && !sustained && *version > versions.newest) {
      versions.newest = *version;
      versions.text = rows.version(i);
    }
    if (version && *version < (sustained ? versions.newest : newest.of(rows.format(i)))) {
      VersionRows& older = versions.older[*version];
      older.version = rows.version(i);
      older.kinds.insert(kind);
      (judges ? older.held_back : older.given).push_back(std::move(row.measured));
      continue;
    }
    (judges ? table.held_back : table.given).push_back(std::move(row));
  }
  if (table.given.empty() || table.held_back.empty()) {
    return std::nullopt;
  }
  table.fitted = thinned(table.given);
  return table;
}

// The calibration under way: its document, and the machine it makes of the system.
class Workbench {
 public:
  explicit Workbench(const sim::Platform& platform, Node calibration)
      : system_(platform.system), document_(std::move(calibration)) {}

  models::Machine machine() const {
    base::Problems problems;
    hardware::System system = system_;
    system.calibration = {};
    base::Fields fields(document_, "calibration", problems);
    hardware::read(fields, system.calibration);
    problems.throw_if_any();
    return models::machine_of(system);
  }
  const std::string& text(const std::string& path) const { return document_.find_path(path)->text; }
  void set(const std::string& path, const std::string& text) {
    document_.find_path(path)->text = text;
  }
  bool has(const std::string& path) const {
    const Node* node = document_.find_path(path);
    return node != nullptr && node->is_scalar();
  }

 private:
  hardware::System system_;
  Node document_;
};

// A number of the calibration's document.
struct Candidate {
  std::string path;
  base::Key key;

  std::string text_of(double value) const {
    return key.type == base::Key::Type::quantity ? base::format_quantity(value, key.dimension)
                                                 : fmt::format("{:.4g}", value);
  }
  double value_of(const std::string& text) const {
    return key.type == base::Key::Type::quantity ? base::parse_quantity(text, key.dimension).si
                                                 : base::parse_number(text).value_or(0.0);
  }
};

void collect(const base::Key& group, const std::string& path, const Workbench& bench,
             std::vector<Candidate>& out) {
  for (const base::Key& key : group.below) {
    const std::string here = path.empty() ? key.name : path + "." + key.name;
    const bool number =
        key.type == base::Key::Type::number || key.type == base::Key::Type::quantity;
    if (key.type == base::Key::Type::group) {
      collect(key, here, bench, out);
    } else if (number && bench.has(here)) {
      out.push_back({here, key});
    }
  }
}

std::vector<double> residuals(const std::vector<const Row*>& rows, const models::Machine& machine) {
  std::vector<double> r;
  r.reserve(rows.size());
  for (const Row* row : rows) {
    r.push_back(std::log(predicted_s(row->measured, machine) / row->measured.measured_s));
  }
  return r;
}

std::vector<Pair> pairs(const std::vector<Row>& rows, const models::Machine& machine) {
  std::vector<Pair> all;
  for (const Row& row : rows) {
    all.push_back({row.measured.measured_s, predicted_s(row.measured, machine)});
  }
  return all;
}

bool moves(const Candidate& c, Workbench& bench, const std::vector<const Row*>& rows,
           const std::vector<double>& base) {
  const std::string before = bench.text(c.path);
  const double value = c.value_of(before);
  if (!(value > 0.0)) {
    return false;
  }
  bench.set(c.path, c.text_of(value * 0.95));
  const std::vector<double> moved = residuals(rows, bench.machine());
  bench.set(c.path, before);
  for (std::size_t i = 0; i < base.size(); ++i) {
    if (std::abs(moved[i] - base[i]) > 1e-6) {
      return true;
    }
  }
  return false;
}

void fit_stage(const Stage& stage, const std::vector<Table>& tables, const base::Key& schema,
               Workbench& bench, std::vector<FittedParameter>& parameters) {
  std::vector<const Row*> rows;
  for (const Table& table : tables) {
    rows.insert(rows.end(), table.fitted.begin(), table.fitted.end());
  }
  std::vector<Candidate> candidates;
  collect(schema, "", bench, candidates);
  std::erase_if(candidates, [&](const Candidate& c) {
    const bool of_stage =
        std::any_of(stage.paths.begin(), stage.paths.end(),
                    [&](const std::string& path) { return c.path.starts_with(path); });
    return !of_stage || std::ranges::find(kNotFitted, c.path) != std::end(kNotFitted) ||
           std::any_of(parameters.begin(), parameters.end(),
                       [&](const FittedParameter& p) { return p.path == c.path; });
  });
  const std::vector<double> start = residuals(rows, bench.machine());
  std::erase_if(candidates, [&](const Candidate& c) { return !moves(c, bench, rows, start); });
  // First with every candidate, then with those that the rows place apart from where they started, until
  // they place all.
  SolverOptions options;
  options.huber = kHuber;
  while (!candidates.empty()) {
    std::vector<Unknown> unknowns;
    std::vector<std::string> before;
    for (const Candidate& c : candidates) {
      before.push_back(bench.text(c.path));
      const double value = c.value_of(before.back());
      unknowns.push_back({value, std::max({c.key.range.least, value / kReach, value * 1e-3}),
                          std::min(c.key.range.most, value * kReach)});
    }
    const auto put = [&](std::span<const double> values) {
      for (std::size_t j = 0; j < candidates.size(); ++j) {
        bench.set(candidates[j].path, candidates[j].text_of(values[j]));
      }
    };
    const Solution solution = solve(
        unknowns,
        [&](std::span<const double> values) {
          put(values);
          return residuals(rows, bench.machine());
        },
        options);
    std::vector<std::size_t> placed;
    for (std::size_t j = 0; j < candidates.size(); ++j) {
      bench.set(candidates[j].path, before[j]);
      if (std::abs(std::log(solution.values[j] / unknowns[j].start)) > solution.uncertainty[j]) {
        placed.push_back(j);
      }
    }
    if (placed.size() == candidates.size()) {
      put(solution.values);
      for (const std::size_t j : placed) {
        parameters.push_back({candidates[j].path, before[j], bench.text(candidates[j].path),
                              solution.uncertainty[j]});
      }
      return;
    }
    std::vector<Candidate> kept;
    for (const std::size_t j : placed) {
      kept.push_back(candidates[j]);
    }
    candidates = std::move(kept);
  }
}

KindErrors judged(const Table& table, const models::Machine& generic,
                  const models::Machine& physical, const models::Machine& corrected) {
  KindErrors errors;
  errors.kind = table.kind;
  errors.given = table.given.size();
  errors.refused = table.refused;
  errors.before = summarise(pairs(table.held_back, generic));
  errors.physical = summarise(pairs(table.held_back, physical));
  errors.pairs = pairs(table.held_back, corrected);
  errors.after = summarise(errors.pairs);
  std::vector<double> ratios;
  for (const Pair& pair : errors.pairs) {
    ratios.push_back(pair.measured / pair.predicted);
  }
  errors.low = base::quantile(ratios, 0.05);
  errors.high = base::quantile(ratios, 0.95);
  return errors;
}

}  // namespace

FittedCalibration fit_calibration(const std::string& name, const std::string& stack,
                                  const std::filesystem::path& directory, Split split) {
  ChipPlatforms platforms("generic");
  const sim::Platform* platform = platforms.find(name, stack);
  if (platform == nullptr) {
    throw base::InputError(fmt::format("error: no system with the chip \"{}\" is known\n", name));
  }
  const std::string& chip = platform->system.chip.id;
  FittedCalibration fitted{chip, platform->system.chip.name, stack, {}, {}, {}, {}, {}, {}};
  Workbench bench(*platform, base::load_entry(hardware::calibration_catalog(), "generic"));
  const base::Key schema = base::describe<hardware::Calibration>();
  const models::Machine generic = bench.machine();
  std::vector<Table> used;
  Versions versions;
  for (const Stage& stage : stages()) {
    const auto tables_of = [&](const std::vector<std::string>& kinds) {
      std::vector<Table> tables;
      for (const std::string& kind : kinds) {
        if (auto table = read_table(kind, directory, chip, stack, generic, split, versions)) {
          tables.push_back(std::move(*table));
        }
      }
      return tables;
    };
    std::vector<Table> tables = tables_of(stage.kinds);
    fit_stage(stage, tables, schema, bench, fitted.parameters);
    std::move(tables.begin(), tables.end(), std::back_inserter(used));
    tables = tables_of(stage.corrected);
    std::move(tables.begin(), tables.end(), std::back_inserter(used));
  }
  if (used.empty()) {
    throw base::InputError(fmt::format("error: {} has no table with rows of {} and {}\n",
                                       directory.string(), chip, stack));
  }
  const models::Machine physical = bench.machine();
  std::vector<const MeasuredOperator*> given, held_back;
  for (const Table& table : used) {
    for (const Row& row : table.given) {
      given.push_back(&row.measured);
    }
    for (const Row& row : table.held_back) {
      held_back.push_back(&row.measured);
    }
  }
  fitted.corrections = earned(fit_corrections(given, physical), held_back, physical);
  models::Machine corrected = physical;
  hardware::Corrections corrections;
  for (const hardware::CorrectionGrid& grid : fitted.corrections) {
    corrections.add(grid);
  }
  read_table(std::string(kSustained), directory, chip, stack, generic, split, versions);
  fitted.version = versions.text;
  fitted.older = fit_versions(versions.older, physical, corrections);
  corrected.calibration.corrections =
      std::make_shared<const hardware::Corrections>(std::move(corrections));
  for (const Table& table : used) {
    fitted.kinds.push_back(judged(table, generic, physical, corrected));
  }
  for (const hardware::KindError& e : generic.calibration.errors) {
    if (std::none_of(fitted.kinds.begin(), fitted.kinds.end(),
                     [&](const KindErrors& k) { return k.kind == e.kind; })) {
      fitted.others.push_back(e);
    }
  }
  return fitted;
}

}  // namespace roofcast::calibrate
