// SPDX-License-Identifier: Apache-2.0
//
// The rows of one chip and stack that a fit takes from measured tables.
//
// A hash of its shape says whether a row is fitted or judges. Where a table has several versions of the stack, the newest
// with rows of a number format gives all of that format. Own rows that lie beside shipped ones do not change which one is
// the newest: newer ones count as of it.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/version.hpp"
#include "calibrate/fit/version_fit.hpp"
#include "calibrate/operators/operator_rows.hpp"
#include "calibrate/platforms/held_back.hpp"
#include "models/machine.hpp"

namespace roofcast::calibrate {

// Own places are tables or folders of them; a folder has the table of a kind by its name (find_table), a table is named like
// its kind or has its columns.
struct FitSources {
  std::vector<std::filesystem::path> own;
  std::filesystem::path shipped;  // a folder; empty: none
};

struct FitRow {
  MeasuredOperator measured;
  std::uint64_t draw = 0;
  bool own = false;
  bool missed = false;  // calibrate/fit/tuning_misses.hpp
};

struct FitTable {
  std::string kind;
  std::vector<FitRow> held_back;
  std::vector<FitRow> given;
  std::vector<const FitRow*> fitted;  // of the given ones, those that parameters are fitted to
  std::map<std::string, std::size_t> refused;
};

// All rows that were read and mean something. The hash (FNV-1a, a sum over rows) knows no order.
struct RowsRead {
  std::size_t own = 0, shipped = 0;
  std::uint64_t hash = 0;
};

class FitTables {
 public:
  // `machine`: rows that it cannot run are refused.
  FitTables(const FitSources& sources, std::string chip, std::string stack,
            const models::Machine& machine, Split split);

  // Nothing where no table has rows of the kind. An empty table has only rows of older versions.
  std::optional<FitTable> read(const std::string& kind);

  const RowsRead& rows() const { return rows_; }
  const std::string& version() const { return version_text_; }  // the newest; empty: none
  const OlderRows& older() const { return older_; }
  // Rows of the stack whose kernels are as those that servers of this one tune (calibrate/operators/predict.hpp).
  const VersionRows& tuned() const { return tuned_; }

 private:
  struct Source {
    std::filesystem::path file;
    bool own = false;
  };
  void add_source(const std::string& kind, const std::filesystem::path& file, bool own);
  bool is_measured(const std::string& kind, const OperatorRows& rows, std::size_t row) const;
  bool is_of(const std::string& kind, const OperatorRows& rows, std::size_t row,
             bool borrowed) const;
  // Whether the stack itself has no row of the kind, so that another's with its kernels may stand for it.
  bool borrows(const std::string& kind, const std::deque<OperatorRows>& readers) const;
  std::set<std::vector<std::string>> layers_of(const std::string& kind,
                                               const std::deque<OperatorRows>& readers,
                                               bool borrowed) const;

  std::map<std::string, std::vector<Source>> sources_;  // by kind
  std::string chip_, stack_, instruction_;
  const models::Machine& machine_;
  Split split_;
  RowsRead rows_;
  bool shipped_version_ = false;
  base::Version version_{{}};
  std::string version_text_;
  OlderRows older_;
  VersionRows tuned_;
};

// GEMMs under sustained load, which tell of older versions only.
inline constexpr std::string_view kSustained = "gemm_power";

}  // namespace roofcast::calibrate
