// SPDX-License-Identifier: Apache-2.0
#include "cli/provenance/sweep_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>

#include "base/csv/csv_file.hpp"
#include "base/document/output_file.hpp"
#include "base/document/problems.hpp"
#include "base/document/text_file.hpp"
#include "base/fnv.hpp"
#include "cli/provenance/file_hashes.hpp"
#include "cli/provenance/parts_files.hpp"
#include "cli/provenance/parts_identity.hpp"
#include "cli/tables/result_csv.hpp"
#include "sim/confirm/replay_columns.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/recommend/scan.hpp"

namespace roofcast::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLeast = 256;  // points of a part that is estimated
constexpr std::size_t kMost = 65536;
constexpr std::size_t kLeastReplayed =
    16;  // of one that is replayed, which takes longer by a thousand times
constexpr std::size_t kParts = 256;

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

// Of a part in a folder.
std::string check_text(const fs::path& folder, const HashedFile& part) {
  return hexadecimal(base::fnv(key_of(identity_in(folder)), part.hash)) + "\n";
}

bool is_as_checked(const fs::path& path, std::size_t part, const std::vector<HashedFile>& now) {
  const fs::path folder = path.parent_path();
  return !now.empty() &&
         base::bytes_of(folder / check_name(part)) == check_text(folder, now.front());
}

[[noreturn]] void refuse_part(const fs::path& part) {
  throw base::InputError(
      fmt::format("error: {} is no part of this sweep; remove it\n", part.string()));
}

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

}  // namespace

bool Shard::has(std::size_t part) const {
  std::size_t digits = 0;
  for (std::size_t rest = part; of > 1 && rest > 0; rest /= of) {
    digits += rest % of;
  }
  return digits % of == index - 1;
}

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
  identity_ = parts_identity(sweep_text_, simulate, most_);
}

void SweepParts::adopt(const fs::path& folder) {
  const std::string theirs = identity_in(folder);
  std::string changed = changed_file(identity_, theirs, folder / kSweep);
  changed = changed.empty() ? changed_since(theirs) : changed;
  if (!changed.empty()) {
    refuse(folder, fmt::format("{} has changed since they were made", changed));
  }
  identity_ = with_inputs_of(identity_, theirs);
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
    base::write_text(folder / kIdentity, identity_, base::Output::first);
  }
  check_identity(folder);
  if (!fs::exists(folder / kSweep, error)) {
    base::write_text(folder / kSweep, sweep_text_, base::Output::repeated);
  }
  check(folder);
  for (std::size_t part = 0; part < count(); ++part) {  // those without a check are written over
    const fs::path file = folder / part_name(part);
    if (fs::exists(fs::symlink_status(file, error)) && !has(folder, part) &&
        !is_written_over(file)) {
      refuse_part(file);
    }
  }
}

bool SweepParts::is_written_over(const fs::path& file) const {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(file, error).type();
  if (type != fs::file_type::regular) {
    return type != fs::file_type::symlink;  // a pipe is refused by whoever writes it
  }
  std::ostringstream header;
  base::CsvWriter(header, columns_).close();
  const std::string expected = header.str();
  std::string start(expected.size(), '\0');
  std::ifstream in(file, std::ios::binary);  // as nobody's input: it is a target
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  return start == expected;
}

void SweepParts::check_identity(const fs::path& folder) const {
  std::error_code error;
  if (!fs::exists(folder / kIdentity, error)) {
    refuse(folder, "there is no identity.json in it");
  }
  if (const std::string what = difference(identity_in(folder), identity_); !what.empty()) {
    refuse(folder, what);
  }
}

void SweepParts::check(const fs::path& folder) const {
  check_identity(folder);
  if (base::bytes_of(folder / kSweep) != sweep_text_) {
    refuse(folder, "its sweep.yaml differs");
  }
  note_other_files(folder, count());
}

bool SweepParts::has(const fs::path& folder, std::size_t part) {
  std::error_code error;
  return fs::exists(folder / part_name(part), error) &&
         fs::exists(folder / check_name(part), error);
}

void SweepParts::write(const fs::path& folder, std::size_t part,
                       const sim::ResultTable& rows) const {
  std::ostringstream text;
  base::CsvWriter csv(text, columns_);
  write_results(rows, 1, csv);
  base::write_text(folder / part_name(part), text.view(), base::Output::repeated);
  base::write_text(folder / check_name(part),
                   check_text(folder, hashed({folder / part_name(part)}).at(0)),
                   base::Output::repeated);
}

fs::path SweepParts::file(const std::vector<fs::path>& folders, std::size_t part) const {
  const auto folder =
      std::find_if(folders.begin(), folders.end(), [&](const fs::path& f) { return has(f, part); });
  if (folder == folders.end()) {
    throw base::InputError(fmt::format("error: part {} of {} is not there: {} with its {}\n", part,
                                       count(), part_name(part), check_name(part)));
  }
  return *folder / part_name(part);
}

std::vector<fs::path> SweepParts::files(const std::vector<fs::path>& folders) const {
  std::vector<fs::path> all;
  for (std::size_t part = 0; part < count(); ++part) {
    all.push_back(file(folders, part));
    check_part(folders, part);
  }
  return all;
}

// Before its rows are taken for the first time.
void SweepParts::check_part(const std::vector<fs::path>& folders, std::size_t part) const {
  const fs::path path = file(folders, part);
  const std::vector<HashedFile> now = hashed({path});
  if (!is_as_checked(path, part, now)) {
    refuse_part(path);
  }
  base::note_read(path, base::Contents{now.front().bytes, now.front().hash});
}

// The rows of a part, which one of the folders has. Of the columns the first one is `point`.
void SweepParts::each_row(const std::vector<fs::path>& folders, std::size_t part,
                          const std::vector<std::size_t>& columns, const Row& take) const {
  const fs::path path = this->file(folders, part);
  base::CsvFile file(path);
  const auto is_part = [&](bool holds) {
    if (!holds) {
      refuse_part(path);
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
    check_part(folders, part);
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
    check_part(folders, part);
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

void SweepParts::remove(const fs::path& folder) const { remove_parts(folder, count()); }

void refuse_changed_part(const fs::path& file) {
  std::error_code error;
  const fs::path path = fs::canonical(file, error);
  const auto part = number(path.stem().string());
  if (!error && part && path.filename() == part_name(*part) &&
      fs::exists(path.parent_path() / kIdentity, error) &&
      !is_as_checked(path, *part, hashed({file}))) {
    refuse_part(file);
  }
}

bool simulates(const fs::path& folder) { return says_simulate(identity_in(folder)); }

}  // namespace roofcast::cli
