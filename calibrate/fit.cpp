// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "base/schema.hpp"
#include "calibrate/chip_platforms.hpp"
#include "calibrate/least_squares.hpp"
#include "calibrate/predict.hpp"

namespace roofcast::calibrate {
namespace {

using base::Node;

constexpr std::size_t kRowsOfAFormat = 400;
constexpr double kReach = 8.0;  // a parameter stays within this factor of its start

// What is fitted together: later stages take the groups of earlier ones as they are.
struct Stage {
  std::vector<std::string> kinds;
  std::vector<std::string> groups;
};
const std::vector<Stage>& stages() {
  static const std::vector<Stage> all = {
      {{"gemm"}, {"launch", "memory", "gemm"}},
      {{"attention_context", "attention_generation", "mla_context", "mla_generation"},
       {"attention"}},
      {{"moe"}, {"moe"}},
      {{"nccl", "custom_allreduce"}, {"collective"}},
      {{"mamba2", "gdn"}, {"recurrence"}}};
  return all;
}

struct Row {
  MeasuredOperator measured;
  std::uint64_t draw = 0;
  bool held_back() const { return draw % 5 == 0; }
};

// FNV-1a: the same everywhere, unlike std::hash.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  return hash ^ (hash >> 29);
}

struct Table {
  std::string kind;
  std::vector<Row> held_back;
  std::vector<Row> fitted;
  std::map<std::string, std::size_t> refused;
};

// The draw decides; each format gives at most kRowsOfAFormat.
std::vector<Row> thinned(std::vector<Row> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tie(a.measured.format, a.draw) < std::tie(b.measured.format, b.draw);
  });
  std::vector<Row> kept;
  std::size_t of_format = 0;
  for (Row& row : rows) {
    of_format = kept.empty() || kept.back().measured.format != row.measured.format ? 0 : of_format;
    if (of_format++ < kRowsOfAFormat) {
      kept.push_back(std::move(row));
    }
  }
  return kept;
}

std::optional<Table> read_table(const std::string& kind, const std::filesystem::path& directory,
                                const std::string& chip, const std::string& stack,
                                const models::Machine& machine) {
  const auto known = operator_kinds();
  std::filesystem::path file = directory / (kind + ".csv");
  if (!std::filesystem::exists(file)) {
    file += ".gz";
  }
  if (std::find(known.begin(), known.end(), kind) == known.end() ||
      !std::filesystem::exists(file)) {
    return std::nullopt;
  }
  const base::CsvTable csv = base::read_csv(file);
  const OperatorRows rows(kind, csv);
  Table table{kind, {}, {}, {}};
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    Row row{rows.row(i), 0};
    // The library's collectives are the same under every stack.
    if (row.measured.chip != chip ||
        (row.measured.stack != stack && row.measured.stack != "nccl")) {
      continue;
    }
    if (const std::string reason = reason_against(row.measured, machine); !reason.empty()) {
      ++table.refused[reason];
      continue;
    }
    row.draw = hash_of(rows.shape(i));
    (row.held_back() ? table.held_back : table.fitted).push_back(std::move(row));
  }
  table.fitted = thinned(std::move(table.fitted));
  return table.fitted.empty() || table.held_back.empty() ? std::nullopt : std::optional(table);
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

std::vector<const Row*> pointers(const std::vector<Row>& rows) {
  std::vector<const Row*> all;
  for (const Row& row : rows) {
    all.push_back(&row);
  }
  return all;
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
    const auto more = pointers(table.fitted);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  std::vector<Candidate> candidates;
  for (const base::Key& group : schema.below) {
    if (std::find(stage.groups.begin(), stage.groups.end(), group.name) != stage.groups.end()) {
      collect(group, group.name, bench, candidates);
    }
  }
  const std::vector<double> start = residuals(rows, bench.machine());
  std::erase_if(candidates, [&](const Candidate& c) { return !moves(c, bench, rows, start); });
  std::vector<Unknown> unknowns;
  for (const Candidate& c : candidates) {
    const double value = c.value_of(bench.text(c.path));
    unknowns.push_back({value, std::max(c.key.range.least, value / kReach),
                        std::min(c.key.range.most, value * kReach)});
    unknowns.back().least = std::max(unknowns.back().least, value * 1e-3);
  }
  const auto put = [&](std::span<const double> values) {
    for (std::size_t j = 0; j < candidates.size(); ++j) {
      bench.set(candidates[j].path, candidates[j].text_of(values[j]));
    }
  };
  std::vector<std::string> before;
  for (const Candidate& c : candidates) {
    before.push_back(bench.text(c.path));
  }
  const Solution solution = solve(unknowns, [&](std::span<const double> values) {
    put(values);
    return residuals(rows, bench.machine());
  });
  put(solution.values);
  for (std::size_t j = 0; j < candidates.size(); ++j) {
    if (std::isfinite(solution.uncertainty[j])) {
      parameters.push_back(
          {candidates[j].path, before[j], bench.text(candidates[j].path), solution.uncertainty[j]});
    } else {
      bench.set(candidates[j].path, before[j]);  // the rows do not tell
    }
  }
}

}  // namespace

FittedCalibration fit_calibration(const std::string& chip, const std::string& stack,
                                  const std::filesystem::path& directory) {
  ChipPlatforms platforms;
  const sim::Platform* platform = platforms.find(chip);
  if (platform == nullptr) {
    throw base::InputError(fmt::format("error: no system with the chip \"{}\" is known\n", chip));
  }
  FittedCalibration fitted{chip, platform->system.chip.name, stack, {}, {}};
  Workbench bench(*platform, base::load_entry(hardware::calibration_catalog(), "generic"));
  const base::Key schema = base::describe<hardware::Calibration>();
  const models::Machine generic = bench.machine();
  std::vector<std::vector<Table>> used;
  for (const Stage& stage : stages()) {
    std::vector<Table> tables;
    for (const std::string& kind : stage.kinds) {
      if (auto table = read_table(kind, directory, chip, stack, generic)) {
        tables.push_back(std::move(*table));
      }
    }
    if (!tables.empty()) {
      fit_stage(stage, tables, schema, bench, fitted.parameters);
      used.push_back(std::move(tables));
    }
  }
  if (used.empty()) {
    throw base::InputError(fmt::format("error: {} has no table with rows of {} and {}\n",
                                       directory.string(), chip, stack));
  }
  const models::Machine final_machine = bench.machine();
  for (const std::vector<Table>& tables : used) {
    for (const Table& table : tables) {
      KindErrors errors{table.kind, table.fitted.size(), {}, {}, 0, 0, table.refused};
      errors.before = summarise(pairs(table.held_back, generic));
      const std::vector<Pair> after = pairs(table.held_back, final_machine);
      errors.after = summarise(after);
      std::vector<double> ratios;
      for (const Pair& pair : after) {
        ratios.push_back(pair.measured / pair.predicted);
      }
      errors.low = quantile(ratios, 0.05);
      errors.high = quantile(ratios, 0.95);
      fitted.kinds.push_back(std::move(errors));
    }
  }
  return fitted;
}

std::string overlay(const FittedCalibration& fitted, const std::string& source) {
  std::string text = fmt::format(
      "# Written by `roofcast calibrate fit`: what differs from generic.\n"
      "base: generic\n"
      "name: {} with {}, fitted\n"
      "provenance: calibrated\n",
      fitted.chip_name, fitted.stack);
  std::string group;
  const auto close = [&] {
    if (!group.empty()) {
      text += fmt::format("{}.source: \"{}; see errors\"\n", group, source);
    }
  };
  for (const FittedParameter& p : fitted.parameters) {
    const std::string own = p.path.substr(0, p.path.find('.'));
    if (own != group) {
      close();
      group = own;
    }
    text += fmt::format("{}: {}  # ± {:.2g} %, generic {}\n", p.path, p.text,
                        100.0 * std::expm1(p.uncertainty), p.before);
  }
  close();
  text += "errors:\n";
  for (const KindErrors& e : fitted.kinds) {
    std::size_t refused = 0;
    for (const auto& [reason, count] : e.refused) {
      refused += count;
    }
    text += fmt::format(
        "  - {{kind: {}, rows: {}, refused: {}, held_back: {}, median: {:.3f}, p90: {:.3f}, bias: "
        "{:.3f}, low: {:.3f}, high: {:.3f}}}  # generic median {:.3f}\n",
        e.kind, e.fitted, refused, e.after.rows, e.after.median, e.after.p90, e.after.bias, e.low,
        e.high, e.before.median);
  }
  return text;
}

}  // namespace roofcast::calibrate
