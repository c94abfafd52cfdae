// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/fit_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/document/problems.hpp"
#include "base/fnv.hpp"
#include "calibrate/fit/tuning_misses.hpp"
#include "calibrate/operators/kind_columns.hpp"
#include "calibrate/operators/predict.hpp"
#include "calibrate/platforms/measurements.hpp"
#include "calibrate/platforms/named_parts.hpp"

namespace roofcast::calibrate {
namespace {

constexpr std::size_t kRowsOfAFormat = 600;  // that parameters are fitted to

// Own rows first, then the draw decides; each format gives at most kRowsOfAFormat.
std::vector<const FitRow*> thinned(const std::vector<FitRow>& rows) {
  std::vector<const FitRow*> sorted;
  for (const FitRow& row : rows) {
    if (!row.measured.untuned) {
      sorted.push_back(&row);
    }
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const FitRow* a, const FitRow* b) {
    return std::tuple(std::string_view(a->measured.format), !a->own, a->draw) <
           std::tuple(std::string_view(b->measured.format), !b->own, b->draw);
  });
  std::vector<const FitRow*> kept;
  std::size_t of_format = 0;
  for (const FitRow* row : sorted) {
    of_format =
        kept.empty() || kept.back()->measured.format != row->measured.format ? 0 : of_format;
    if (of_format++ < kRowsOfAFormat) {
      kept.push_back(row);
    }
  }
  return kept;
}

// By number format, of shipped rows where there are some; rows of another stack, as NCCL's, have no version of this one.
class NewestVersions {
 public:
  void add(const OperatorRows& rows, std::size_t count, bool own, const std::string& chip,
           const std::string& stack) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto version = base::parse_version(rows.version(i));
      if (version && rows.stack(i) == stack && rows.chip(i) == chip) {
        base::Version& newest = (own ? own_ : shipped_)[std::string(rows.format(i))];
        newest = std::max(newest, *version);
      }
    }
  }
  const base::Version& of(std::string_view format) const {
    const auto found = shipped_.find(format);
    return found == shipped_.end() ? own_.find(format)->second : found->second;
  }

 private:
  std::map<std::string, base::Version, std::less<>> own_, shipped_;
};

std::uint64_t hash_of(const base::CsvTable& table, std::size_t row, std::string_view kind) {
  std::uint64_t hash = base::fnv(base::kFnvStart, kind);
  for (std::size_t column = 0; column < table.columns().size(); ++column) {
    hash = base::fnv(base::fnv(hash, ";"), table.columns()[column]);
    hash = base::fnv(base::fnv(hash, "="), table.cell(row, column));
  }
  return hash;
}

// Latent attention runs the same kernels under all stacks: FlashMLA in decode on Hopper (FlashAttention 3 under SGLang), those
// generated for TensorRT-LLM on Blackwell, through FlashInfer (vLLM and SGLang documentation, attention backends). So where
// a stack was not measured, TensorRT-LLM's rows stand for it.
bool lends_latent_attention(std::string_view kind, std::string_view row_stack,
                            std::string_view stack, std::string_view instruction) {
  const bool shared = kind == "mla_generation" ? instruction == "wgmma" || instruction == "tcgen05"
                                               : kind == "mla_context" && instruction == "tcgen05";
  return shared && row_stack == "trtllm" && stack != "trtllm";
}

std::string kind_of(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  const std::string stem = name.substr(0, name.find('.'));
  const auto known = operator_kinds();
  return std::find(known.begin(), known.end(), stem) != known.end()
             ? stem
             : kind_with(base::read_csv(file).columns(), file.string());
}

}  // namespace

FitTables::FitTables(const FitSources& sources, std::string chip, std::string stack,
                     const models::Machine& machine, Split split)
    : chip_(std::move(chip)), stack_(std::move(stack)), machine_(machine), split_(split) {
  const hardware::Chip* known = chip_called(chip_);
  instruction_ = known != nullptr ? known->tensor_instruction : "";
  for (const std::filesystem::path& place : sources.own) {
    if (!std::filesystem::is_directory(place)) {
      add_source(kind_of(place), place, true);
    }
  }
  for (const std::string& kind : operator_kinds()) {
    for (const std::filesystem::path& place : sources.own) {
      if (const auto file =
              std::filesystem::is_directory(place) ? find_table(place, kind) : std::nullopt) {
        add_source(kind, *file, true);
      }
    }
    if (!sources.shipped.empty()) {
      if (const auto file = find_table(sources.shipped, kind)) {
        add_source(kind, *file, false);
      }
    }
  }
}

void FitTables::add_source(const std::string& kind, const std::filesystem::path& file, bool own) {
  sources_[kind].push_back({file, own});
}

bool FitTables::is_measured(const std::string& kind, const OperatorRows& rows,
                            std::size_t row) const {
  const bool stands_for = rows.stack(row) == kBench;  // for the stack that is fitted
  return rows.chip(row) == chip_ && (stands_for || has_kernels_of(kind, rows.stack(row), stack_));
}

bool FitTables::is_of(const std::string& kind, const OperatorRows& rows, std::size_t row,
                      bool borrowed) const {
  return is_measured(kind, rows, row) ||
         (borrowed && rows.chip(row) == chip_ &&
          lends_latent_attention(kind, rows.stack(row), stack_, instruction_));
}

bool FitTables::borrows(const std::string& kind, const std::deque<OperatorRows>& readers) const {
  for (const OperatorRows& rows : readers) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (is_measured(kind, rows, i)) {
        return false;
      }
    }
  }
  return true;
}

std::set<std::vector<std::string>> FitTables::layers_of(const std::string& kind,
                                                        const std::deque<OperatorRows>& readers,
                                                        bool borrowed) const {
  std::set<std::vector<std::string>> layers;
  for (const OperatorRows& rows : readers) {
    for (std::size_t i = 0; split_ == Split::layers && i < rows.size(); ++i) {
      if (is_of(kind, rows, i, borrowed)) {
        layers.insert(rows.layer(i));
      }
    }
  }
  return layers;
}

std::optional<FitTable> FitTables::read(const std::string& kind) {
  const bool sustained = kind == kSustained;
  const auto files = sources_.find(kind);
  if (files == sources_.end()) {
    return std::nullopt;
  }
  std::deque<base::CsvTable> tables;  // readers keep references
  std::deque<OperatorRows> readers;
  NewestVersions newest;
  for (const Source& source : files->second) {
    tables.push_back(base::read_csv(source.file));
    readers.emplace_back(kind, tables.back());
    newest.add(readers.back(), tables.back().rows(), source.own, chip_, stack_);
  }
  const bool borrowed = borrows(kind, readers);
  const HeldBackLayers judging(layers_of(kind, readers, borrowed));
  FitTable table{kind, {}, {}, {}, {}};
  bool any = false;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const OperatorRows& rows = readers[t];
    const bool own = files->second[t].own;
    const std::vector<bool> missed = tuning_misses(kind, rows);
    for (std::size_t i = 0; i < tables[t].rows(); ++i) {
      if (rows.chip(i) == chip_ && rows.stack(i) == tuned_like(kind, rows.format(i), stack_)) {
        MeasuredOperator row = rows.row(i);
        if (calibrate::reason_against(row, machine_).empty()) {
          rows_.hash += hash_of(tables[t], i, kind);
          tuned_.version = row.stack;
          tuned_.kinds.insert(kind);
          (held_back(draw_of(rows.shape(i))) ? tuned_.held_back : tuned_.given)
              .push_back(std::move(row));
        }
        continue;
      }
      if (!is_of(kind, rows, i, borrowed)) {
        continue;
      }
      FitRow row{rows.row(i), 0, own, !missed.empty() && missed[i]};
      row.measured.untuned = row.measured.untuned || row.missed;
      if (sustained) {
        if (row.measured.host.launches > 0.0) {
          continue;  // a host paces these otherwise than those of gemm
        }
        row.measured.measured_w = 0.0;  // times are fitted
      }
      if (const std::string reason = calibrate::reason_against(row.measured, machine_);
          !reason.empty()) {
        ++table.refused[reason];
        continue;
      }
      any = true;
      ++(own ? rows_.own : rows_.shipped);
      rows_.hash += hash_of(tables[t], i, kind);
      row.draw = draw_of(rows.shape(i));
      const std::vector<std::string> layer =
          split_ == Split::layers ? rows.layer(i) : std::vector<std::string>();
      const bool judges = layer.empty() ? held_back(row.draw) : judging.has(layer);
      const auto version =
          rows.stack(i) == stack_ ? base::parse_version(rows.version(i)) : std::nullopt;
      // Shipped ones are heard alone, where there are some.
      const bool counts = version && !sustained && !(own && shipped_version_);
      if (counts && (*version > version_ || own == shipped_version_)) {
        version_ = *version;
        version_text_ = rows.version(i);
        shipped_version_ = !own;
      }
      if (version && *version < (sustained ? version_ : newest.of(rows.format(i)))) {
        if (row.missed) {
          continue;
        }
        VersionRows& older = older_[*version];
        older.version = rows.version(i);
        older.kinds.insert(kind);
        (judges ? older.held_back : older.given).push_back(std::move(row.measured));
        continue;
      }
      (judges ? table.held_back : table.given).push_back(std::move(row));
    }
  }
  if (!any) {
    return std::nullopt;
  }
  table.fitted = thinned(table.given);
  return table;
}

}  // namespace roofcast::calibrate
