// SPDX-License-Identifier: Apache-2.0
#include "calibrate/imports/import.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <sstream>
#include <variant>

#include "base/csv/csv.hpp"
#include "base/document/node.hpp"
#include "base/document/output_file.hpp"
#include "base/document/problems.hpp"
#include "base/document/text_file.hpp"
#include "base/sha256.hpp"
#include "calibrate/operators/kind_columns.hpp"
#include "calibrate/operators/operator_rows.hpp"
#include "calibrate/operators/predict.hpp"
#include "calibrate/platforms/named_parts.hpp"
#include "workloads/serving/serving.hpp"

namespace roofcast::calibrate {
namespace {

using base::Node;

constexpr std::string_view kLibrary = "nccl";

// The stack's id; as it is where it is none of a server's.
std::string stack_called(std::string_view name) {
  const auto id = base::id_called(workloads::stack_catalog(), name);
  return id ? *id : name == "NCCL" ? std::string(kLibrary) : std::string(name);
}

std::vector<std::string> together(const std::vector<ImportSource>& sources) {
  std::vector<std::string> columns = columns_of(sources.front().kind).all();
  std::erase_if(columns, [&](const std::string& column) {
    return std::none_of(sources.begin(), sources.end(), [&](const ImportSource& source) {
      return std::find(source.columns.begin(), source.columns.end(), column) !=
             source.columns.end();
    });
  });
  return columns;
}

void write(const std::vector<std::vector<std::string>>& rows, base::CsvWriter& csv) {
  for (const std::vector<std::string>& row : rows) {
    for (const std::string& cell : row) {
      csv.append(cell);
    }
    csv.end_row();
  }
  csv.close();
}

std::string as_csv(const std::vector<std::string>& columns,
                   const std::vector<std::vector<std::string>>& rows) {
  std::ostringstream text;
  base::CsvWriter csv(text, columns);
  write(rows, csv);
  return text.str();
}

// Rows of a source in the columns of the table, chips and stacks by their ids.
void add_rows(const ImportSource& source, const std::vector<std::string>& columns,
              std::vector<std::vector<std::string>>& rows) {
  for (const std::vector<std::string>& row : source.rows) {
    std::vector<std::string>& out = rows.emplace_back();
    for (const std::string& column : columns) {
      const auto found = std::find(source.columns.begin(), source.columns.end(), column);
      out.push_back(found == source.columns.end()
                        ? std::string()
                        : row[static_cast<std::size_t>(found - source.columns.begin())]);
      if (const hardware::Chip* chip = column == "system" ? chip_called(out.back()) : nullptr) {
        out.back() = chip->id;
      }
      if (column == "fw") {
        out.back() = stack_called(out.back());
      }
    }
  }
}

std::string reason_against(const OperatorRows& rows, std::size_t row, std::string_view kind,
                           ChipPlatforms& platforms) {
  const MeasuredOperator measured = rows.row(row);
  if (chip_called(measured.chip) == nullptr) {
    return fmt::format("no chip of the catalog is called \"{}\"", measured.chip);
  }
  if (measured.stack != kLibrary && measured.stack != kBench &&
      !base::id_called(workloads::stack_catalog(), measured.stack)) {
    return fmt::format("no stack of the catalog is called \"{}\"", measured.stack);
  }
  const sim::Platform* platform = platform_of(measured, kind, platforms);
  if (platform == nullptr) {
    return no_system_with(measured.chip);
  }
  for (const workloads::Operator& op : measured.operators) {
    const auto* collective = std::get_if<workloads::Collective>(&op);
    if (collective != nullptr && measured.stack == kLibrary &&
        collective->ranks > platform->system.scale_up_domain) {
      return fmt::format("{} ranks are more than one system of {} has", collective->ranks,
                         measured.chip);
    }
  }
  return reason_against(measured, platform->machine);
}

Node text_node(std::string text) {
  Node node = base::scalar_node(std::move(text), {});
  node.quoted = true;
  return node;
}

template <class Texts>
Node list_node(const Texts& texts) {
  Node list;
  list.kind = Node::Kind::sequence;
  for (const std::string& text : texts) {
    list.items.push_back(text_node(text));
  }
  return list;
}

Node map_node() {
  Node node;
  node.kind = Node::Kind::map;
  return node;
}

// What is known of the clock of a format.
std::string timer_of(const Imported& imported) {
  std::set<std::string> timers;
  for (const ReadSource& source : imported.sources) {
    timers.insert(
        source.format == "aiconfigurator" ? "collector of AIConfigurator"
        : source.format == "nccl-tests"   ? "nccl-tests"
        : source.format == "nsys" || source.format == "pytorch"
            ? "a profiler: the kernels' own time"
        : source.format == "ncu"
            ? "Nsight Compute: kernels alone, by default at a fixed clock and with an empty cache"
            : "unknown");
  }
  return fmt::format("{}", fmt::join(timers, "; "));
}

std::string manifest(const Imported& imported, const std::filesystem::path& table,
                     const Origin& origin) {
  Node node = map_node();
  const auto or_unknown = [](const std::string& text) {
    return text_node(text.empty() ? "unknown" : text);
  };
  node["title"] = text_node(fmt::format("Imported rows of {}", imported.kind));
  Node said = map_node();
  said["rows"] = base::scalar_node(fmt::format("{}", imported.rows.size()), {});
  said["sha256"] = text_node(base::sha256(base::bytes_of(base::lies_at(table))));
  said["columns"] = list_node(imported.columns);
  node["tables"] = map_node();
  node["tables"].entries.push_back({table.filename().string(), {}, std::move(said)});
  node["source"] = list_node(std::vector{origin.source.empty() ? "unknown" : origin.source});
  node["licence"] = or_unknown(origin.licence);
  node["date"] = text_node(fmt::format("{:%Y-%m-%d}, of the import; the rows have none",
                                       fmt::gmtime(std::time(nullptr))));
  Node hardware = map_node();
  hardware["column"] = text_node("system");
  hardware["values"] = list_node(imported.chips);
  node["hardware"] = std::move(hardware);
  Node stack = map_node();
  stack["column"] = text_node("fw");
  const bool has_versions = std::any_of(imported.versions.begin(), imported.versions.end(),
                                        [](const auto& of) { return !of.second.empty(); });
  if (has_versions) {
    stack["version_column"] = text_node("fw_version");
    stack["versions"] = map_node();
  }
  std::vector<std::string> names;
  for (const auto& [name, versions] : imported.versions) {
    names.push_back(name);
    if (has_versions) {
      stack["versions"][name] = list_node(versions);
    }
  }
  if (!has_versions) {
    stack["values"] = list_node(names);
  }
  node["stack"] = std::move(stack);
  node["timer"] = text_node(origin.timer.empty() ? timer_of(imported) : origin.timer);
  std::vector<std::string> notes;
  for (const ReadSource& source : imported.sources) {
    notes.push_back(fmt::format("{}: {}, sha256 {}, {} of {} rows",
                                std::filesystem::path(source.file).filename().string(),
                                source.format, source.sha256, source.kept, source.rows));
  }
  for (const auto& [reason, count] : imported.refused) {
    notes.push_back(fmt::format("left out, {} rows: {}", count, reason));
  }
  node["notes"] = list_node(notes);
  return base::to_yaml(node);
}

bool is_manifest(const std::filesystem::path& file) {
  const std::string text = base::bytes_of(file);
  return text.starts_with("title:") && text.find("\ntables:") != std::string::npos;
}

}  // namespace

Imported import_rows(const std::vector<std::filesystem::path>& files,
                     const ImportOptions& options) {
  std::vector<ImportSource> sources;
  Imported imported;
  for (const std::filesystem::path& file : files) {
    sources.push_back(read_source(file, options));
    const ImportSource& source = sources.back();
    if (source.kind != sources.front().kind) {
      throw base::InputError(fmt::format("{}: error: rows of {}; those of {} are of {}\n",
                                         file.string(), source.kind, files.front().string(),
                                         sources.front().kind));
    }
    imported.sources.push_back(
        {file.string(), source.format, base::sha256(base::bytes_of(file)), source.rows.size(), 0});
  }
  imported.kind = sources.front().kind;
  imported.columns = together(sources);
  std::vector<std::vector<std::string>> all;
  std::vector<std::size_t> from;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    add_rows(sources[i], imported.columns, all);
    from.resize(all.size(), i);
  }
  const base::CsvTable table = base::parse_csv(as_csv(imported.columns, all), "the imported table");
  const OperatorRows rows(imported.kind, table);
  ChipPlatforms platforms;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::string reason = reason_against(rows, i, imported.kind, platforms); !reason.empty()) {
      ++imported.refused[std::move(reason)];
      continue;
    }
    ++imported.sources[from[i]].kept;
    imported.chips.insert(rows.chip(i));
    std::set<std::string>& versions = imported.versions[std::string(rows.stack(i))];
    if (!rows.version(i).empty()) {
      versions.emplace(rows.version(i));
    }
    imported.rows.push_back(std::move(all[i]));
  }
  if (imported.rows.empty()) {
    std::string reasons;
    for (const auto& [reason, count] : imported.refused) {
      reasons += fmt::format("\n  {} rows: {}", count, reason);
    }
    throw base::InputError(fmt::format("error: no row can be used{}\n", reasons));
  }
  return imported;
}

std::filesystem::path write_imported(const Imported& imported, const std::filesystem::path& table,
                                     const Origin& origin) {
  std::filesystem::path beside = base::unpacked_name(table);
  if (beside.extension() != ".csv") {
    throw base::InputError(fmt::format(
        "error: {}: a table is called NAME.csv, NAME.csv.gz or NAME.csv.zst\n", table.string()));
  }
  beside.replace_extension(".yaml");
  base::check_beside(beside, table, is_manifest(beside));
  base::CsvWriter csv(table, imported.columns);
  write(imported.rows, csv);
  base::write_text(beside, manifest(imported, table, origin), base::Output::beside);
  return beside;
}

}  // namespace roofcast::calibrate
