// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/fit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/nearest.hpp"
#include "base/statistics/quantile.hpp"
#include "calibrate/fit/candidates.hpp"
#include "calibrate/fit/correction_fit.hpp"
#include "calibrate/operators/predict.hpp"
#include "calibrate/platforms/chip_platforms.hpp"

namespace roofcast::calibrate {
namespace {

constexpr double kHuber = 0.05;
constexpr std::size_t kFolds = 10;

std::vector<Pair> pairs(const std::vector<FitRow>& rows, const models::Machine& machine) {
  std::vector<Pair> all;
  for (const FitRow& row : rows) {
    all.push_back({row.measured.measured_s, predicted_s(row.measured, machine)});
  }
  return all;
}

// `rows`: those of the pairs, where some may be missed.
void set_errors(KindErrors& errors, const std::vector<FitRow>& rows) {
  errors.after = summarise(errors.pairs);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < errors.pairs.size(); ++i) {
    if (rows.empty() || !rows[i].missed) {
      ratios.push_back(errors.pairs[i].measured / errors.pairs[i].predicted);
    }
  }
  errors.low = base::next_quantile(ratios, 0.05);
  errors.high = base::next_quantile(ratios, 0.95);
}

KindErrors judged(const FitTable& table, const models::Machine& generic,
                  const models::Machine& physical, const models::Machine& corrected) {
  KindErrors errors;
  errors.kind = table.kind;
  errors.given = table.given.size();
  errors.refused = table.refused;
  errors.before = summarise(pairs(table.held_back, generic));
  errors.physical = summarise(pairs(table.held_back, physical));
  errors.pairs = pairs(table.held_back, corrected);
  set_errors(errors, table.held_back);
  return errors;
}

// Stages in their order, with the tables of each: those that parameters are fitted to, and those of other kernels.
struct Work {
  const Stage* stage = nullptr;
  std::vector<FitTable> fitted;
  std::vector<FitTable> corrected;
};

std::vector<Work> work_of(FitTables& tables) {
  std::vector<Work> all;
  for (const Stage& stage : stages()) {
    Work& work = all.emplace_back();
    work.stage = &stage;
    for (const std::string& kind : stage.kinds) {
      if (auto table = tables.read(kind)) {
        work.fitted.push_back(std::move(*table));
      }
    }
    for (const std::string& kind : stage.corrected) {
      if (auto table = tables.read(kind)) {
        work.corrected.push_back(std::move(*table));
      }
    }
  }
  return all;
}

Rows rows_of(const std::vector<FitTable>& tables) {
  Rows rows;
  for (const FitTable& table : tables) {
    rows.insert(rows.end(), table.fitted.begin(), table.fitted.end());
  }
  return rows;
}

// What a stage has placed is not sought again.
void keep(const Found& found, Search& search, FittedCalibration& fitted) {
  for (const FittedParameter& p : found.placed) {
    search.fixed.push_back(p.path);
    fitted.parameters.push_back(p);
    std::erase_if(fitted.stay, [&](const FittedParameter& stay) { return stay.path == p.path; });
  }
  fitted.stay.insert(fitted.stay.end(), found.stay.begin(), found.stay.end());
}

void add_kind_errors(const models::Machine& start, FittedCalibration& fitted) {
  for (const hardware::KindError& e : start.calibration.errors) {
    if (std::none_of(fitted.kinds.begin(), fitted.kinds.end(),
                     [&](const KindErrors& k) { return k.kind == e.kind; })) {
      fitted.others.push_back(e);
    }
  }
}

// From the grid of the kernel that was not tuned to that of the one that is like another stack's.
void tune_in_part(const std::vector<hardware::CorrectionGrid>& untuned,
                  hardware::CorrectionGrid& tuned) {
  for (const hardware::CorrectionGrid& from : untuned) {
    if (from.op == tuned.op && from.of == tuned.of && from.values.size() == tuned.values.size()) {
      std::transform(from.values.begin(), from.values.end(), tuned.values.begin(),
                     tuned.values.begin(),
                     [](float a, float b) { return a + kTunedShare * (b - a); });
    }
  }
}

// ---- Many rows: from generic parameters, with corrections ---------------------------------------

void fit_many(const Workbench& start, std::vector<Work>& work, FitTables& tables,
              const std::vector<std::string>& fixed, FittedCalibration& fitted) {
  Workbench bench = start;
  const models::Machine generic = bench.machine();
  Search search{fixed, {}, false};
  search.solver.huber = kHuber;
  std::vector<const FitTable*> used;
  for (Work& each : work) {
    for (std::vector<FitTable>* of : {&each.fitted, &each.corrected}) {
      std::erase_if(*of, [](const FitTable& t) { return t.given.empty() || t.held_back.empty(); });
    }
    keep(fit_stage(*each.stage, rows_of(each.fitted), bench, search), search, fitted);
    for (const std::vector<FitTable>* of : {&each.fitted, &each.corrected}) {
      for (const FitTable& table : *of) {
        used.push_back(&table);
      }
    }
  }
  const models::Machine physical = bench.machine();
  std::vector<const MeasuredOperator*> given, held_back;
  for (const FitTable* table : used) {
    for (const FitRow& row : table->given) {
      if (!row.missed) {
        given.push_back(&row.measured);
      }
    }
    for (const FitRow& row : table->held_back) {
      if (!row.missed) {
        held_back.push_back(&row.measured);
      }
    }
  }
  fitted.corrections = earned(fit_corrections(given, physical), held_back, physical);
  models::Machine corrected = physical;
  hardware::Corrections corrections;
  for (const hardware::CorrectionGrid& grid : fitted.corrections) {
    corrections.add(grid);
  }
  tables.read(std::string(kSustained));
  fitted.version = tables.version();
  fitted.older = fit_versions(tables.older(), physical, corrections);
  if (!tables.tuned().given.empty()) {
    fitted.tuned =
        fit_versions({{base::Version{{}}, tables.tuned()}}, physical, corrections).front();
    for (hardware::CorrectionGrid& tuned : fitted.tuned->corrections) {
      tune_in_part(fitted.corrections, tuned);
    }
  }
  corrected.calibration.corrections =
      std::make_shared<const hardware::Corrections>(std::move(corrections));
  for (const FitTable* table : used) {
    fitted.kinds.push_back(judged(*table, generic, physical, corrected));
  }
  add_kind_errors(generic, fitted);
}

// ---- Few rows: from the nearest chip's parameters, with its corrections -------------------------

const hardware::KindError* error_of(const models::Machine& machine, std::string_view kind) {
  for (const hardware::KindError& e : machine.calibration.errors) {
    if (e.kind == kind) {
      return &e;
    }
  }
  return nullptr;
}

// Predicts every row of the tables by a fit to the others. Rows of one fold are left out together.
std::vector<std::vector<Pair>> left_out(const Stage& stage, const std::vector<FitTable>& tables,
                                        const Workbench& start, const Search& search) {
  std::vector<std::vector<Pair>> pairs(tables.size());
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    Rows others;
    std::vector<std::vector<const FitRow*>> left(tables.size());
    for (std::size_t t = 0; t < tables.size(); ++t) {
      for (std::size_t i = 0; i < tables[t].given.size(); ++i) {
        (i % kFolds == fold ? left[t] : others).push_back(&tables[t].given[i]);
      }
    }
    if (std::all_of(left.begin(), left.end(), [](const auto& of) { return of.empty(); })) {
      continue;
    }
    Workbench bench = start;
    fit_stage(stage, others, bench, search);
    const models::Machine machine = bench.machine();
    for (std::size_t t = 0; t < tables.size(); ++t) {
      for (const FitRow* row : left[t]) {
        pairs[t].push_back({row->measured.measured_s, predicted_s(row->measured, machine)});
      }
    }
  }
  return pairs;
}

// All rows are fitted to.
void give_all(FitTable& table) {
  std::move(table.held_back.begin(), table.held_back.end(), std::back_inserter(table.given));
  table.held_back.clear();
  std::stable_sort(table.given.begin(), table.given.end(),
                   [](const FitRow& a, const FitRow& b) { return a.draw < b.draw; });
  table.fitted.clear();
  for (const FitRow& row : table.given) {
    if (!row.measured.untuned) {
      table.fitted.push_back(&row);
    }
  }
}

// Digits as a fit writes them: those of transferred parameters are many.
void shorten(FittedParameter& p) {
  for (const Candidate& c : all_candidates()) {
    if (c.path == p.path) {
      p.before = c.text_of(c.value_of(p.before));
    }
  }
}

void fit_few(const Workbench& start, std::vector<Work>& work, const FitTables& tables,
             const std::vector<std::string>& fixed, FittedCalibration& fitted) {
  const models::Machine before = start.machine();
  fitted.start_name = before.calibration.name;
  fitted.start_provenance = hardware::name(before.calibration.provenance);
  Workbench bench = start;
  std::size_t older = 0;
  for (const auto& [version, rows] : tables.older()) {
    older += rows.given.size() + rows.held_back.size();
  }
  Search search{fixed, {}, true};
  for (Work& each : work) {
    std::move(each.corrected.begin(), each.corrected.end(), std::back_inserter(each.fitted));
    std::for_each(each.fitted.begin(), each.fitted.end(), give_all);
    std::erase_if(each.fitted, [](const FitTable& table) { return table.given.empty(); });
    search.solver = {};
    for (const FitTable& table : each.fitted) {
      const hardware::KindError* e = error_of(before, table.kind);
      search.solver.noise = std::max(search.solver.noise, e == nullptr ? 0.0 : 1.4826 * e->median);
    }
    search.solver.huber = search.solver.least_spread = search.solver.noise;
    const std::vector<std::vector<Pair>> unseen = left_out(*each.stage, each.fitted, bench, search);
    const Found found = fit_stage(*each.stage, rows_of(each.fitted), bench, search);
    keep(found, search, fitted);
    const models::Machine after = bench.machine();
    for (std::size_t t = 0; t < each.fitted.size(); ++t) {
      const FitTable& table = each.fitted[t];
      KindErrors errors;
      errors.kind = table.kind;
      errors.given = table.given.size();
      errors.refused = table.refused;
      if (older > 0) {
        errors.refused["of an older version"] = std::exchange(older, 0);
      }
      errors.before = summarise(pairs(table.given, before));
      errors.physical = summarise(pairs(table.given, after));
      errors.pairs = unseen[t];
      set_errors(errors, {});
      if (const hardware::KindError* e = error_of(before, table.kind)) {
        errors.low = std::min(errors.low, e->low);
        errors.high = std::max(errors.high, e->high);
      }
      fitted.kinds.push_back(std::move(errors));
    }
  }
  std::for_each(fitted.parameters.begin(), fitted.parameters.end(), shorten);
  std::for_each(fitted.stay.begin(), fitted.stay.end(), shorten);
  add_kind_errors(before, fitted);
}

std::size_t count(const std::vector<Work>& work, const OlderRows& older) {
  std::size_t rows = 0;
  for (const Work& each : work) {
    for (const std::vector<FitTable>* of : {&each.fitted, &each.corrected}) {
      for (const FitTable& table : *of) {
        rows += table.given.size() + table.held_back.size();
      }
    }
  }
  for (const auto& [version, of] : older) {
    rows += of.given.size() + of.held_back.size();
  }
  return rows;
}

void check_fixed(const std::vector<std::string>& fixed) {
  std::vector<std::string> known;
  for (const Candidate& c : all_candidates()) {
    known.push_back(c.path);
  }
  for (const std::string& path : fixed) {
    if (std::find(known.begin(), known.end(), path) == known.end()) {
      const auto nearest = base::nearest_name(path, known);
      throw base::InputError(
          fmt::format("error: no parameter {}{}\n", path,
                      nearest ? base::did_you_mean(std::vector{*nearest}) : std::string()));
    }
  }
}

}  // namespace

FittedCalibration fit_calibration(const FitRequest& request) {
  check_fixed(request.fixed);
  ChipPlatforms platforms("generic");
  const sim::Platform* platform = platforms.find(request.chip, request.stack);
  if (platform == nullptr) {
    throw base::InputError(
        fmt::format("error: no system with the chip \"{}\" is known\n", request.chip));
  }
  FittedCalibration fitted;
  fitted.chip = platform->system.chip.id;
  fitted.chip_name = platform->system.chip.name;
  fitted.stack = request.stack;
  base::Node document = base::load_entry(hardware::calibration_catalog(), "generic");
  document["stack"] = base::scalar_node(fitted.stack, document.place);
  const Workbench generic(*platform, std::move(document));
  const models::Machine machine = generic.machine();
  FitTables tables(request.sources, fitted.chip, fitted.stack, machine, request.split);
  std::vector<Work> work = work_of(tables);
  const std::size_t rows = count(work, tables.older());
  if (rows > 0 && rows < kFewRows) {
    const NearestCalibration nearest = nearest_of(fitted.chip, fitted.stack);
    fitted.start = nearest.reference;
    fit_few({*platform, nearest.whole}, work, tables, request.fixed, fitted);
  } else {
    fit_many(generic, work, tables, request.fixed, fitted);
  }
  if (fitted.kinds.empty()) {
    std::vector<std::string> places;
    for (const std::filesystem::path& place : request.sources.own) {
      places.push_back(place.string());
    }
    if (!request.sources.shipped.empty()) {
      places.push_back(request.sources.shipped.string());
    }
    throw base::InputError(fmt::format("error: {} has no table with rows of {} and {}\n",
                                       fmt::join(places, ", "), fitted.chip, fitted.stack));
  }
  fitted.rows = tables.rows();
  return fitted;
}

}  // namespace roofcast::calibrate
