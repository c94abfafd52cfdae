// SPDX-License-Identifier: Apache-2.0
#include "cli/provenance/sweep_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>

#include "base/csv/csv_file.hpp"
#include "base/document/catalog.hpp"
#include "base/document/output_file.hpp"
#include "base/document/problems.hpp"
#include "base/document/text_file.hpp"
#include "base/document/used_entries.hpp"
#include "cli/provenance/file_hashes.hpp"
#include "cli/provenance/version.hpp"
#include "cli/tables/result_csv.hpp"
#include "sim/confirm/replay_columns.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/recommend/scan.hpp"

namespace roofcast::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kLeast = 256;  // points of a part that is estimated
constexpr std::size_t kMost = 65536;
constexpr std::size_t kLeastReplayed =
    16;  // of one that is replayed, which takes longer by a thousand times
constexpr std::size_t kParts = 256;

constexpr const char* kSweep = "sweep.yaml";
constexpr const char* kIdentity = "identity.json";
constexpr const char* kPointsOfAPart = "points_of_a_part";

// Of a sweep, what ranks, recommendations and the printed answer are found by.
std::set<std::string> columns_of_front(const sim::Sweep& sweep) {
  std::set<std::string> names = {"fits", "meets", "pareto_rank", "reason", "cost_usd_per_mtok"};
  for (const auto* objectives : {&sweep.pareto.maximize, &sweep.pareto.minimize}) {
    names.insert(objectives->begin(), objectives->end());
  }
  for (const std::size_t axis : sweep.group_axes()) {
    names.insert(sweep.axes[axis].name);
  }
  return names;
}

// What an answer says of conditions on metrics that have no whole column: whether any row that fits has a value, and, where
// no row of a group meets all conditions, which comes nearest. These columns keep a row alone that is the first with a
// value, or nearer than those of its group before it.
class NearestRows {
 public:
  NearestRows(const sim::SweepPoints& points, sim::ResultTable& table)
      : where_(points.sweep().where),
        table_(table),
        groups_(points),
        least_(groups_.count(), std::numeric_limits<double>::infinity()) {
    for (std::size_t c = 0; c < table.columns().size(); ++c) {
      const sim::ResultColumn& column = table.columns()[c];
      if (column.is_thin() && std::any_of(where_.begin(), where_.end(), [&](const auto& condition) {
            return condition.metric == column.name();
          })) {
        columns_.push_back(c);
      }
    }
    without_value_ = columns_;
  }

  const std::vector<std::size_t>& columns() const { return columns_; }

  // `cells` of these columns.
  void take(std::size_t row, std::span<const std::string_view> cells) {
    if (columns_.empty() || !table_.fits(row)) {
      return;
    }
    double& least = least_[groups_.of(row)];
    if (least == 0.0 && without_value_.empty()) {
      return;
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      set_cell(table_.columns()[columns_[i]], row, cells[i]);
    }
    const double misses = sim::shortfall(where_, table_, row);
    bool keeps = misses < least;
    least = std::min(least, misses);
    keeps = std::erase_if(
                without_value_,
                [&](std::size_t c) { return !std::isnan(table_.columns()[c].number(row)); }) > 0 ||
            keeps;
    for (std::size_t i = 0; i < columns_.size() && !keeps; ++i) {
      table_.columns()[columns_[i]].set(row, std::nan(""));
    }
  }

 private:
  const std::vector<sim::Condition>& where_;
  sim::ResultTable& table_;
  std::vector<std::size_t> columns_;
  std::vector<std::size_t> without_value_;
  sim::PointGroups groups_;
  std::vector<double> least_;  // by group
};

[[noreturn]] void refuse(const fs::path& folder, const std::string& why) {
  throw base::InputError(
      fmt::format("error: {} has no parts of this sweep: {}\n", folder.string(), why));
}

// Of an entry; entries have hashes of their own, and others that are there do not matter.
bool is_of_the_catalog(const fs::path& file) {
  const std::string& directory = base::user_catalog_directory();
  return !directory.empty() && file.string().starts_with(directory + "/");
}

std::string name_of(std::size_t part) { return fmt::format("{:05}.csv", part); }

std::optional<std::size_t> number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::optional<std::size_t> variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::nullopt : number(text);
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
  const auto points = a.find(kPointsOfAPart);
  return points != a.end() && *points == b[kPointsOfAPart] ? "" : "it is of another sweep";
}

Json identity_in(const fs::path& folder) {
  return Json::parse(base::bytes_of(folder / kIdentity), nullptr, false);
}

}  // namespace

Shard parse_shard(const std::string& text) {
  if (text == "slurm") {
    const auto id = variable("SLURM_ARRAY_TASK_ID");
    const auto least = variable("SLURM_ARRAY_TASK_MIN");
    const auto count = variable("SLURM_ARRAY_TASK_COUNT");
    if (!id || !least || !count || *id < *least || *id - *least >= *count) {
      throw base::InputError(
          "error: --shard slurm: this is no task of a Slurm array with numbers one after the "
          "other\n");
    }
    return {*id - *least + 1, *count};
  }
  const std::size_t slash = text.find('/');
  const auto index = number(std::string_view(text).substr(0, slash));
  const auto of =
      slash == std::string::npos ? std::nullopt : number(std::string_view(text).substr(slash + 1));
  if (!index || !of || *index < 1 || *index > *of) {
    throw base::InputError(
        fmt::format("error: --shard {}: expected I/N with 1 <= I <= N, or slurm\n", text));
  }
  return {*index, *of};
}

fs::path parts_folder(const fs::path& csv) {
  fs::path folder = csv;
  return folder += ".parts";
}

SweepParts::SweepParts(const sim::SweepPoints& points, std::string sweep_text, bool simulate)
    : points_(points),
      sweep_text_(std::move(sweep_text)),
      simulate_(simulate),
      columns_(sim::result_columns(points)),
      most_(std::clamp(points.size() / kParts, simulate ? kLeastReplayed : kLeast, kMost)) {
  if (simulate) {
    for (std::string& column : sim::replay_columns(points, true)) {
      columns_.push_back(std::move(column));
    }
  }
  Json identity = {{"version", version()}, {"simulate", simulate}, {kPointsOfAPart, most_}};
  Json& catalog = identity["catalog"] = Json::object();
  for (const base::UsedEntry& entry : base::used_entries()) {
    catalog[fmt::format("{}/{}", entry.kind, entry.id)] = hexadecimal(entry.hash);
  }
  Json& files = identity["files"] = Json::object();
  for (const HashedFile& file : hashed(base::files_read())) {
    if (!is_of_the_catalog(file.path)) {
      files[file.path.string()] = hexadecimal(file.hash);
    }
  }
  identity_ = identity.dump(2) + "\n";
}

void SweepParts::adopt(const fs::path& folder) {
  const Json theirs = identity_in(folder);
  const Json& made_from = part_of(theirs, "files");
  Json identity = Json::parse(identity_);
  Json& files = identity["files"];
  files.erase((folder / kSweep).string());
  if (const std::string changed = file_without_like(files, made_from); !changed.empty()) {
    refuse(folder, fmt::format("{} has changed since they were made", changed));
  }
  files = made_from;
  identity_ = identity.dump(2) + "\n";
}

sim::SweepPoints SweepParts::points(std::size_t part) const {
  const std::size_t first = part * most_;
  return points_.part(first, std::min(most_, points_.size() - first));
}

void SweepParts::open(const fs::path& folder) const {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw base::InputError(
        fmt::format("error: cannot make {}: {}\n", folder.string(), error.message()));
  }
  if (!fs::exists(folder / kIdentity, error)) {
    base::write_text(folder / kSweep, sweep_text_, base::Output::repeated);
    base::write_text(folder / kIdentity, identity_, base::Output::repeated);
  }
  check(folder);
}

void SweepParts::check(const fs::path& folder) const {
  std::error_code error;
  if (!fs::exists(folder / kIdentity, error)) {
    refuse(folder, "there is no identity.json in it");
  }
  if (const std::string what = difference(identity_in(folder), Json::parse(identity_));
      !what.empty()) {
    refuse(folder, what);
  }
  if (base::bytes_of(folder / kSweep) != sweep_text_) {
    refuse(folder, "its sweep.yaml differs");
  }
}

bool SweepParts::has(const fs::path& folder, std::size_t part) {
  std::error_code error;
  return fs::exists(folder / name_of(part), error);
}

void SweepParts::write(const fs::path& folder, std::size_t part,
                       const sim::ResultTable& rows) const {
  std::ostringstream text;
  base::CsvWriter csv(text, columns_);
  write_results(rows, 1, csv);
  base::write_text(folder / name_of(part), text.view(), base::Output::repeated);
}

fs::path SweepParts::file(const std::vector<fs::path>& folders, std::size_t part) const {
  const auto folder =
      std::find_if(folders.begin(), folders.end(), [&](const fs::path& f) { return has(f, part); });
  if (folder == folders.end()) {
    throw base::InputError(
        fmt::format("error: part {} of {} is not there: {}\n", part, count(), name_of(part)));
  }
  return *folder / name_of(part);
}

std::vector<fs::path> SweepParts::files(const std::vector<fs::path>& folders) const {
  std::vector<fs::path> all;
  for (std::size_t part = 0; part < count(); ++part) {
    all.push_back(file(folders, part));
  }
  return all;
}

// The rows of a part, which one of the folders has. Of the columns the first one is `point`.
void SweepParts::each_row(const std::vector<fs::path>& folders, std::size_t part,
                          const std::vector<std::size_t>& columns, const Row& take) const {
  const fs::path path = this->file(folders, part);
  base::CsvFile file(path);
  const auto is_part = [&](bool holds) {
    if (!holds) {
      throw base::InputError(
          fmt::format("error: {} is no part of this sweep; remove it\n", path.string()));
    }
  };
  is_part(file.columns() == columns_);
  std::size_t row = part * most_;
  const std::size_t end = row + points(part).size();
  file.read(columns, [&](std::span<const std::string_view> cells) {
    is_part(row < end && cells.front() == fmt::format("{}", row));
    take(row, cells);
    ++row;
  });
  is_part(row == end);
}

sim::ResultTable SweepParts::read(const std::vector<fs::path>& folders) const {
  sim::ResultTable table("sweep", columns_);
  table.resize(points_.size());
  std::vector<std::size_t> columns(columns_.size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  for (std::size_t part = 0; part < count(); ++part) {
    each_row(folders, part, columns, [&](std::size_t row, std::span<const std::string_view> cells) {
      for (std::size_t c = 0; c < cells.size(); ++c) {
        set_cell(table.columns()[c], row, cells[c]);
      }
    });
  }
  return table;
}

sim::ResultTable SweepParts::read_thin(const std::vector<fs::path>& folders) const {
  sim::ResultTable table("sweep", columns_);
  const std::set<std::string> needed = columns_of_front(points_.sweep());
  std::vector<std::size_t> columns = {0};
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (!needed.contains(columns_[c])) {
      table.columns()[c].make_thin();
    } else if (c > 0) {
      columns.push_back(c);
    }
  }
  table.resize(points_.size());
  NearestRows nearest(points_, table);
  const std::size_t whole = columns.size();
  columns.insert(columns.end(), nearest.columns().begin(), nearest.columns().end());
  for (std::size_t part = 0; part < count(); ++part) {
    each_row(folders, part, columns, [&](std::size_t row, std::span<const std::string_view> cells) {
      for (std::size_t i = 1; i < whole; ++i) {
        set_cell(table.columns()[columns[i]], row, cells[i]);
      }
      nearest.take(row, cells.subspan(whole));
    });
  }
  return table;
}

void SweepParts::each(const std::vector<fs::path>& folders, const std::vector<std::string>& columns,
                      const Row& take) const {
  std::vector<std::size_t> read = {0};
  for (const std::string& name : columns) {
    read.push_back(static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), name) -
                                            columns_.begin()));
  }
  for (std::size_t part = 0; part < count(); ++part) {
    each_row(folders, part, read, [&](std::size_t row, std::span<const std::string_view> cells) {
      take(row, cells.subspan(1));
    });
  }
}

void SweepParts::fetch(const std::vector<fs::path>& folders, const std::vector<std::size_t>& rows,
                       sim::ResultTable& table) const {
  std::vector<std::size_t> columns = {0};
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (table.columns()[c].is_thin() && c > 0) {
      columns.push_back(c);
    }
  }
  auto next = rows.begin();
  for (std::size_t part = 0; part < count() && next != rows.end(); ++part) {
    if (*next >= (part + 1) * most_) {
      continue;
    }
    each_row(folders, part, columns, [&](std::size_t row, std::span<const std::string_view> cells) {
      if (next == rows.end() || row != *next) {
        return;
      }
      ++next;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (!cells[i].empty()) {
          set_cell(table.columns()[columns[i]], row, cells[i]);
        }
      }
    });
  }
}

void SweepParts::copy(const std::vector<fs::path>& folders, const sim::ResultTable& table,
                      const std::vector<std::string>& columns, base::CsvWriter& csv) const {
  constexpr std::string_view kFound[] = {"meets", "pareto_rank", "reason"};  // after the parts
  struct Source {
    std::size_t cell = 0;                       // of the part, where column is none
    const sim::ResultColumn* column = nullptr;  // of the table
  };
  std::vector<std::size_t> read = {0};
  std::vector<Source> sources;
  for (const std::string& name : columns) {
    const auto at = std::find(columns_.begin(), columns_.end(), name);
    if (at == columns_.end() ||
        std::find(std::begin(kFound), std::end(kFound), name) != std::end(kFound)) {
      sources.push_back({0, &table.column(name)});
    } else {
      sources.push_back({read.size(), nullptr});
      read.push_back(static_cast<std::size_t>(at - columns_.begin()));
    }
  }
  for (std::size_t part = 0; part < count(); ++part) {
    each_row(folders, part, read, [&](std::size_t row, std::span<const std::string_view> cells) {
      for (const Source& source : sources) {
        if (source.column == nullptr) {
          csv.append(cells[source.cell]);
        } else {
          append_cell(*source.column, row, csv);
        }
      }
      csv.end_row();
    });
  }
  csv.close();
}

void SweepParts::remove(const fs::path& folder) const {
  std::error_code error;
  for (std::size_t part = 0; part < count(); ++part) {
    fs::remove(folder / name_of(part), error);
  }
  fs::remove(folder / kSweep, error);
  fs::remove(folder / kIdentity, error);
  // A run that was killed while it wrote leaves what it had written (base/document/output_file.hpp).
  std::vector<fs::path> unfinished;
  for (const fs::directory_entry& file : fs::directory_iterator(folder, error)) {
    if (file.path().extension() == ".part") {
      unfinished.push_back(file.path());
    }
  }
  for (const fs::path& file : unfinished) {
    fs::remove(file, error);
  }
  fs::remove(folder, error);
}

bool simulates(const fs::path& folder) { return says_simulate(identity_in(folder)); }

}  // namespace roofcast::cli
