// SPDX-License-Identifier: Apache-2.0
#include "hardware/known_architectures.hpp"

#include <cmath>
#include <map>
#include <span>

#include "base/document/fields.hpp"
#include "base/document/problems.hpp"

namespace roofcast::hardware {

std::span<const base::CatalogEntry> embedded_architectures();

base::Catalog architecture_catalog() {
  return {"architectures", "architecture", embedded_architectures()};
}

namespace {

using base::MathType;

std::map<std::string, ChipArchitecture> all_architectures() {
  std::map<std::string, ChipArchitecture> known;
  for (const std::string& id : base::catalog_ids(architecture_catalog())) {
    const base::Node document = base::load_entry(architecture_catalog(), id);
    base::Problems problems;
    base::Fields f(document, "", problems);
    ChipArchitecture& architecture = known[id];
    std::string source;
    f.text("name", architecture.name);
    architecture.generation = std::nan("");
    f.number("generation", architecture.generation, base::any_value, base::optional);
    f.numbers("flop_per_sm_clock", architecture.widths, base::positive, base::optional);
    f.group(
        "formats",
        [&](base::Fields& g) {
          for (int i = 1; i < base::kMathTypes; ++i) {
            g.number(base::name(static_cast<MathType>(i)),
                     architecture.formats[static_cast<std::size_t>(i)], base::positive,
                     base::optional);
          }
        },
        base::optional);
    f.numbers("vector_flop_per_sm_clock", architecture.vector_widths, base::positive,
              base::optional);
    f.each(
        "main_loops",
        [&](base::Fields& g) {
          MainLoop loop;
          g.text("instruction", loop.instruction, base::optional);
          g.quantity("depth", loop.depth);
          g.number("stages", loop.stages, base::at_least_one);
          g.number("usable_share", loop.usable_share, {0.0, 1.0, true});
          architecture.main_loops.push_back(std::move(loop));
        },
        base::optional);
    f.text("source", source);
    f.end();
    problems.throw_if_any();
  }
  return known;
}

}  // namespace

const ChipArchitecture* architecture_called(const std::string& id) {
  static const std::map<std::string, ChipArchitecture> all = all_architectures();
  const auto found = all.find(id);
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace roofcast::hardware
