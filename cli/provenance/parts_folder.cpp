// SPDX-License-Identifier: Apache-2.0
#include "cli/provenance/parts_folder.hpp"

#include <fmt/format.h>

#include "base/document/problems.hpp"
#include "cli/provenance/parts_files.hpp"
#include "cli/provenance/provenance.hpp"
#include "cli/tables/result_csv.hpp"
#include "cli/tables/say.hpp"

namespace roofcast::cli {
namespace {

// A document may be a pipe; in a folder of parts it would wait for ever.
base::Node sweep_of(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kSweep;
  std::error_code error;
  if (std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error)) {
    throw base::InputError(fmt::format("error: {} is no regular file\n", file.string()));
  }
  return base::load_document(file);
}

}  // namespace

PartsFolder::PartsFolder(const std::filesystem::path& folder)
    : document_(sweep_of(folder)),
      points_(sim::read_sweep(document_)),
      text_(sweep_text(document_, points_.sweep())),
      parts_(points_, text_, simulates(folder)) {
  parts_.adopt(folder);
  parts_.check(folder);
}

ResultRows::ResultRows(const std::filesystem::path& results) {
  std::error_code error;
  if (std::filesystem::is_directory(results, error)) {
    parts_ = PartsFolder(results).parts().files({results});
  } else {
    whole_.emplace(results);
  }
}

const FrontRows& ResultRows::read(const FrontGoal& goal) {
  FrontReader& reader = reader_.emplace(goal);
  if (whole_) {
    reader.add(*whole_);
    tell("{}", foreign_provenance(whole_->name()));
  }
  for (const std::filesystem::path& part : parts_) {
    base::CsvFile file(part);
    reader.add(file);
    ends_.push_back(reader.rows().size());
  }
  return reader.rows();
}

base::CsvTable ResultRows::table(const std::vector<std::size_t>& rows) {
  if (whole_) {
    return whole_->table(rows);
  }
  std::string text = base::CsvFile(parts_.front()).header_text();
  auto next = rows.begin();
  for (std::size_t part = 0, first = 0; part < parts_.size(); first = ends_[part++]) {
    std::vector<std::size_t> some;
    for (; next != rows.end() && *next < ends_[part]; ++next) {
      some.push_back(*next - first);
    }
    if (!some.empty()) {
      base::CsvFile file(parts_[part]);
      file.read({}, [](auto) {});
      text += file.text(some);
    }
  }
  return base::parse_csv(std::move(text), parts_.front().parent_path().string());
}

}  // namespace roofcast::cli
