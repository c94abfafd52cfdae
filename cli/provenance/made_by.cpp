// SPDX-License-Identifier: Apache-2.0
#include "cli/provenance/made_by.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/document/catalog.hpp"
#include "base/document/output_file.hpp"
#include "base/document/used_entries.hpp"
#include "base/fnv.hpp"
#include "cli/provenance/file_hashes.hpp"
#include "cli/provenance/version.hpp"

namespace roofcast::cli {
namespace {

using Json = nlohmann::ordered_json;
constexpr auto kOtherBytes = Json::error_handler_t::replace;  // of a file name

struct Noted {
  std::optional<std::vector<std::string>> command;
  Json question;
  Json seeds = Json::object();
  std::optional<Json> made_by;
};
Noted& noted() {
  static Noted all;
  return all;
}

Json catalog_json() {
  Json all = Json::array();
  for (const base::UsedEntry& entry : base::used_entries()) {
    Json json = {{"entry", entry.kind + "/" + entry.id},
                 {"origin", entry.origin},
                 {"fnv1a", hexadecimal(entry.hash)}};
    if (entry.hides) {
      json["hides_built_in"] = true;
    }
    all.push_back(json);
  }
  return all;
}

Json made() {
  Json json = {{"version", version()},
               {"command", noted().command.value_or(std::vector<std::string>())},
               {"catalog", catalog_json()},
               {"inputs", files_json(base::files_read())}};
  if (const std::string& own = base::user_catalog_directory(); !own.empty()) {
    json["user_catalog"] = own;
  }
  if (!noted().question.is_null()) {
    json["question"] = noted().question;
  }
  if (!noted().seeds.empty()) {
    json["seeds"] = noted().seeds;
  }
  json["id"] = hexadecimal(base::fnv(base::kFnvStart, json.dump(-1, ' ', false, kOtherBytes)));
  return json;
}

}  // namespace

void note_command(std::vector<std::string> arguments) { noted().command = std::move(arguments); }

void note_question(const std::string& kind, const base::Node& document) {
  noted().question = {{kind, document_json(document)}};
  const base::Node* serves = document.find_path(kind == "sweep" ? "base.traffic" : "traffic");
  if (serves != nullptr) {
    const base::Node* seed = serves->find("seed");
    noted().seeds["traffic"] = seed != nullptr ? document_json(*seed) : Json(1);
  }
}

void note_seed(const std::string& what, std::int64_t seed) { noted().seeds[what] = seed; }

bool is_question_known() { return noted().command && !noted().question.is_null(); }

const Json& made_by() {
  if (!noted().made_by) {
    noted().made_by = made();
  }
  return *noted().made_by;
}

std::string provenance_element(const std::string& file) {
  if (!noted().command) {
    return {};
  }
  Json json = {{"file", file}};
  json.update(made_by());
  return fmt::format("<script type=\"application/json\" id=\"made_by\">{}</script>\n",
                     without_tags(json.dump(-1, ' ', false, kOtherBytes)));
}

Json document_json(const base::Node& node) {
  if (node.is_map()) {
    Json json = Json::object();
    for (const base::Entry& entry : node.entries) {
      json[entry.key] = document_json(entry.value);
    }
    return json;
  }
  if (node.is_sequence()) {
    Json json = Json::array();
    for (const base::Node& item : node.items) {
      json.push_back(document_json(item));
    }
    return json;
  }
  if (node.is_null()) {
    return {};
  }
  const Json value = node.quoted ? Json() : Json::parse(node.text, nullptr, false);
  return value.is_number() || value.is_boolean() ? value : Json(node.text);
}

std::string without_tags(std::string json) {
  for (auto at = json.find('<'); at != std::string::npos; at = json.find('<', at)) {
    json.replace(at, 1, "\\u003c");
  }
  return json;
}

}  // namespace roofcast::cli
