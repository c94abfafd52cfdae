// SPDX-License-Identifier: Apache-2.0
#include "cli/provenance/parts_identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/document/harmless.hpp"
#include "base/document/output_file.hpp"
#include "base/document/text_file.hpp"
#include "base/document/used_entries.hpp"
#include "base/fnv.hpp"
#include "cli/provenance/file_hashes.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/provenance/version.hpp"

namespace roofcast::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kPointsOfAPart = "points_of_a_part";
constexpr const char* kSweepHash = "sweep";

// Of an entry; entries have hashes of their own, and others that are there do not matter.
bool is_of_the_catalog(const fs::path& file) {
  const std::string& directory = base::user_catalog_directory();
  return !directory.empty() && file.string().starts_with(directory + "/");
}

// Of an identity that may be damaged.
std::string text_or_unknown(const Json& identity, const char* key) {
  const auto found = identity.find(key);
  return found != identity.end() && found->is_string() ? found->get<std::string>() : "?";
}

bool says_simulate(const Json& identity) {
  const auto found = identity.find("simulate");
  return found != identity.end() && *found == true;
}

const Json& part_of(const Json& identity, const char* key) {
  static const Json none = Json::object();
  const auto found = identity.find(key);
  return found != identity.end() && found->is_object() ? *found : none;
}

// Machines may have the same file at different places, so what counts is which contents there are.
std::string file_without_like(const Json& files, const Json& others) {
  for (const auto& [file, hash] : files.items()) {
    if (std::find(others.begin(), others.end(), hash) == others.end()) {
      return file;
    }
  }
  return {};
}

bool says_alike(const Json& a, const Json& b, const char* key) {
  const auto found = a.find(key);
  return found != a.end() && *found == b[key];
}

// What differs between two identities, in words; empty if nothing does.
std::string difference(const Json& a, const Json& b) {
  if (!a.is_object()) {
    return "its identity.json cannot be read";
  }
  if (text_or_unknown(a, "version") != text_or_unknown(b, "version")) {
    return fmt::format("version {} made it, this is {}", text_or_unknown(a, "version"),
                       text_or_unknown(b, "version"));
  }
  if (says_simulate(a) != says_simulate(b)) {
    return "one is with --simulate, the other without";
  }
  const Json& read = part_of(a, "files");
  const Json& reads = part_of(b, "files");
  std::string changed = file_without_like(reads, read);
  changed = changed.empty() ? file_without_like(read, reads) : changed;
  if (!changed.empty()) {
    return fmt::format("{} has changed since they were made; remove the folder to begin anew",
                       changed);
  }
  const Json& before = part_of(a, "catalog");
  for (const auto& [entry, hash] : part_of(b, "catalog").items()) {
    if (!before.contains(entry) || before[entry] != hash) {
      return fmt::format("the catalog's {} differs", entry);
    }
  }
  return says_alike(a, b, kPointsOfAPart) && says_alike(a, b, kSweepHash)
             ? ""
             : "it is of another sweep";
}

std::string text_of(const Json& identity) { return json_text(identity, 2) + "\n"; }

Json read_identity(const std::string& text) { return Json::parse(text, nullptr, false); }

}  // namespace

std::string parts_identity(std::string_view sweep, bool simulate, std::size_t points_of_a_part) {
  Json identity = {{"version", version()},
                   {"simulate", simulate},
                   {kPointsOfAPart, points_of_a_part},
                   {kSweepHash, hexadecimal(base::fnv(base::kFnvStart, sweep))}};
  Json& catalog = identity["catalog"] = Json::object();
  for (const base::UsedEntry& entry : base::used_entries()) {
    catalog[fmt::format("{}/{}", entry.kind, entry.id)] = hexadecimal(entry.hash);
  }
  Json& files = identity["files"] = Json::object();
  for (const HashedFile& file : hashed(base::files_read())) {
    if (!is_of_the_catalog(file.path)) {
      files[base::harmless(file.path.string())] = hexadecimal(file.hash);
    }
  }
  return text_of(identity);
}

std::string identity_in(const fs::path& folder) { return base::bytes_of(folder / kIdentity); }

bool says_simulate(const std::string& identity) { return says_simulate(read_identity(identity)); }

std::string changed_file(const std::string& identity, const std::string& made,
                         const fs::path& but) {
  Json files = part_of(read_identity(identity), "files");
  files.erase(base::harmless(but.string()));
  return file_without_like(files, part_of(read_identity(made), "files"));
}

std::string with_files_of(const std::string& identity, const std::string& made) {
  Json whole = read_identity(identity);
  whole["files"] = part_of(read_identity(made), "files");
  return text_of(whole);
}

std::string difference(const std::string& there, const std::string& own) {
  return difference(read_identity(there), read_identity(own));
}

std::uint64_t key_of(const std::string& identity) {
  Json whole = read_identity(identity);
  std::vector<std::string> contents;
  for (const Json& hash : part_of(whole, "files")) {
    contents.push_back(hash.dump());
  }
  std::sort(contents.begin(), contents.end());
  whole["files"] = contents;
  return base::fnv(base::kFnvStart, text_of(whole));
}

}  // namespace roofcast::cli
