// SPDX-License-Identifier: Apache-2.0
#include "calibrate/accuracy/architectures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/statistics/quantile.hpp"
#include "hardware/calibration.hpp"
#include "hardware/chip.hpp"

namespace roofcast::calibrate {
namespace {

constexpr double kLevel = 0.95;          // on each side
constexpr std::size_t kQuantiles = 600;  // of an architecture

// Quantiles of each series, so that all count alike; of each architecture as many.
std::vector<double> alike(std::vector<std::vector<double>> series) {
  std::vector<double> all;
  const std::size_t of_each = std::max<std::size_t>(1, kQuantiles / series.size());
  for (std::vector<double>& scores : series) {
    std::sort(scores.begin(), scores.end());
    for (std::size_t i = 0; i < of_each; ++i) {
      const double position = (static_cast<double>(i) + 0.5) / static_cast<double>(of_each) *
                              static_cast<double>(scores.size());
      all.push_back(scores[static_cast<std::size_t>(position)]);
    }
  }
  return all;
}

}  // namespace

std::vector<std::string> measured_architectures() {
  std::set<std::string> all;
  for (const std::string& id : base::catalog_ids(hardware::calibration_catalog())) {
    if (const auto dot = id.find('.'); dot != std::string::npos) {
      const base::Node chip = base::load_entry(hardware::chip_catalog(), id.substr(0, dot));
      all.insert(chip.find("architecture")->text);
    }
  }
  return {all.begin(), all.end()};
}

void ArchitectureScores::add(const std::string& unmeasured, const std::string& kind,
                             const std::string& architecture, const std::string& chip_and_stack,
                             double r, const hardware::TransferredError& e) {
  const auto score = [&](double residual, double own) {
    return std::max(0.0, (residual * residual - (1.0 - e.variance) * own * own) / e.variance);
  };
  Sides& sides = scores_[unmeasured][kind][architecture][chip_and_stack];
  sides.below.push_back(r < 0.0 ? score(r, e.own_below) : 0.0);
  sides.above.push_back(r > 0.0 ? score(r, e.own_above) : 0.0);
}

std::vector<hardware::ArchitectureSpread> ArchitectureScores::spreads() const {
  std::vector<hardware::ArchitectureSpread> all;
  for (const auto& [unmeasured, kinds] : scores_) {
    struct Estimate {
      std::string kind;
      double architectures = 0.0;
      double below = 0.0, above = 0.0;  // squares
    };
    std::vector<Estimate> estimates;
    std::vector<double> belows, aboves;
    for (const auto& [kind, architectures] : kinds) {
      std::vector<double> below, above;
      for (const auto& [architecture, series] : architectures) {
        std::vector<std::vector<double>> sides_below, sides_above;
        for (const auto& [name, sides] : series) {
          sides_below.push_back(sides.below);
          sides_above.push_back(sides.above);
        }
        const std::vector<double> b = alike(std::move(sides_below));
        const std::vector<double> a = alike(std::move(sides_above));
        below.insert(below.end(), b.begin(), b.end());
        above.insert(above.end(), a.begin(), a.end());
      }
      const double low = base::quantile(below, kLevel);
      const double high = base::quantile(above, kLevel);
      estimates.push_back({kind, static_cast<double>(architectures.size()),
                           0.75 * low + 0.25 * high, 0.25 * low + 0.75 * high});
      belows.push_back(estimates.back().below);
      aboves.push_back(estimates.back().above);
    }
    const double usual_below = base::quantile(belows, 0.5);
    const double usual_above = base::quantile(aboves, 0.5);
    for (const auto& [kind, architectures] : scores_.at(kNone)) {
      if (!kinds.contains(kind)) {
        estimates.push_back({kind, 0.0, 0.0, 0.0});
      }
    }
    for (const Estimate& e : estimates) {
      const auto shrunk = [&](double own, double usual) {
        return std::sqrt((e.architectures * own + usual) / (e.architectures + 1.0));
      };
      all.push_back(
          {unmeasured, e.kind, shrunk(e.below, usual_below), shrunk(e.above, usual_above)});
    }
  }
  return all;
}

std::string spreads_document(const hardware::Spreads& spreads) {
  std::string text =
      "# Written by scripts/accuracy. What it means: hardware/spreads.hpp.\n"
      "# `repeated`: from shapes that roofcast-bench and others measured (docs/accuracy.md).\n"
      "# `architectures`: calibrate/accuracy/architectures.hpp.\n"
      "repeated:\n";
  for (const hardware::RepeatedSpread& s : spreads.repeated) {
    text += fmt::format("  - {{kind: {}, half_width: {:.3f}}}\n", s.kind, s.half_width);
  }
  text += "architectures:\n";
  for (const hardware::ArchitectureSpread& s : spreads.architectures) {
    text += fmt::format("  - {{unmeasured: {}, kind: {}, below: {:.3f}, above: {:.3f}}}\n",
                        s.unmeasured, s.kind, s.below, s.above);
  }
  return text;
}

}  // namespace roofcast::calibrate
