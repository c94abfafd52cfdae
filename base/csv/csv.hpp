// SPDX-License-Identifier: Apache-2.0
//
// Tables as comma-separated text (RFC 4180), plain or compressed by gzip or zstd, a million rows at a time.
//
// Reading is strict. There is one header line with distinct names, and every row has as many cells as the
// header. Quotes stand only around whole cells. Lines end with LF or CRLF; the last one may lack it. A UTF-8
// byte-order mark is skipped. A text that breaks these rules is a CsvError with the file and the line.
//
// Text that a spreadsheet would compute has an apostrophe before it in the file (base/csv/formula.hpp), not in the cells.
//
// A file called *.columns, *.columns.gz or *.columns.zst is such a table transposed: each line is a column, its name first. Equal cells
// then stand together, and gzip makes half as much of a million rows.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv/csv_error.hpp"
#include "base/document/problems.hpp"

namespace roofcast::base {

// Column names and cells. All cells lie in one buffer, 8 bytes of index each; access is O(1).
class CsvTable {
 public:
  CsvTable() = default;                              // no columns
  const std::string& name() const { return name_; }  // the file, for messages
  const std::vector<std::string>& columns() const { return columns_; }
  std::size_t rows() const { return rows_; }

  // The unquoted text of a cell; row < rows(), col < columns().size(). Valid while the table lives
  // where it is.
  std::string_view cell(std::size_t row, std::size_t col) const {
    const std::size_t i = (row + 1) * row_stride_ + col * column_stride_;
    return {text_.data() + starts_[i], starts_[i + 1] - 1 - starts_[i]};
  }

  std::optional<std::size_t> find_column(std::string_view column) const;
  // Throws CsvError with the nearest name when there is no such column.
  std::size_t column(std::string_view column) const;

 private:
  friend CsvTable parse_csv(std::string text, std::string name);
  friend CsvTable parse_columns(std::string text, std::string name);
  enum class Lines { rows, columns };
  CsvTable(std::string text, std::string name, Lines lines);

  std::string name_;
  std::string text_;                 // the cells, unquoted, each followed by one separator
  std::vector<std::size_t> starts_;  // of every cell as the text has them, and one past the last
  std::size_t row_stride_ = 0;       // from a cell to the one below it, in starts_
  std::size_t column_stride_ = 0;    // to the one right of it
  std::vector<std::string> columns_;
  std::size_t rows_ = 0;
};

// `name` is what messages call the text.
CsvTable parse_csv(std::string text, std::string name);
CsvTable parse_columns(std::string text, std::string name);  // a line is a column
// Decompressed as base/csv/packed_file.hpp says.
CsvTable read_csv(const std::filesystem::path& file);
std::string read_text(const std::filesystem::path& file);

// rows.csv.gz and rows.csv.zst → rows.csv; other names stay as they are.
std::filesystem::path unpacked_name(std::filesystem::path file);

// Throws CsvError where the name says that the file holds something else than CSV, such as "rows.parquet".
void check_csv_name(const std::filesystem::path& file);

// The number that is the whole cell, or nothing: not for an empty cell, blanks, a leading "+", NaN,
// or a value beyond the range of a double. "inf" and "-inf" are numbers.
std::optional<double> parse_number(std::string_view cell);
// true, True and TRUE, and so with false, as roofcast, pandas and spreadsheets write them; else nothing.
std::optional<bool> parse_flag(std::string_view cell);

// Writes a table row by row through a buffer. The header is written at construction.
//
//   CsvWriter csv(path, {"name", "time_s"});
//   csv.append("gemm");
//   csv.append(1.5e-3);
//   csv.end_row();
//   csv.close();
//
// A row with too few or too many cells is a bug in the caller: std::logic_error. A write that fails
// (a full disk) is a CsvError, at the latest from close(). The destructor closes too, but cannot
// report; while an exception is on its way it leaves the old file as it was.
class CsvWriter {
 public:
  // `out` outlives the writer.
  CsvWriter(std::ostream& out, const std::vector<std::string>& columns);
  // Replaces the file at close() (base/document/output_file.hpp); compresses when the name ends in ".gz" or ".zst". Throws as
  // check_csv_name does.
  CsvWriter(const std::filesystem::path& file, const std::vector<std::string>& columns);
  CsvWriter(const CsvWriter&) = delete;
  CsvWriter& operator=(const CsvWriter&) = delete;
  ~CsvWriter();

  void append(double value);  // the shortest text that reads back equal; NaN leaves it empty
  void append(std::string_view text);  // quoted only when needed; no formula
  template <std::integral T>
  requires(!std::same_as<T, bool> && !std::same_as<T, char>) void append(T value) {
    char digits[24];
    const auto result = std::to_chars(digits, digits + sizeof digits, value);
    append_plain({digits, static_cast<std::size_t>(result.ptr - digits)});
  }
  template <class T>
  requires(std::same_as<T, bool> ||
           std::same_as<T, char>) void append(T value) = delete;  // would be written as a number
  void end_row();
  // A writer that keeps rows of this table, for another thread, and how they get here: it is empty then.
  CsvWriter apart() const;
  void add_rows(CsvWriter& apart);
  void flush();  // after a row: hands it to the system, so that a process that is killed loses none
  void close();  // flushes; appending afterwards is a std::logic_error

 private:
  class Sink;

  explicit CsvWriter(std::size_t width);
  void start_cell();
  void append_plain(std::string_view text);
  void write_header(const std::vector<std::string>& columns);
  void write_buffer();

  std::unique_ptr<Sink> sink_;  // none where it is closed, or apart
  bool is_apart_ = false;
  std::string buffer_;
  std::size_t whole_rows_ = 0;  // bytes of the buffer up to the last end of a row
  std::size_t width_;
  std::size_t cells_in_row_ = 0;
  int exceptions_ = std::uncaught_exceptions();  // on their way at construction
};

}  // namespace roofcast::base
