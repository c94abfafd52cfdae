// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/parameter_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/document/problems.hpp"
#include "calibrate/fit/candidates.hpp"
#include "calibrate/fit/parameter_spread.hpp"
#include "calibrate/operators/predict.hpp"

namespace roofcast::calibrate {

namespace {
// Kernels split latents over all SMs, over some CTAs, or not at all.
constexpr std::string_view kLatentSplits = "attention.decode_latent_splits";
// Where the host paces most rows, half as many CTAs change nothing.
constexpr double kWideStep = 2.0;
}  // namespace

const std::vector<Stage>& stages() {
  static const std::vector<Stage> all = {
      {{"gemm"}, {"launch.", "memory.dram_efficiency", "memory.in_flight_bytes_per_sm", "gemm."}},
      {{"attention_context", "attention_generation"}, {"attention."}, {"mla_context"}},
      {{"moe"}, {"moe."}},
      {{"nccl", "custom_allreduce", "deepep_ll", "deepep_normal", "trtllm_alltoall"},
       {"launch.eager", "collective."},
       {},
       SolverOptions{}.widest_step,
       true},
      {{"mamba2", "gdn"}, {"recurrence."}},
      // vLLM's rows are launched by the host, whose time other rows tell.
      {{"mla_generation"}, {std::string(kLatentSplits)}, {}, kWideStep}};
  return all;
}

Workbench::Workbench(const sim::Platform& platform, base::Node calibration)
    : system_(platform.system), document_(std::move(calibration)) {
  corrections_ = machine().calibration.corrections;
  std::erase_if(document_.entries, [](const base::Entry& entry) {
    return entry.key == "corrections" || entry.key == "older_versions" || entry.key == "tuned";
  });
}

models::Machine Workbench::machine() const {
  base::Problems problems;
  hardware::System system = system_;
  system.calibration = {};
  base::Fields fields(document_, "calibration", problems);
  hardware::read(fields, system.calibration);
  if (corrections_ != nullptr) {
    system.calibration.corrections = corrections_;
  }
  problems.throw_if_any();
  return models::machine_of(system);
}

namespace {

// They trade against the others: the start of NCCL against the overheads of its protocols, which multiply it; the exponent
// against all; widening against the efficiency of bf16; the search for experts against what large batches lack.
constexpr std::string_view kNotFitted[] = {"collective.start_trips",    "gemm.overlap_exponent",
                                           "gemm.widened_per_sm_clock", "moe.expert_clocks",
                                           "moe.block_expert_clocks",   "moe.fp4_expert_clocks"};
constexpr double kLeastPrior = 0.05;    // of few rows: standard deviation of ln p
constexpr double kReach = 8.0;          // a parameter stays within this factor of its start,
constexpr double kReachAgain = 4.0;     // within this one where all together were not placed,
constexpr double kLatentReach = 128.0;  // and kLatentSplits within this one

std::vector<double> residuals(const Rows& rows, const models::Machine& machine) {
  std::vector<double> r;
  r.reserve(rows.size());
  for (const FitRow* row : rows) {
    r.push_back(std::log(predicted_s(row->measured, machine) / row->measured.measured_s));
  }
  return r;
}

double reach_of(const Candidate& c, bool again) {
  return c.path == kLatentSplits ? kLatentReach : again ? kReachAgain : kReach;
}

bool moves(const Candidate& c, Workbench& bench, const Rows& rows,
           const std::vector<double>& base) {
  const std::string before = bench.text(c.path);
  const double value = c.value_of(before);
  if (!(value > 0.0)) {
    return false;
  }
  bench.set(c.path, c.text_of(c.path == kLatentSplits ? value / kLatentReach : value * 0.95));
  const std::vector<double> moved = residuals(rows, bench.machine());
  bench.set(c.path, before);
  for (std::size_t i = 0; i < base.size(); ++i) {
    if (std::abs(moved[i] - base[i]) > 1e-6) {
      return true;
    }
  }
  return false;
}

double prior_of(const Candidate& c, const Search& search) {
  if (!search.known_spread) {
    return Unknown{}.prior;
  }
  for (const ParameterSpread& spread : parameter_spreads()) {
    if (spread.path == c.path) {
      return std::max(spread.deviation, kLeastPrior);
    }
  }
  return kLeastPrior;
}

enum class Placed : std::uint8_t { yes, not_apart, loosely };

struct Placing {
  std::vector<Placed> how;
  std::vector<double> uncertainty;  // FittedParameter::uncertainty
};

bool is_at_an_end(const Unknown& unknown, double value) {
  constexpr double kNear = 0.01;
  return value < unknown.least * (1.0 + kNear) || value > unknown.most * (1.0 - kNear);
}

// Those that the rows do not place apart from where they started. Where these are all, the one that they place most
// loosely: without it they may place the others. Where they are none, the loosest is fixed. `again`: none was placed
// before; what ends at the end of its reach is then not placed.
Placing placed(const std::vector<Unknown>& unknowns, const Solution& solution, bool one_by_one,
               bool& again) {
  Placing all;
  std::size_t least = 0;
  double least_apart = std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < unknowns.size(); ++j) {
    const double value = solution.values[j];
    const double start = unknowns[j].start;
    const double known = solution.uncertainty[j];
    const bool apart = std::abs(std::log(value / start)) > known;
    all.how.push_back(apart && !(again && is_at_an_end(unknowns[j], value)) ? Placed::yes
                                                                            : Placed::not_apart);
    all.uncertainty.push_back(std::expm1(known) * value / std::max(value, start));
    if (const double ratio = std::abs(std::log(value / start)) / known; ratio < least_apart) {
      least_apart = ratio;
      least = j;
    }
  }
  const auto loosest =
      static_cast<std::size_t>(std::ranges::max_element(all.uncertainty) - all.uncertainty.begin());
  const auto unplaced = static_cast<std::size_t>(std::ranges::count(all.how, Placed::not_apart));
  if (unplaced == unknowns.size()) {
    std::ranges::fill(all.how, Placed::yes);
    all.how[loosest] = Placed::not_apart;
    again = true;
  } else if (unplaced == 0 && all.uncertainty[loosest] > kLoose) {
    all.how[loosest] = Placed::loosely;
  } else if (one_by_one && unplaced > 1) {
    std::ranges::replace(all.how, Placed::not_apart, Placed::yes);
    all.how[least] = Placed::not_apart;
  }
  return all;
}

}  // namespace

Found fit_stage(const Stage& stage, const Rows& rows, Workbench& bench, const Search& search) {
  std::vector<Candidate> candidates;
  for (const Candidate& c : all_candidates()) {
    const bool of_stage =
        std::any_of(stage.paths.begin(), stage.paths.end(),
                    [&](const std::string& path) { return c.path.starts_with(path); });
    if (of_stage && std::ranges::find(kNotFitted, c.path) == std::end(kNotFitted) &&
        bench.has(c.path) &&
        std::find(search.fixed.begin(), search.fixed.end(), c.path) == search.fixed.end()) {
      candidates.push_back(c);
    }
  }
  const std::vector<double> start = residuals(rows, bench.machine());
  std::erase_if(candidates, [&](const Candidate& c) { return !moves(c, bench, rows, start); });
  // First with every candidate, then with those that the rows place, until they place all.
  SolverOptions solver = search.solver;
  solver.widest_step = stage.widest_step;
  Found found;
  bool again = false;
  while (!candidates.empty()) {
    std::vector<Unknown> unknowns;
    std::vector<std::string> before;
    for (const Candidate& c : candidates) {
      before.push_back(bench.text(c.path));
      const double value = c.value_of(before.back());
      const double reach = reach_of(c, again);
      unknowns.push_back({value, std::max({c.key.range.least, value / reach, value * 1e-3}),
                          std::min(c.key.range.most, value * reach), prior_of(c, search)});
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
        solver);
    const auto [how, uncertainty] = placed(unknowns, solution, stage.one_by_one, again);
    std::vector<Candidate> kept;
    for (std::size_t j = 0; j < candidates.size(); ++j) {
      bench.set(candidates[j].path, before[j]);
      if (how[j] == Placed::yes) {
        kept.push_back(candidates[j]);
      } else if (how[j] == Placed::not_apart) {
        found.stay.push_back({candidates[j].path, before[j], before[j], uncertainty[j]});
      } else {
        bench.set(candidates[j].path, candidates[j].text_of(solution.values[j]));
        found.placed.push_back(
            {candidates[j].path, before[j], bench.text(candidates[j].path), uncertainty[j], true});
      }
    }
    if (kept.size() == candidates.size()) {
      put(solution.values);
      for (std::size_t j = 0; j < candidates.size(); ++j) {
        found.placed.push_back(
            {candidates[j].path, before[j], bench.text(candidates[j].path), uncertainty[j]});
      }
      return found;
    }
    candidates = std::move(kept);
  }
  return found;
}

}  // namespace roofcast::calibrate
