// SPDX-License-Identifier: Apache-2.0
//
// What the catalog says of measured runs agrees with the rest of it.
#include "calibrate/conventions/conventions.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::laws_conventions {
namespace {

// Every value that a rule's key wants, patterns left out.
template <class Check>
void each_wanted(std::string_view key, Check check) {
  for (const std::string& id : base::catalog_ids(calibrate::convention_catalog())) {
    const base::Node document = base::load_entry(calibrate::convention_catalog(), id);
    for (const base::Entry& topic : document.find("rules")->entries) {
      for (const base::Node& rule : topic.value.items) {
        const base::Node* where = rule.find("where");
        const base::Node* wanted = where == nullptr ? nullptr : where->find(key);
        if (wanted == nullptr) {
          continue;
        }
        for (const base::Node& value :
             wanted->is_sequence() ? wanted->items : std::vector{*wanted}) {
          INFO(id << ", " << topic.key << ": " << value.text);
          check(value.text);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("Every convention is read, and its rules want models, chips and stacks of the catalog",
          "[laws]") {
  for (const std::string& id : base::catalog_ids(calibrate::convention_catalog())) {
    CHECK(calibrate::Conventions(id).rules() > 0);
  }
  const auto check_ids = [](std::string_view key, const base::Catalog& catalog) {
    const auto ids = base::catalog_ids(catalog);
    std::size_t checked = 0;
    each_wanted(key, [&](const std::string& id) {
      CHECK(std::binary_search(ids.begin(), ids.end(), id));
      ++checked;
    });
    CHECK(checked > 0);
  };
  check_ids("model", workloads::model_catalog());
  check_ids("chip", hardware::chip_catalog());
  check_ids("stack", workloads::stack_catalog());
  std::set<std::string> architectures;
  for (const hardware::Chip& chip : laws::chips()) {
    architectures.insert(chip.architecture);
  }
  each_wanted("chip.architecture",
              [&](const std::string& name) { CHECK(architectures.contains(name)); });
}

TEST_CASE("Every chip of a system says what it was measured on, and that is of this chip",
          "[laws]") {
  std::map<std::string, std::string> chips;  // of systems
  std::set<std::string> in_a_system;
  for (const sim::Platform& platform : laws::platforms()) {
    chips[platform.system.id] = platform.system.chip.id;
    in_a_system.insert(platform.system.chip.id);
  }
  for (const hardware::Chip& chip : laws::chips()) {
    CAPTURE(chip.id);
    CHECK(chip.measured_on.server.empty() != in_a_system.contains(chip.id));
    for (const std::string& system : {chip.measured_on.server, chip.measured_on.cluster}) {
      CHECK((system.empty() || chips.at(system) == chip.id));
    }
  }
}

TEST_CASE("Every name that the catalog is known by leads to its entry", "[laws]") {
  std::size_t names = 0;
  for (const base::Catalog& catalog : {hardware::chip_catalog(), hardware::system_catalog(),
                                       workloads::model_catalog(), workloads::stack_catalog()}) {
    for (const std::string& id : base::catalog_ids(catalog)) {
      const base::Node document = base::load_entry(catalog, id);
      CHECK(base::id_called(catalog, id) == id);
      if (const base::Node* known_as = document.find("known_as")) {
        for (const base::Node& name : known_as->items) {
          CAPTURE(id, name.text);
          CHECK(base::id_called(catalog, name.text) == id);
          ++names;
        }
      }
    }
    CHECK(!base::id_called(catalog, "nobody knows"));
  }
  CHECK(names > 50);
}

// A measured kernel tells the experts' shape alone.
TEST_CASE("Models whose experts have one shape agree on whether they have a gate", "[laws]") {
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, bool> gated;
  for (const workloads::Architecture& model : laws::models()) {
    const workloads::MoeShape& moe = model.moe;
    const auto [known, is_new] =
        gated.emplace(std::tuple{moe.experts, moe.top_k, moe.intermediate}, moe.gated);
    CAPTURE(model.id);
    CHECK(known->second == moe.gated);
  }
}

}  // namespace roofcast::laws_conventions
