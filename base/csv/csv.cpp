// SPDX-License-Identifier: Apache-2.0
#include "base/csv/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "base/csv/csv_row.hpp"
#include "base/csv/formula.hpp"
#include "base/csv/packed_file.hpp"
#include "base/document/renamed.hpp"
#include "base/nearest.hpp"

namespace roofcast::base {
namespace {

// Of what is not a regular file, such as a pipe or a device. Some devices have no end.
constexpr std::size_t kMostOfPipe = std::size_t{256} << 20U;  // B
// Of a file that is read whole.
constexpr std::size_t kMostOfFile = std::size_t{4} << 30U;  // B

// The bytes that end a cell without quotes, or must not be in it.
constexpr auto kEndsPlain = [] {
  std::array<bool, 256> ends{};
  for (const char c : {',', '\n', '"', '\r'}) {
    ends[static_cast<unsigned char>(c)] = true;
  }
  return ends;
}();

// One pass over the text that unquotes the cells in place. What is written never overtakes what is
// read: a cell and its separator take at most as many bytes as before.
class Parser {
 public:
  Parser(std::string& text, const std::string& name, std::vector<std::size_t>& starts,
         std::size_t line = 1)
      : text_(text), name_(name), starts_(starts), line_(line) {}

  // Returns the number of cells in the header; the rest are multiples of it.
  std::size_t run() {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text_.starts_with(kByteOrderMark)) {
      read_ = kByteOrderMark.size();
    }
    if (read_ == text_.size()) {
      throw CsvError(fmt::format("{}: error: the file is empty; a header line is expected", name_));
    }
    text_.push_back('\n');  // stops the last cell, and is room for its separator
    end_ = text_.size() - 1;
    std::size_t width = 0;
    starts_.push_back(0);
    while (read_ < end_) {
      const std::size_t line = line_;
      const std::size_t before = starts_.size();
      while (!cell()) {
      }
      const std::size_t cells = starts_.size() - before;
      if (width == 0) {
        width = cells;
        reserve(width);
      } else if (cells != width) {
        refuse_csv_width(name_, line, cells, width);
      }
    }
    text_.resize(write_);
    return width;
  }

 private:
  // One byte a cell is the least, so a text of line ends cannot ask for more than a few times its
  // size.
  void reserve(std::size_t width) {
    const auto lines = static_cast<std::size_t>(
        std::count(text_.begin() + static_cast<std::ptrdiff_t>(read_), text_.end(), '\n'));
    starts_.reserve(std::min((lines + 2) * width + 1, text_.size() + 2));
  }

  // Reads one cell and the separator behind it; true when that ends the row.
  bool cell() {
    if (text_[read_] == '"') {
      quoted_cell();
    } else {
      const std::size_t start = read_;
      const char* at = text_.data() + read_;
      while (!ends_plain(*at)) {
        ++at;
      }
      read_ = static_cast<std::size_t>(at - text_.data());
      keep(start, read_);
      if (read_ < end_ && text_[read_] == '"') {
        fail("a quote inside a cell that does not start with one");
      }
    }
    drop_apostrophe(starts_.back());
    const bool last = end_of_row();
    text_[write_++] = ',';
    starts_.push_back(write_);
    return last;
  }

  static bool ends_plain(char c) { return kEndsPlain[static_cast<unsigned char>(c)]; }

  void quoted_cell() {
    const std::size_t first_line = line_;
    ++read_;
    while (true) {
      const std::size_t start = read_;
      while (read_ < end_ && text_[read_] != '"') {
        line_ += text_[read_] == '\n' ? 1U : 0U;
        ++read_;
      }
      keep(start, read_);
      if (read_ == end_) {
        line_ = first_line;
        fail("a quoted cell that is never closed");
      }
      ++read_;
      if (read_ == end_ || text_[read_] != '"') {
        break;
      }
      keep(read_, read_ + 1);  // a doubled quote is a quote
      ++read_;
    }
    if (read_ < end_ && (!ends_plain(text_[read_]) || text_[read_] == '"')) {
      fail("text after the closing quote of a cell");
    }
  }

  // Of the cell that was read last.
  void drop_apostrophe(std::size_t start) {
    if (write_ > start && text_[start] == '\'' &&
        is_formula({text_.data() + start + 1, write_ - start - 1})) {
      std::memmove(text_.data() + start, text_.data() + start + 1, write_ - start - 1);
      --write_;
    }
  }

  bool end_of_row() {
    if (read_ == end_) {
      return true;
    }
    if (text_[read_] == ',') {
      ++read_;
      return false;
    }
    if (text_[read_] == '\r') {
      ++read_;
      if (read_ == end_) {
        return true;
      }
      if (text_[read_] != '\n') {
        fail("a carriage return without a line feed");
      }
    }
    ++read_;
    ++line_;
    return true;
  }

  void keep(std::size_t from, std::size_t to) {
    if (write_ != from && to > from) {
      std::memmove(text_.data() + write_, text_.data() + from, to - from);
    }
    write_ += to - from;
  }

  [[noreturn]] void fail(std::string_view what) const {
    throw CsvError(fmt::format("{}:{}: error: {}", name_, line_, what));
  }

  std::string& text_;
  const std::string& name_;
  std::vector<std::size_t>& starts_;
  std::size_t read_ = 0;
  std::size_t write_ = 0;
  std::size_t end_ = 0;
  std::size_t line_;
};

}  // namespace

std::optional<std::size_t> CsvTable::find_column(std::string_view column) const {
  auto found = std::find(columns_.begin(), columns_.end(), column);
  if (found == columns_.end()) {
    // The file or the one who asks may still use the old name.
    const std::string_view now = current_name(column);
    const std::string_view other = now != column ? now : old_name(column);
    found = other.empty() ? found : std::find(columns_.begin(), columns_.end(), other);
    if (found != columns_.end()) {
      note_renamed_column(name_, now != column ? column : other);
    }
  }
  return found == columns_.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(found - columns_.begin()));
}

std::size_t CsvTable::column(std::string_view column) const {
  if (const auto found = find_column(column)) {
    return *found;
  }
  const auto near = nearest_name(column, columns_);
  throw CsvError(fmt::format("{}: error: no column \"{}\"{}", name_, column,
                             near ? fmt::format("; did you mean \"{}\"?", *near) : ""));
}

CsvTable::CsvTable(std::string text, std::string name, Lines lines)
    : name_(std::move(name)), text_(std::move(text)) {
  const std::size_t width = Parser(text_, name_, starts_).run();
  const std::size_t height = (starts_.size() - 1) / width;
  const bool of_rows = lines == Lines::rows;
  row_stride_ = of_rows ? width : 1;
  column_stride_ = of_rows ? 1 : width;
  rows_ = (of_rows ? height : width) - 1;
  const std::size_t count = of_rows ? width : height;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t cell = i * column_stride_;
    columns_.push_back(text_.substr(starts_[cell], starts_[cell + 1] - 1 - starts_[cell]));
  }
  std::vector<std::string> sorted = columns_;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    throw CsvError(fmt::format("{}:{}error: two columns are called \"{}\"", name_,
                               of_rows ? "1: " : " ", *twice));
  }
}

CsvTable parse_csv(std::string text, std::string name) {
  return {std::move(text), std::move(name), CsvTable::Lines::rows};
}

CsvTable parse_columns(std::string text, std::string name) {
  return {std::move(text), std::move(name), CsvTable::Lines::columns};
}

void split_csv_row(std::string& row, const std::string& name, std::size_t line,
                   std::vector<std::size_t>& starts) {
  starts.clear();
  Parser(row, name, starts, line).run();
}

void refuse_csv_width(const std::string& name, std::size_t line, std::size_t cells,
                      std::size_t width) {
  throw CsvError(fmt::format("{}:{}: error: {} cell{}, but the first line has {}", name, line,
                             cells, cells == 1 ? "" : "s", width));
}

std::string read_text(const std::filesystem::path& file) {
  constexpr unsigned kBlock = 1U << 20U;
  PackedFile in(file, kBlock);
  std::error_code no_size;
  const auto size =
      std::min<std::uintmax_t>(std::filesystem::file_size(file, no_size), kMostOfFile);
  std::string text;
  std::size_t used = 0;
  if (!no_size) {
    text.reserve(static_cast<std::size_t>(size) + kBlock + 1);  // no copy later when it is plain
  }
  for (std::size_t got = 1; got > 0; used += got) {
    if (used > kMostOfPipe && !std::filesystem::is_regular_file(file)) {
      refuse_file(file.string(), "read",
                  "it is no file, and longer than 256 MiB; write it to a file first");
    }
    if (used > kMostOfFile) {
      refuse_file(file.string(), "read", "it is longer than 4 GiB");
    }
    if (used + kBlock > text.capacity()) {
      text.reserve(2 * text.capacity() + kBlock);
    }
    text.resize(used + kBlock);
    got = in.read(text.data() + used, kBlock);
  }
  text.resize(used);
  return text;
}

CsvTable read_csv(const std::filesystem::path& file) {
  const bool of_columns = unpacked_name(file).extension() == ".columns";
  return (of_columns ? parse_columns : parse_csv)(read_text(file), file.string());
}

std::optional<double> parse_number(std::string_view cell) {
  double value = 0.0;
  const auto [end, status] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  const bool whole = status == std::errc{} && end == cell.data() + cell.size();
  return whole && !std::isnan(value) ? std::optional(value) : std::nullopt;
}

std::optional<bool> parse_flag(std::string_view cell) {
  const auto is = [&](const auto& words) {
    return std::find(std::begin(words), std::end(words), cell) != std::end(words);
  };
  static constexpr std::string_view kYes[] = {"true", "True", "TRUE"};
  static constexpr std::string_view kNo[] = {"false", "False", "FALSE"};
  return is(kYes) ? std::optional(true) : is(kNo) ? std::optional(false) : std::nullopt;
}

}  // namespace roofcast::base
