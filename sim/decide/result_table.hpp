// SPDX-License-Identifier: Apache-2.0
//
// The result of a sweep as a table: a row a point, a column for each thing that is known of it.
//
//   point, <one column an axis>, fits, meets, pareto_rank, reason, <metrics in SI units>, <bounds>
//
// It is filled once, by a sweep (sim/decide/sweep_run.hpp) or from a CSV (cli/tables/result_csv.hpp).
// Whatever shows a result reads it: CSV, front, report, brief. Memory: 8 bytes a number and 4 a rank, none where a whole
// column is empty; 1 byte a text, 4 where a column has more than 256 different ones, and each of these once. A column that
// is thin keeps the rows that are set alone.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/result/condition.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::sim {

// The metric whose simulated value a column has: replayed_X (sim/confirm/replayed_rows.hpp). nullptr where it is none.
const Metric* replayed_metric(std::string_view column);

// The metric whose value for one class of requests a column has: attainment_CLASS, goodput_CLASS (sim/decide/sweep_run.hpp).
// nullptr where it is none.
const Metric* class_metric(std::string_view column);

// Which of its texts a column has in each row.
class TextCodes {
 public:
  std::uint32_t operator[](std::size_t row) const { return is_wide_ ? wide_[row] : narrow_[row]; }
  void set(std::size_t row, std::uint32_t code) {
    if (is_wide_) {
      wide_[row] = code;
    } else {
      narrow_[row] = static_cast<std::uint8_t>(code);
    }
  }
  void resize(std::size_t rows);
  void make_room_for(std::uint32_t code);

 private:
  std::vector<std::uint8_t> narrow_;  // while all codes fit
  std::vector<std::uint32_t> wide_;
  bool is_wide_ = false;
};

// A column holds numbers or texts, by its name: metrics, what was replayed of them or is of one class, `point` and `pareto_rank` are
// numbers.
class ResultColumn {
 public:
  explicit ResultColumn(std::string name);
  ResultColumn(ResultColumn&&) = default;
  ResultColumn& operator=(ResultColumn&&) = default;

  const std::string& name() const { return name_; }
  const Metric* metric() const { return metric_; }  // nullptr where the column is none
  bool has_numbers() const { return metric_ != nullptr || whole_ || derived_; }
  bool is_whole() const { return whole_; }  // its numbers count something

  // The number of a row, also of a text that is a number; NaN where there is none.
  double number(std::size_t row) const {
    return !has_numbers()      ? parsed(row)
           : !numbers_.empty() ? numbers_[row]
           : !ranks_.empty()   ? rank(row)
                               : thin_number(row);
  }
  // Whether all its rows are empty, and take no memory.
  bool is_blank() const {
    return has_numbers() && numbers_.empty() && ranks_.empty() && thin_numbers_.empty();
  }
  // The text of a row; only where the column has texts.
  const std::string& text(std::size_t row) const { return texts_[code(row)]; }
  bool says(std::size_t row, std::string_view text) const { return texts_[code(row)] == text; }
  bool is_empty(std::size_t row) const;
  std::string cell(std::size_t row) const;  // as a CSV has it

  // Threads may set different rows at the same time, of a column of numbers once it is filled. For code_of, which keeps
  // the text, they take turns.
  void resize(std::size_t rows);
  void fill();       // makes room for numbers
  void make_thin();  // before it has rows: those that are not set are empty and take no memory
  bool is_thin() const { return thin_; }
  void set(std::size_t row, double number) {
    if (numbers_.empty() && ranks_.empty() && !has_room(row, number)) {
      return;
    }
    if (is_rank_) {
      set_rank(row, number);
    } else {
      numbers_[row] = number;
    }
  }
  std::uint32_t code_of(std::string_view text);
  void set_code(std::size_t row, std::uint32_t code) {
    if (thin_) {
      thin_codes_[row] = code;
    } else {
      codes_.set(row, code);
    }
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double parsed(std::size_t row) const;
  double thin_number(std::size_t row) const;
  std::uint32_t thin_code(std::size_t row) const;
  std::uint32_t code(std::size_t row) const { return thin_ ? thin_code(row) : codes_[row]; }
  double rank(std::size_t row) const { return ranks_[row] == 0 ? kNone : ranks_[row]; }
  void set_rank(std::size_t row, double number);
  bool has_room(std::size_t row, double number);  // else there is no more to do

  std::string name_;
  const Metric* metric_;
  bool derived_;  // replayed, or of one class
  bool whole_;
  bool is_rank_;
  std::size_t rows_ = 0;
  std::vector<double> numbers_;       // by row; none while all are empty, or of ranks
  std::vector<std::uint32_t> ranks_;  // by row, 0 where there is none; none while all are empty
  TextCodes codes_;                   // by row, of texts_
  bool thin_ = false;
  std::unordered_map<std::size_t, double> thin_numbers_;
  std::unordered_map<std::size_t, std::uint32_t> thin_codes_;
  std::deque<std::string> texts_;  // every different one, the empty one first
  std::unordered_map<std::string_view, std::uint32_t> code_of_;
};

class ResultTable {
 public:
  // `name` is what messages call it.
  ResultTable(std::string name, const std::vector<std::string>& columns);

  std::size_t rows() const { return rows_; }
  void resize(std::size_t rows);
  // The last one, empty, and thin where another one is, but for one of which every row will be set. What columns were
  // found before is no longer valid.
  void add_column(const std::string& column, bool whole = false);

  std::vector<ResultColumn>& columns() { return columns_; }
  const std::vector<ResultColumn>& columns() const { return columns_; }
  std::vector<std::string> names() const;                   // of the columns
  const ResultColumn* find(std::string_view column) const;  // nullptr when there is none
  // Throws InputError with the nearest name when there is no such column.
  const ResultColumn& column(std::string_view column) const;
  ResultColumn& column(std::string_view column);

  // False where the table lacks the column.
  bool fits(std::size_t row) const { return is_true(fits_, row); }
  bool meets(std::size_t row) const { return is_true(meets_, row); }
  bool is_on_front(std::size_t row) const;
  std::size_t meeting() const;  // rows that meet every condition

 private:
  std::size_t index_of(std::string_view column) const;  // columns_.size() when there is none
  bool is_true(std::size_t column, std::size_t row) const {
    return column < columns_.size() && columns_[column].says(row, "true");
  }

  std::string name_;
  std::size_t rows_ = 0;
  std::vector<ResultColumn> columns_;
  std::map<std::string, std::size_t, std::less<>> index_;  // of the columns, by name
  std::size_t fits_ = 0;
  std::size_t meets_ = 0;
  std::size_t rank_ = 0;
};

// Whether a row that fits meets a condition on its metrics.
bool holds(const Condition& condition, const ResultTable& table, std::size_t row);

}  // namespace roofcast::sim
