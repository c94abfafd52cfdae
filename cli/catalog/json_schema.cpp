// SPDX-License-Identifier: Apache-2.0
#include "cli/catalog/json_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/document/schema.hpp"
#include "base/units/unit_text.hpp"
#include "cli/catalog/catalogs.hpp"
#include "cli/catalog/scenario_keys.hpp"
#include "hardware/die.hpp"
#include "sim/decide/sweep.hpp"
#include "sim/result/metrics.hpp"
#include "sim/roadmap/roadmap.hpp"
#include "sim/scenario/references.hpp"

namespace roofcast::cli {
namespace {

using base::Key;
using Json = nlohmann::ordered_json;

// Whether keys may be missing: the axes of a sweep may give what its base lacks.
enum class Whole { yes, no };

const Json kTextSchema = {{"type", {"string", "number", "boolean"}}};  // any single value is a text
const Json kNotNull = {{"not", {{"type", "null"}}}};

// A bound as people write it: 1 and not 1.0.
Json plain(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15
             ? Json(static_cast<std::int64_t>(value))
             : Json(value);
}

// The test of a condition; the groups above the deciding key must be there.
Json test_of(const base::Condition& condition, std::size_t depth = 0) {
  const std::string& key = condition.key[depth];
  Json value;
  if (depth + 1 < condition.key.size()) {
    value = test_of(condition, depth + 1);
  } else if (condition.on_presence) {
    value = kNotNull;
  } else if (condition.value == "true" || condition.value == "false") {
    value = {{"const", condition.value == "true"}};
  } else {
    value = {{"const", condition.value}};
  }
  return {{"required", Json::array({key})}, {"properties", {{key, std::move(value)}}}};
}

Json condition_of(const base::Condition& condition) {
  Json test = test_of(condition);
  if (condition.on_presence && condition.value == "absent") {
    test = {{"not", std::move(test)}};
  }
  if (!condition.also_present.empty()) {
    test = {{"allOf", Json::array({std::move(test)})}};
  }
  for (const auto& [key, given] : condition.also_present) {
    Json other =
        test_of({.key = key, .value = {}, .on_presence = true, .required = {}, .unknown = {}});
    test["allOf"].push_back(given ? std::move(other) : Json{{"not", std::move(other)}});
  }
  Json then = Json::object();
  const auto group_of = [&then](const base::KeyPath& path) {
    Json* group = &then;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      group = &(*group)["properties"][path[i]];
    }
    return group;
  };
  for (const base::KeyPath& path : condition.required) {
    Json& group = *group_of(path);
    group["required"].push_back(path.back());
    group["properties"][path.back()] = kNotNull;
  }
  for (const base::KeyPath& path : condition.unknown) {
    (*group_of(path))["properties"][path.back()] = false;
  }
  return {{"if", std::move(test)}, {"then", std::move(then)}};
}

void add_range(Json& schema, const base::Range& range) {
  if (std::isfinite(range.least)) {
    schema[range.open_below ? "exclusiveMinimum" : "minimum"] = plain(range.least);
  }
  if (std::isfinite(range.most)) {
    schema["maximum"] = plain(range.most);
  }
}

Json number(const Key& key) {
  const bool whole = key.type == Key::Type::integer || key.type == Key::Type::integers;
  Json schema = {{"type", whole ? "integer" : "number"}};
  add_range(schema, key.range);
  return schema;
}

Json quantity(const Key& key) {
  const std::string example = base::dimension_example(key.dimension);
  const std::string words = fmt::format("{}: a number and a unit, for example \"{}\"",
                                        base::dimension_noun(key.dimension), example);
  Json schema = {{"type", "string"}, {"description", words}, {"examples", Json::array({example})}};
  std::string pattern = base::quantity_pattern(key.dimension);
  if (!pattern.empty()) {
    if (key.range.least >= 0.0) {
      pattern.insert(1, "(?![ \\t]*-)");
    }
    if (key.range.open_below) {
      pattern.insert(1, "(?=[^eE]*[1-9])");  // a digit that is not 0
    }
    schema["pattern"] = std::move(pattern);
    schema["patternErrorMessage"] = "expects " + words;  // read by VS Code
  }
  return schema;
}

// What stands where a document may name another one: its id, its path, or its keys.
Json named(const std::string& place) {
  const base::Catalog& catalog = sim::reference_at(place)->catalog;
  return {{"type", {"string", "object"}},
          {"description", fmt::format("the id of a {} (`roofcast list {}`), a path, or its keys",
                                      catalog.singular, catalog.kind)},
          {"examples", base::catalog_ids(catalog)}};
}

Json group(const Key& key, const std::string& place, Whole whole);
Json part(const Key& key, const std::string& place, Whole whole);

Json value_of(const Key& key, const std::string& place, Whole whole) {
  switch (key.type) {
    case Key::Type::any:
      return sim::reference_at(place) != nullptr ? named(place) : Json::object();
    case Key::Type::text:
      return kTextSchema;
    case Key::Type::texts:
      return {{"type", "array"}, {"items", kTextSchema}};
    case Key::Type::flag:
      return {{"type", "boolean"}};
    case Key::Type::integer:
    case Key::Type::number:
      return number(key);
    case Key::Type::integers:
    case Key::Type::numbers:
      return {{"type", "array"}, {"items", number(key)}};
    case Key::Type::quantity:
      return quantity(key);
    case Key::Type::choice:
      return {{"enum", key.choices}};
    case Key::Type::group:
      if (!key.single.empty()) {
        return {{"anyOf", Json::array({value_of(key.single.front(), place, whole),
                                       group(key, place, whole)})}};
      }
      return sim::reference_at(place) != nullptr ? part(key, place, whole)
                                                 : group(key, place, whole);
    case Key::Type::list:
      return {{"type", "array"}, {"minItems", 1}, {"items", group(key, place, whole)}};
  }
  return {};
}

// null is the same as absent.
void allow_null(Json& schema) {
  if (schema.contains("enum")) {
    schema["enum"].push_back(nullptr);
  } else if (schema.contains("type") && schema["type"].is_array()) {
    schema["type"].push_back("null");
  } else if (schema.contains("anyOf")) {
    schema["anyOf"].push_back({{"type", "null"}});
  } else if (schema.contains("type")) {
    schema["type"] = Json::array({schema["type"], "null"});
  }
}

Json group(const Key& key, const std::string& place, Whole whole) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Key& below : key.below) {
    const std::string path = place.empty() ? below.name : fmt::format("{}.{}", place, below.name);
    const sim::ReferencePoint* point = sim::reference_at(path);
    const bool has_default = point != nullptr && !point->when_absent.empty();
    properties[below.name] = value_of(below, path, whole);
    if (below.need == base::optional) {
      allow_null(properties[below.name]);
    } else if (whole == Whole::yes && !has_default) {
      required.push_back(below.name);
    }
  }
  Json schema = {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  if (!required.empty()) {
    schema["required"] = required;
  }
  for (const base::Condition& condition : key.conditions) {
    if (whole == Whole::yes) {
      schema["allOf"].push_back(condition_of(condition));
    }
  }
  return schema;
}

// A chip as its datasheet has it, or as from_die reads it: `die` in place of groups that follow (hardware/die.hpp).
Json sheet_or_die(const Key& key, const std::string& place, Whole whole) {
  Json sheet = group(key, place, whole);
  Json die = sheet;
  for (const char* said : {"compute", "shared_memory", "registers"}) {
    die["properties"].erase(said);
  }
  for (const char* completed : {"tensor", "vector"}) {
    die["properties"][completed].erase("required");
  }
  die["properties"]["die"] = group(base::describe(hardware::read_die), "", whole);
  Json required = Json::array({"die"});
  for (const Json& name : sheet.value("required", Json::array())) {
    constexpr std::string_view kFollow[] = {"compute", "shared_memory", "tensor",
                                            "vector",  "pcie",          "status"};
    if (std::find(std::begin(kFollow), std::end(kFollow), name.get<std::string>()) ==
        std::end(kFollow)) {
      required.push_back(name);
    }
  }
  die["required"] = std::move(required);
  return {{"if", {{"required", {"die"}}}}, {"then", std::move(die)}, {"else", std::move(sheet)}};
}

// The keys of a part, or `base:` and changes to what it names (sim/scenario/knob.hpp).
Json keys_or_changes(const Key& key, const std::string& place, Whole whole) {
  std::set<std::string> names = {"base", "source"};
  for (const Key& below : key.below) {
    names.insert(below.name);
  }
  const Json changes = {
      {"propertyNames", {{"pattern", fmt::format("^({})([.[]|$)", fmt::join(names, "|"))}}}};
  const sim::ReferencePoint* point = sim::reference_at(place);
  const bool chip = point != nullptr && point->catalog.singular == "chip";
  return {
      {"type", "object"},
      {"properties",
       {{"base", {{"type", "string"}, {"description", "the id or path of what is changed here"}}}}},
      {"if", {{"required", Json::array({"base"})}}},
      {"then", changes},
      {"else", chip ? sheet_or_die(key, place, whole) : group(key, place, whole)}};
}

// The same, or an id or a path.
Json part(const Key& key, const std::string& place, Whole whole) {
  Json schema = named(place);
  schema["if"] = {{"type", "object"}};
  schema["then"] = keys_or_changes(key, place, whole);
  return schema;
}

// Every knob, and "GROUP.*" for all numbers of a group.
std::vector<std::string> knob_names(const Key& keys) {
  std::vector<std::string> names;
  for (const Knob& knob : knobs_of(keys)) {
    names.push_back(knob.path);
    if (knob.key.type == Key::Type::group) {
      names.push_back(knob.path + ".*");
    }
  }
  return names;
}

// What the axes of a sweep share: "knob" and "axis".
Json definitions(const std::vector<std::string>& knobs) {
  Json range = group(base::describe<sim::AxisRange>(), "", Whole::yes);
  for (const char* key : {"factor", "step"}) {  // one of them
    range["oneOf"].push_back({{"required", Json::array({key})}, {"properties", {{key, kNotNull}}}});
  }
  const Json maps = {{"minProperties", 1}, {"additionalProperties", {{"type", "object"}}}};
  const Json bundles = {{"type", "object"},
                        {"minProperties", 1},
                        {"additionalProperties", {{"$ref", "#/$defs/bundle"}}}};
  return {{"knob", {{"enum", knobs}}},
          {"bundle", {{"type", "object"}, {"propertyNames", {{"$ref", "#/$defs/knob"}}}}},
          {"bundles", bundles},
          {"axis",
           {{"type", {"array", "object"}},
            {"minItems", 1},
            {"if", {{"type", "object"}}},
            {"then", {{"if", maps}, {"then", {{"$ref", "#/$defs/bundles"}}}, {"else", range}}}}}};
}

Json axes(const std::vector<std::string>& knobs) {
  Json properties = Json::object();
  for (const std::string& knob : knobs) {
    properties[knob] = {{"$ref", "#/$defs/axis"}};
  }
  return {{"type", "object"},
          {"minProperties", 1},
          {"properties", std::move(properties)},
          {"additionalProperties", {{"$ref", "#/$defs/bundles"}}}};
}

// sim/result/condition.hpp
std::string condition_pattern() {
  constexpr const char* kNumber = "-?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?";
  std::vector<std::string_view> names;
  for (const sim::Metric& metric : sim::metrics()) {
    names.push_back(metric.name);
  }
  return fmt::format(
      "^(fits| *({}) *(<=|>=|==|<|>) *{} *[a-zA-Z%$/ ]*| *[a-z][a-z0-9_]* *(<=|>=|==|<|>) *{} "
      "*[a-zA-Z%$/][a-zA-Z%$/ ]*)$",
      fmt::join(names, "|"), kNumber, kNumber);
}

// The properties of what sim::read_points reads.
void describe_points(const Key& base_keys, const std::vector<std::string>& knobs,
                     Json& properties) {
  properties["base"] = {{"type", {"string", "object"}},
                        {"description", "the path of a scenario, or a scenario"},
                        {"if", {{"type", "object"}}},
                        {"then", group(base_keys, "", Whole::no)}};
  properties["axes"] = axes(knobs);
  properties["where"] = {{"type", {"array", "null"}},
                         {"items", {{"type", "string"}, {"pattern", condition_pattern()}}}};
}

Json sweep() {
  const Key key = base::describe([](base::Fields& f) {
    sim::Sweep value;
    base::Problems problems;
    sim::read(f, value, problems);
  });
  Json schema = group(key, "", Whole::yes);
  const Key base_keys = scenario_keys();
  const std::vector<std::string> knobs = knob_names(base_keys);
  schema["$defs"] = definitions(knobs);
  Json& properties = schema["properties"];
  describe_points(base_keys, knobs, properties);
  Json columns = {{"enum", Json::array()}};
  for (const sim::Metric& metric : sim::metrics()) {
    columns["enum"].push_back(metric.name);
  }
  for (const sim::TextMetric& text : sim::text_metrics()) {
    columns["enum"].push_back(text.name);
  }
  properties["columns"] = {
      {"anyOf", Json::array({{{"enum", {"all", nullptr}}},
                             {{"type", "array"}, {"items", columns}, {"minItems", 1}}})}};
  const Json name = {{"type", "string"}};
  properties["pareto"]["properties"]["by"] = {
      {"anyOf",
       Json::array({{{"type", {"string", "null"}}}, {{"type", "array"}, {"items", name}}})}};
  for (const char* goal : {"maximize", "minimize"}) {
    Json& items = properties["pareto"]["properties"][goal]["items"];
    items = {{"enum", Json::array()}};
    for (const sim::Metric& metric : sim::metrics()) {
      items["enum"].push_back(metric.name);
    }
  }
  return schema;
}

Json roadmap() {
  const Key key = base::describe([](base::Fields& f) {
    sim::Roadmap value;
    base::Problems problems;
    sim::read(f, value, problems);
  });
  const Key workload_key = base::describe([](base::Fields& f) {
    sim::PortfolioWorkload value;
    base::Problems problems;
    sim::read(f, value, problems);
  });
  const Key base_keys = scenario_keys();
  const std::vector<std::string> knobs = knob_names(base_keys);
  Json metric = {{"enum", Json::array({nullptr})}};
  for (const sim::Metric& each : sim::metrics()) {
    if (each.better != sim::Better::none) {
      metric["enum"].push_back(each.name);
    }
  }
  Json workload = group(workload_key, "", Whole::yes);
  describe_points(base_keys, knobs, workload["properties"]);
  workload["properties"]["metric"] = metric;
  Json schema = group(key, "", Whole::yes);
  schema["$defs"] = definitions(knobs);
  Json& properties = schema["properties"];
  properties["metric"] = metric;
  properties["set"] = {{"$ref", "#/$defs/bundle"}};
  properties["workloads"] = {
      {"type", "object"}, {"minProperties", 1}, {"additionalProperties", workload}};
  for (const char* bundles : {"options", "features"}) {
    properties[bundles] = {{"if", {{"not", {{"type", "null"}}}}},
                           {"then", {{"$ref", "#/$defs/bundles"}}}};
  }
  properties["features"]["maxProperties"] = sim::kMostFeatures;
  schema["anyOf"] = {{{"required", {"options"}}}, {{"required", {"features"}}}};
  return schema;
}

}  // namespace

std::vector<std::string> schema_kinds() {
  std::vector<std::string> kinds;
  for (const DocumentKind& kind : document_kinds()) {
    if (kind.keys != nullptr) {
      kinds.emplace_back(kind.name);
    }
  }
  kinds.insert(kinds.end(), {"scenario", "sweep", "roadmap"});
  return kinds;
}

Json json_schema(std::string_view kind) {
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", fmt::format("roofcast {}", kind)}};
  if (kind == "scenario") {
    schema.update(group(scenario_keys(), "", Whole::yes));
  } else if (kind == "sweep") {
    schema.update(sweep());
  } else if (kind == "roadmap") {
    schema.update(roadmap());
  } else {
    const DocumentKind& part_kind = kind_named(std::string(kind));
    schema.update(keys_or_changes(part_kind.keys(), std::string(part_kind.place), Whole::yes));
  }
  return schema;
}

}  // namespace roofcast::cli
