// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/references.hpp"

#include <fmt/format.h>

#include "hardware/system.hpp"
#include "sim/scenario/section_readers.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_sim_derive {

using Catch::Matchers::ContainsSubstring;

namespace {

// A scenario's system section out of a document for it.
base::Node loaded(const std::string& system) {
  base::Problems problems;
  base::Node document = base::parse_document("test", "system: " + system);
  sim::load_references(document, problems);
  problems.throw_if_any();
  return document;
}

hardware::System system_of(const std::string& text) {
  base::Problems problems;
  const base::Node document = loaded(text);
  hardware::System system = sim::read_platform(document, problems).system;
  problems.throw_if_any();
  return system;
}

}  // namespace

TEST_CASE("A part derived without a change is its base", "[unit]") {
  for (const std::string& id : base::catalog_ids(hardware::system_catalog())) {
    INFO(id);
    CHECK(base::to_yaml(loaded(fmt::format("{{base: {}}}", id))) == base::to_yaml(loaded(id)));
  }
}

TEST_CASE("Changes of a derived part reach through its references and leave the rest", "[unit]") {
  const hardware::System base = system_of("hgx_h200");
  const hardware::System derived = system_of(
      "{base: hgx_h200, chip.hbm.bandwidth: x2, chip: {tensor: {bf16: 1 PFLOPS}}, chips: 4, "
      "scale_up.domain: 4, name: four}");
  CHECK(derived.chip.bandwidth.si() == Approx(2.0 * base.chip.bandwidth.si()));
  CHECK(derived.chip.peak(base::MathType::bf16).si() == Approx(1e15));
  CHECK(derived.chip.peak(base::MathType::fp8) == base.chip.peak(base::MathType::fp8));
  CHECK(derived.chip.capacity == base.chip.capacity);
  CHECK(derived.chips == 4);
  CHECK(derived.name == "four");
}

TEST_CASE("Derivations of derivations multiply", "[unit]") {
  const hardware::System base = system_of("hgx_h100");
  const hardware::System derived = system_of(
      "{base: hgx_h100, chip: {base: h100_sxm, hbm.capacity: x2}, chip.hbm.capacity: x1.5}");
  CHECK(derived.chip.capacity.si() == Approx(3.0 * base.chip.capacity.si()));
}

TEST_CASE("A derived part keeps its base's name and sources unless it gives its own", "[unit]") {
  const hardware::System derived = system_of("{base: hgx_h200, source: what if}");
  CHECK(derived.name == system_of("hgx_h200").name);
}

TEST_CASE("A wrong base or change is told where it stands", "[unit]") {
  CHECK_THROWS_WITH(loaded("{base: hgx_b20O}"), ContainsSubstring("did you mean \"hgx_b200\"?"));
  CHECK_THROWS_WITH(loaded("{base: [a]}"), ContainsSubstring("expects the id or path of a system"));
  CHECK_THROWS_WITH(
      loaded("{base: hgx_h200, chip.hbm.bandwith: x2}"),
      ContainsSubstring("test:1:26") && ContainsSubstring("did you mean \"bandwidth\"?"));
  CHECK_THROWS_WITH(system_of("{base: hgx_h200, chip.hbm.bandwith: 2 TB/s}"),
                    ContainsSubstring("unknown key \"bandwith\""));
}

}  // namespace roofcast::unit_sim_derive
