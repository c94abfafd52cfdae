// SPDX-License-Identifier: Apache-2.0
//
// What a schema takes and refuses is checked by tests/schema.
#include <nlohmann/json.hpp>
#include <set>

#include "cli/json_schema.hpp"
#include "sim/scenario.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli {

TEST_CASE("schema prints the JSON Schema of every kind of document", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  for (const std::string& kind : schema_kinds()) {
    INFO(kind);
    const auto schema = nlohmann::ordered_json::parse(roofcast.output({"schema", kind}));
    CHECK(schema == json_schema(kind));
    CHECK(schema["title"] == "roofcast " + kind);
  }
}

TEST_CASE("the schema of a scenario requires its sections but precision and accuracy", "[cli]") {
  const auto schema = json_schema("scenario");
  std::set<std::string> sections(std::begin(sim::kSections), std::end(sim::kSections));
  CHECK(schema["properties"].size() == sections.size());
  sections.erase("precision");
  sections.erase("accuracy");
  CHECK(schema["required"].get<std::set<std::string>>() == sections);
}

TEST_CASE("a schema that there is not is bad input and names the nearest one", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome outcome = roofcast.run({"schema", "scenaro"});
  CHECK(outcome.code == 2);
  CHECK(outcome.out.empty());
  CHECK(contains(outcome.err, "there is no schema \"scenaro\"; did you mean \"scenario\"?"));
}

}  // namespace roofcast::cli
