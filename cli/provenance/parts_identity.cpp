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

// The first file whose contents do not come next in the others; empty if there is none. Machines may have the same file at
// different places, so what counts are contents, in the order in which the sweep names them.
std::string file_out_of_order(const Json& files, const Json& others) {
  auto next = others.begin();
  for (const auto& [file, hash] : files.items()) {
    next = std::find(next, others.end(), hash);
    if (next == others.end()) {
      return file;
    }
    ++next;
  }
  return {};
}

std::string file_difference(const Json& read, const Json& reads) {
  if (const std::string changed = file_out_of_order(reads, read); !changed.empty()) {
    return fmt::format("{} has changed since they were made; remove the folder to begin anew",
                       changed);
  }
  const std::string unread = file_out_of_order(read, reads);
  return unread.empty() ? "" : fmt::format("they were made with {}, which is not read now", unread);
}

// The first entry of both with another text; without `in_both`, the first one of either alone.
std::string entry_difference(const Json& before, const Json& now, bool in_both) {
  for (const auto& [entry, hash] : now.items()) {
    const auto known = before.find(entry);
    if (in_both && known != before.end() && *known != hash) {
      return fmt::format("the catalog's {} differs", entry);
    }
    if (!in_both && known == before.end()) {
      return fmt::format("they were made without the catalog's {}", entry);
    }
  }
  for (const auto& [entry, hash] : before.items()) {
    if (!in_both && !now.contains(entry)) {
      return fmt::format("they were made with the catalog's {}, which is not read now", entry);
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
  const Json& before = part_of(a, "catalog");
  const Json& now = part_of(b, "catalog");
  for (std::string what : {entry_difference(before, now, true),
                           file_difference(part_of(a, "files"), part_of(b, "files")),
                           entry_difference(before, now, false)}) {
    if (!what.empty()) {
      return what;
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
  return file_out_of_order(files, part_of(read_identity(made), "files"));
}

std::string changed_since(const std::string& made) {
  const Json identity = read_identity(made);
  for (const auto& [file, hash] : part_of(identity, "files").items()) {
    const std::vector<HashedFile> now = hashed({file});
    if (!now.empty() && hexadecimal(now.front().hash) != hash) {
      return file;
    }
  }
  return {};
}

std::string with_inputs_of(const std::string& identity, const std::string& made) {
  Json whole = read_identity(identity);
  const Json theirs = read_identity(made);
  whole["files"] = part_of(theirs, "files");
  for (const auto& [entry, hash] : part_of(theirs, "catalog").items()) {
    whole["catalog"].emplace(entry, Json(hash));
  }
  return text_of(whole);
}

std::string difference(const std::string& there, const std::string& own) {
  return difference(read_identity(there), read_identity(own));
}

std::uint64_t key_of(const std::string& identity) {
  Json whole = read_identity(identity);
  Json contents = Json::array();
  for (const Json& hash : part_of(whole, "files")) {
    contents.push_back(hash);
  }
  whole["files"] = contents;
  return base::fnv(base::kFnvStart, text_of(whole));
}

}  // namespace roofcast::cli
