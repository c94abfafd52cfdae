// SPDX-License-Identifier: Apache-2.0
#include "cli/provenance/made_by.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/document/catalog.hpp"
#include "base/document/output_file.hpp"
#include "base/document/standard_streams.hpp"
#include "base/document/used_entries.hpp"
#include "base/fnv.hpp"
#include "cli/provenance/file_hashes.hpp"
#include "cli/provenance/version.hpp"

namespace roofcast::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Noted {
  std::optional<std::vector<std::string>> command;
  Json question;
  bool is_asked = false;
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

// Texts of a question, as seen_from_here.
void see_from_here(Json& json) {
  if (json.is_string()) {
    json = seen_from_here(json.get<std::string>());
  } else if (json.is_structured()) {
    for (Json& below : json) {
      see_from_here(below);
    }
  }
}

void replace_folder(const std::string& folder, const std::string& by, std::string& text) {
  const auto is_of_a_path = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("/._-~", c) != nullptr;
  };
  for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder, at)) {
    if (at > 0 && is_of_a_path(text[at - 1])) {
      at += folder.size();
    } else {
      text.replace(at, folder.size(), by);
      at += by.size();
    }
  }
}

Json made() {
  Json json = {{"version", version()},
               {"command", noted().command.value_or(std::vector<std::string>())},
               {"catalog", catalog_json()},
               {"inputs", files_json(base::files_read())}};
  if (const auto& text = base::kept_standard_input()) {
    json["stdin"] = *text;
  }
  if (const std::string& own = base::user_catalog_directory(); !own.empty()) {
    json["user_catalog"] = own;
  }
  if (!noted().question.is_null()) {
    json["question"] = noted().question;
  }
  if (!noted().seeds.empty()) {
    json["seeds"] = noted().seeds;
  }
  json["id"] = hexadecimal(base::fnv(base::kFnvStart, json_text(json)));
  return json;
}

}  // namespace

void note_command(std::vector<std::string> arguments) { noted().command = std::move(arguments); }

void note_question(const std::string& kind, const base::Node& document) {
  noted().is_asked = true;
  noted().question = {{kind, document_json(document)}};
  see_from_here(noted().question);
  const base::Node* serves = document.find_path(kind == "sweep" ? "base.traffic" : "traffic");
  if (serves != nullptr) {
    const base::Node* seed = serves->find("seed");
    noted().seeds["traffic"] = seed != nullptr ? document_json(*seed) : Json(1);
  }
}

void note_seed(const std::string& what, std::int64_t seed) { noted().seeds[what] = seed; }

void note_asked() { noted().is_asked = true; }

bool is_asked() { return noted().command && noted().is_asked; }

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
                     without_tags(json_text(json)));
}

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
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

std::string seen_from_here(std::string text) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error || !here.has_relative_path()) {
    return text;
  }
  replace_folder(here.string() + "/", "", text);
  const char* home = std::getenv("HOME");
  if (const std::filesystem::path folder = home == nullptr ? "" : home;
      folder.is_absolute() && folder.has_filename()) {
    replace_folder(folder.string() + "/", (folder.lexically_relative(here) / "").string(), text);
  }
  return text;
}

std::string without_tags(std::string json) {
  for (auto at = json.find('<'); at != std::string::npos; at = json.find('<', at)) {
    json.replace(at, 1, "\\u003c");
  }
  return json;
}

}  // namespace roofcast::cli
