// SPDX-License-Identifier: Apache-2.0
#include "cli/provenance/provenance.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "base/csv/csv.hpp"
#include "base/csv/csv_file.hpp"
#include "base/csv/file_ending.hpp"
#include "base/document/catalog.hpp"
#include "base/document/output_file.hpp"
#include "base/document/problems.hpp"
#include "base/document/text_file.hpp"
#include "cli/provenance/file_hashes.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/provenance/sweep_parts.hpp"
#include "cli/tables/result_csv.hpp"
#include "sim/decide/sweep.hpp"

namespace roofcast::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// What may be run again, also where somebody else wrote the provenance: no command that starts another program.
constexpr std::string_view kMakers[] = {
    "blast-radius", "brief",       "calibrate", "collective", "compare",   "estimate",
    "kernel",       "merge",       "pack",      "pareto",     "recommend", "report",
    "scale",        "sensitivity", "simulate",  "solve",      "sweep"};

std::set<fs::path>& tables() {
  static std::set<fs::path> named;
  return named;
}

// Parts of a sweep have an identity of their own (cli/provenance/sweep_parts.hpp).
bool is_result(const fs::path& file) {
  return tables().contains(base::real_path(file)) ||
         (file.parent_path().extension() != ".parts" &&
          base::ending_of(base::unpacked_name(file)) == ".csv");
}

Json machine_json() {
  utsname name{};
  uname(&name);
  return {{"system", fmt::format("{} {} {}", name.sysname, name.release, name.machine)},
          {"cores", std::thread::hardware_concurrency()}};
}

// The provenance that a file is, or that it holds: a JSON answer or a page. Null if there is none.
Json read_json(const fs::path& file) {
  const std::string text = base::bytes_of(file);
  constexpr std::string_view kElement = "<script type=\"application/json\" id=\"made_by\">";
  if (const auto at = text.find(kElement); at != std::string::npos && !text.starts_with("{")) {
    const auto from = at + kElement.size();
    return Json::parse(text.substr(from, text.find("</script>", from) - from), nullptr, false);
  }
  Json json = Json::parse(text, nullptr, false);
  if (json.is_object() && json.contains("made_by")) {
    return json["made_by"];
  }
  return json;
}

// A text of an object that may be damaged.
std::string text_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<RecordedFile> recorded_files(const Json& provenance, const char* key) {
  std::vector<RecordedFile> files;
  const auto all = provenance.find(key);
  if (all != provenance.end() && all->is_array()) {
    for (const Json& file : *all) {
      files.push_back({text_of(file, "path"), text_of(file, "fnv1a")});
    }
  }
  return files;
}

std::map<std::string, std::string> catalog_of(const Json& provenance) {
  std::map<std::string, std::string> hashes;
  const auto catalog = provenance.find("catalog");
  if (catalog != provenance.end() && catalog->is_array()) {
    for (const Json& entry : *catalog) {
      hashes[text_of(entry, "entry")] = text_of(entry, "fnv1a");
    }
  }
  return hashes;
}

// Without a provenance the sweep beside a CSV may still say how many rows there were.
std::string other_rows(const fs::path& result) {
  const fs::path beside = sweep_file_beside(result);
  const std::string text = base::bytes_of(beside);
  if (text.empty() || !fs::is_regular_file(result)) {
    return {};
  }
  try {
    const std::size_t points =
        sim::read_sweep(base::parse_document(beside.string(), text)).points();
    base::CsvFile file(result);
    std::size_t rows = 0;
    file.read({}, [&](std::span<const std::string_view>) { ++rows; });
    return rows == points ? ""
                          : fmt::format(
                                "{} has {} rows, but {} makes {}: it was cut, or is of "
                                "another sweep\n",
                                result.string(), rows, beside.string(), points);
  } catch (const base::InputError&) {
    return {};  // it is no sweep of this version
  }
}

}  // namespace

void note_table(const fs::path& file) { tables().insert(base::real_path(file)); }

fs::path provenance_beside(const fs::path& result) {
  return base::unpacked_name(result).replace_extension(".provenance.json");
}

bool has_provenance(const fs::path& result) {
  return is_result(result) && base::is_regular_or_new(base::output_path(result));
}

void check_provenance_beside(const fs::path& result) {
  if (has_provenance(result)) {
    const fs::path beside = provenance_beside(result);
    const std::vector<RecordedFile> theirs =
        recorded_files(read_json(base::output_path(beside)), "outputs");
    base::check_beside(beside, result,
                       std::any_of(theirs.begin(), theirs.end(), [&](const RecordedFile& output) {
                         return output.path.filename() == result.filename();
                       }));
  }
}

bool is_as_written(const fs::path& file, const fs::path& result) {
  const std::vector<HashedFile> now = hashed({file});
  const std::vector<RecordedFile> outputs =
      recorded_files(read_json(provenance_beside(result)), "outputs");
  return std::any_of(outputs.begin(), outputs.end(), [&](const RecordedFile& output) {
    return output.path.filename() == file.filename() && !now.empty() &&
           output.hash == hexadecimal(now.front().hash);
  });
}

std::string foreign_provenance(const fs::path& result) {
  const fs::path beside = provenance_beside(result);
  refuse_changed_part(result);
  base::guard(beside);
  base::guard(sweep_file_beside(result));
  const Json there = read_json(beside);
  if (!there.is_object()) {
    return other_rows(result);
  }
  const std::vector<RecordedFile> outputs = recorded_files(there, "outputs");
  const std::vector<HashedFile> now = hashed({result});
  const bool is_of_it =
      now.empty() || std::any_of(outputs.begin(), outputs.end(), [&](const RecordedFile& output) {
        return output.hash == hexadecimal(now.front().hash);
      });
  return is_of_it
             ? ""
             : fmt::format("{} is not of this {}, which was changed or made by another command\n",
                           beside.string(), result.string());
}

void finish_outputs() {
  const std::vector<fs::path> outputs = base::files_written();
  Json json;
  for (const fs::path& output : outputs) {
    if (!is_result(output) ||
        std::find(outputs.begin(), outputs.end(), provenance_beside(output)) != outputs.end()) {
      continue;
    }
    if (json.empty()) {
      json = made_by();
      json["directory"] = fs::current_path().string();
      if (const std::string& own = base::user_catalog_directory(); !own.empty()) {
        json["user_catalog"] = fs::absolute(own).string();
      }
      json["time"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
      json["machine"] = machine_json();
      json["outputs"] = files_json(outputs);
    }
    base::write_text(provenance_beside(output), json_text(json, 2) + "\n", base::Output::beside);
  }
  base::OutputSet::give_names();
}

Provenance read_provenance(const fs::path& file) {
  const Json json = read_json(file);
  const auto is_text = [&](const char* key) { return json.contains(key) && json[key].is_string(); };
  const auto is_list = [&](const char* key) { return json.contains(key) && json[key].is_array(); };
  std::vector<std::string> command;
  for (const Json& argument : is_list("command") ? json["command"] : Json::array()) {
    command.push_back(argument.is_string() ? argument.get<std::string>() : "");
  }
  const bool makes_results = !command.empty() && std::find(std::begin(kMakers), std::end(kMakers),
                                                           command.front()) != std::end(kMakers);
  if (!makes_results || !is_text("version") ||
      !(is_text("file") || (is_text("directory") && is_list("outputs")))) {
    throw base::InputError(
        fmt::format("error: {} is no provenance that roofcast wrote\n", file.string()));
  }
  Provenance p;
  p.file = text_of(json, "file");
  p.version = json["version"];
  p.directory = text_of(json, "directory");
  p.command = std::move(command);
  p.user_catalog = text_of(json, "user_catalog");
  if (is_text("stdin")) {
    p.standard_input = json["stdin"];
  }
  p.inputs = recorded_files(json, "inputs");
  p.outputs = recorded_files(json, "outputs");
  return p;
}

std::string difference_of_makers(const fs::path& old_provenance, const fs::path& new_provenance) {
  const Json before = read_json(old_provenance);
  const Json now = read_json(new_provenance);
  if (!before.is_object() || !now.is_object()) {
    return {};
  }
  std::string text;
  if (text_of(before, "version") != text_of(now, "version")) {
    text += fmt::format("made by different versions: {}, then {}\n", text_of(before, "version"),
                        text_of(now, "version"));
  }
  const auto old_catalog = catalog_of(before);
  for (const auto& [entry, hash] : catalog_of(now)) {
    const auto known = old_catalog.find(entry);
    if (known != old_catalog.end() && known->second != hash) {
      text += fmt::format("made with different figures: {} of the catalog differs\n", entry);
    }
  }
  return text;
}

}  // namespace roofcast::cli
