// SPDX-License-Identifier: Apache-2.0
#include "calibrate/operators/operator_settings.hpp"

#include <array>
#include <utility>

#include "base/document/fields.hpp"

namespace roofcast::calibrate {
namespace {

using workloads::Gemm;

// What rules ask of a shape. Few answers, so that rows share them.
struct ShapeFact {
  std::string_view name;
  bool (*of)(const Gemm&);
};
constexpr ShapeFact kShapeFacts[] = {
    {"m_below_32", [](const Gemm& gemm) { return gemm.m < 32; }},
    {"m_multiple_of_4", [](const Gemm& gemm) { return gemm.m % 4 == 0; }},
    {"n_multiple_of_64", [](const Gemm& gemm) { return gemm.n % 64 == 0; }},
    {"k_multiple_of_128", [](const Gemm& gemm) { return gemm.k % 128 == 0; }},
};

OperatorSettings read_settings(base::Fields& run) {
  OperatorSettings settings;
  run.take("kernel");  // only rules ask for it
  run.integer("weight_copies", settings.weight_copies, base::at_least_one, base::optional);
  run.number("launches", settings.host.launches, base::not_negative, base::optional);
  run.number("packing", settings.host.packing, base::not_negative, base::optional);
  return settings;
}

}  // namespace

const OperatorSettings& OperatorConventions::of(const MeasuredKind& measured) {
  unsigned shape = 0;  // a bit for each fact
  for (const ShapeFact& fact : kShapeFacts) {
    shape = 2 * shape + (measured.gemm != nullptr && fact.of(*measured.gemm) ? 1 : 0);
  }
  const auto key =
      std::tuple(measured.kind, measured.stack, measured.format, measured.kernel, shape);
  if (const auto found = known_.find(key); found != known_.end()) {
    return found->second;
  }
  Facts facts;
  facts.set("kind", measured.kind);
  facts.set("table.fw", measured.stack);
  facts.set("format", measured.format);
  facts.set("kernel", measured.kernel);
  for (const ShapeFact& fact : kShapeFacts) {
    facts.set(fact.name, measured.gemm == nullptr ? "" : fact.of(*measured.gemm) ? "yes" : "no");
  }
  return known_.emplace(key, conventions_.of(facts)).first->second;
}

OperatorConventions::OperatorConventions() : conventions_("operator_rows", read_settings) {}

}  // namespace roofcast::calibrate
