// SPDX-License-Identifier: Apache-2.0
//
// A table that is read once and not kept: millions of rows in the memory of a few columns. The rules, the
// messages and compressed files are those of base/csv/csv.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv/csv.hpp"
#include "base/csv/packed_file.hpp"

namespace roofcast::base {

class CsvFile {
 public:
  explicit CsvFile(const std::filesystem::path& file);  // reads the header

  const std::string& name() const { return name_; }
  const std::vector<std::string>& columns() const { return header_.columns(); }
  std::optional<std::size_t> find_column(std::string_view column) const {
    return header_.find_column(column);
  }
  std::size_t column(std::string_view column) const { return header_.column(column); }

  // Calls `row` with the cells of these columns, row after row; they are valid during the call.
  using Row = std::function<void(std::span<const std::string_view> cells)>;
  void read(const std::vector<std::size_t>& columns, const Row& row);
  // What a cell of this column says, during the call for its row; blanks around it do not count. Of an empty cell no
  // number (NaN), and nothing. Throws CsvError with the line where it says something else.
  double number(std::string_view cell, std::size_t column) const;
  std::optional<bool> flag(std::string_view cell, std::size_t column) const;

  // Rows that were read, by growing number, as a table of their own; and as text, without the header.
  CsvTable table(const std::vector<std::size_t>& rows);
  std::string text(const std::vector<std::size_t>& rows);
  const std::string& header_text() const { return header_text_; }  // with its line end

 private:
  bool find_row();  // the next one, in buffer_[begin_, end_); false at the end of the file
  bool fill();      // more of the file behind what the buffer has
  std::string bytes(std::uint64_t from, std::uint64_t to);
  [[noreturn]] void refuse(std::string_view cell, std::size_t column, const char* expected) const;

  std::string name_;
  std::optional<PackedFile> in_;  // none: all is in the buffer
  std::string buffer_;
  std::uint64_t offset_ = 0;  // of the buffer in the file
  std::size_t begin_ = 0;     // of the row that was found
  std::size_t end_ = 0;       // of it, line end included
  bool plain_ = true;         // no quote and no carriage return in it
  std::size_t line_ = 1;      // of the row that comes next
  std::size_t row_line_ = 1;  // of the row that was read last
  CsvTable header_;
  std::string header_text_;
  std::vector<std::uint64_t> starts_;  // of the rows read, and one past the last
};

}  // namespace roofcast::base
