// SPDX-License-Identifier: Apache-2.0
//
// What a schema takes and refuses is checked by tests/schema.
#include <nlohmann/json.hpp>
#include <set>

#include "cli/catalog/json_schema.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_schema_command {

TEST_CASE("schema prints the JSON Schema of every kind of document", "[cli][long]") {
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

TEST_CASE("A schema has no notes: no document was given", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  CHECK(roofcast.run({"schema", "scenario"}).err.empty());
}

TEST_CASE("the schema of a scenario requires its sections but those with a default or asked for",
          "[cli]") {
  const auto schema = json_schema("scenario");
  std::set<std::string> sections(sim::kSectionNames.begin(), sim::kSectionNames.end());
  CHECK(schema["properties"].size() == sections.size());
  for (const char* section : {"precision", "deployment", "accuracy", "training", "rl", "run",
                              "serving", "traffic", "prices", "numerics"}) {
    sections.erase(section);
  }
  CHECK(schema["required"].get<std::set<std::string>>() == sections);
  // What does not train has traffic, and rollouts are served.
  CHECK(schema["allOf"][0]["if"]["not"]["required"][0] == "training");
  CHECK(schema["allOf"][0]["then"]["required"] == nlohmann::ordered_json::array({"traffic"}));
  CHECK(schema["allOf"][1]["then"]["required"] ==
        nlohmann::ordered_json::array({"serving", "training"}));
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

}  // namespace roofcast::cli::cli_schema_command
