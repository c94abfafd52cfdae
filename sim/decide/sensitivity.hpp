// SPDX-License-Identifier: Apache-2.0
//
// What one more percent of each knob does to a metric, and what would be left if a resource were free.
//
//   elasticity = ∂ ln metric / ∂ ln knob ≈ ln(m₊/m₋) / ln(k₊/k₋),   k± = k · step^±1
//
// A system with all rates × λ and all latencies / λ is the same in another unit of time, so that of a time
//
//   Σ elasticities to rates − Σ elasticities to latencies = −1
//
// exactly in the limit of small steps, where no other time matters (arrivals, tools, people). Estimates are not smooth
// to the last digit: batches are whole sequences, a batch is solved for to a thousandth, tiles and algorithms change.
// A jump of 0.3 % is an error of 0.3 % / 2 ln(step), 0.016 with a step of 1.1, which is why it is not smaller; the
// difference to the elasticity of a step of √step tells how much there is of that. Whole numbers are set to whole
// numbers, by one at least. Where one side does not fit, or is refused, the other and the middle are taken.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "sim/decide/overridden_scenario.hpp"
#include "sim/decide/quantity_knobs.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::sim {

struct Elasticity {
  double value;      // NaN where there is none
  double half_step;  // the same of a step of √step; NaN of whole numbers
  double improved;   // the metric with the knob better by the gain
};

struct KnobElasticities {
  QuantityKnob knob;
  std::vector<Elasticity> of;  // each metric
  std::string note;            // "one-sided", or why there is none
};

struct StepAndGain {
  double step = 1.1;
  double gain = 1.2;  // times a rate, a size, a number; a latency is divided by it
};

std::vector<KnobElasticities> elasticities(const OverriddenScenario& scenario,
                                           std::span<const QuantityKnob> knobs,
                                           std::span<const Metric* const> metrics,
                                           StepAndGain options = {});

// Σ over rates − Σ over latencies of one metric.
double sum_over_rates(std::span<const KnobElasticities> all, std::size_t metric);

// A metric that is a time, with resources free (rates × 10⁹, latencies / 10⁹): each alone, and one after the other,
// the one that saves most first. What two resources hide of each other is saved only with both.
struct FreedResource {
  Resource resource;
  double alone;     // the metric with it alone free
  double in_order;  // with it and all before it free
};
struct Waterfall {
  double now = 0.0;
  std::vector<FreedResource> steps;  // in order; the last one's in_order is what is left
};
Waterfall waterfall(const OverriddenScenario& scenario, std::span<const QuantityKnob> knobs,
                    const Metric& metric);

}  // namespace roofcast::sim
