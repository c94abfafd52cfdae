// SPDX-License-Identifier: Apache-2.0
//
// Fits the parameters that time some kinds of operators to their rows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/document/node.hpp"
#include "calibrate/fit/fit_tables.hpp"
#include "calibrate/fit/least_squares.hpp"
#include "models/machine.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::calibrate {

struct FittedParameter {
  std::string path;          // "gemm.wave_tail"
  std::string before, text;  // as YAML values
  // ± with 90 % confidence, as a share of the value, or of what it was before if that is more: rows that say that it is next to
  // nothing place it too. Infinite: the rows say less than what was known.
  double uncertainty = 0;
  bool fixed = false;  // at what was found, since the rows place it no better than kLoose
};
inline constexpr double kLoose = 0.5;

// What is fitted together, by the beginnings of paths: later stages take what earlier ones fitted. The
// rates of the L2 and the latency of the DRAM are the chip's own, measured, and not fitted.
struct Stage {
  std::vector<std::string> kinds;
  std::vector<std::string> paths;
  std::vector<std::string> corrected =
      {};                    // kinds of other kernels: only corrections are fitted to them
  double widest_step = 0.7;  // SolverOptions::widest_step
  // Of those that the rows do not place only the least placed is fixed before the others are sought again: two that trade
  // against each other, as the overhead and the hops of a protocol, would both be.
  bool one_by_one = false;
};
const std::vector<Stage>& stages();

// The calibration under way: its document, and the machine it makes of the system.
class Workbench {
 public:
  Workbench(const sim::Platform& platform, base::Node calibration);

  models::Machine machine() const;
  const std::string& text(const std::string& path) const { return document_.find_path(path)->text; }
  void set(const std::string& path, const std::string& text) {
    document_.find_path(path)->text = text;
  }
  bool has(const std::string& path) const {
    const base::Node* node = document_.find_path(path);
    return node != nullptr && node->is_scalar();
  }

 private:
  hardware::System system_;
  base::Node document_;
  std::shared_ptr<const hardware::Corrections>
      corrections_;  // of the document, which are read once
};

using Rows = std::vector<const FitRow*>;

// How the parameters of a stage are sought.
struct Search {
  std::vector<std::string> fixed;
  SolverOptions solver;
  bool known_spread = false;  // priors are those of the shipped calibrations
};

struct Found {
  std::vector<FittedParameter> placed;
  std::vector<FittedParameter> stay;
};

// Leaves the bench with what it found.
Found fit_stage(const Stage& stage, const Rows& rows, Workbench& bench, const Search& search);

}  // namespace roofcast::calibrate
