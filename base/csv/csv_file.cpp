// SPDX-License-Identifier: Apache-2.0
#include "base/csv/csv_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/csv/csv_row.hpp"
#include "base/csv/formula.hpp"
#include "base/trimmed.hpp"

namespace roofcast::base {
namespace {

constexpr unsigned kWriterBlock = 1U << 22U;
constexpr std::size_t kMostOfRow = std::size_t{64} << 20U;
constexpr unsigned kSmallBuffer = 1U << 17U;  // of zlib's, which plain blocks then bypass

}  // namespace

CsvFile::CsvFile(const std::filesystem::path& file) : name_(file.string()) {
  if (!std::filesystem::is_regular_file(file)) {
    buffer_ = read_text(file);  // a pipe is read once; also what cannot be opened
  } else {
    in_.emplace(file, kSmallBuffer);
  }
  find_row();
  header_text_ = buffer_.substr(begin_, end_ - begin_);
  header_ = parse_csv(header_text_, name_);
  if (!header_text_.ends_with('\n')) {
    header_text_.push_back('\n');
  }
  starts_.push_back(offset_ + end_);
}

bool CsvFile::fill() {
  if (!in_) {
    return false;
  }
  offset_ += begin_;
  buffer_.erase(0, begin_);
  end_ -= begin_;
  begin_ = 0;
  const std::size_t used = buffer_.size();
  buffer_.resize(used + kWriterBlock);
  const std::size_t got = in_->read(buffer_.data() + used, kWriterBlock);
  buffer_.resize(used + got);
  return got > 0;
}

// A row ends with the first line end that has an even number of quotes before it.
bool CsvFile::find_row() {
  begin_ = end_;
  plain_ = true;
  bool quoted = false;
  std::size_t from = begin_;
  while (true) {
    const char* start = buffer_.data() + from;
    const std::size_t rest = buffer_.size() - from;
    const auto* end = static_cast<const char*>(std::memchr(start, '\n', rest));
    const std::size_t length = end != nullptr ? static_cast<std::size_t>(end - start) : rest;
    if (from + length - begin_ > kMostOfRow) {
      throw CsvError(fmt::format("{}:{}: error: a row of more than 64 MiB", name_, line_));
    }
    if (end == nullptr) {
      const std::size_t before = begin_;
      const bool more = fill();
      from -= before - begin_;
      if (more) {
        continue;  // looks at the part of the line again
      }
    }
    start = buffer_.data() + from;
    if (std::memchr(start, '"', length) != nullptr) {
      plain_ = false;
      quoted = quoted != (std::count(start, start + length, '"') % 2 != 0);
    }
    plain_ = plain_ && std::memchr(start, '\r', length) == nullptr;
    end_ = from + length + (end != nullptr ? 1 : 0);
    if (end == nullptr || !quoted) {
      return end_ > begin_;
    }
    from = end_;
  }
}

void CsvFile::read(const std::vector<std::size_t>& columns, const Row& row) {
  const std::size_t width = header_.columns().size();
  line_ += static_cast<std::size_t>(std::count(header_text_.begin(), header_text_.end(), '\n'));
  const std::size_t last = columns.empty() ? 0 : *std::max_element(columns.begin(), columns.end());
  std::vector<std::string_view> found(last + 1);  // cells up to the last that is asked for
  std::vector<std::string_view> cells(columns.size());
  std::string text;
  std::vector<std::size_t> starts;
  while (find_row()) {
    row_line_ = line_;
    const char* at = buffer_.data() + begin_;
    const char* end = buffer_.data() + end_;
    if (plain_) {
      end -= *(end - 1) == '\n' ? 1 : 0;
      const auto count = static_cast<std::size_t>(std::count(at, end, ',')) + 1;
      if (count != width) {
        refuse_csv_width(name_, line_, count, width);
      }
      for (std::string_view& cell : found) {
        const auto* comma =
            static_cast<const char*>(std::memchr(at, ',', static_cast<std::size_t>(end - at)));
        const char* stop = comma != nullptr ? comma : end;
        cell = {at, static_cast<std::size_t>(stop - at)};
        if (at != stop && *at == '\'' && is_formula(cell.substr(1))) {
          cell.remove_prefix(1);
        }
        at = comma != nullptr ? comma + 1 : end;
      }
      ++line_;
    } else {
      text.assign(at, end);
      const auto lines = static_cast<std::size_t>(std::count(at, end, '\n'));
      split_csv_row(text, name_, line_, starts);
      if (starts.size() - 1 != width) {
        refuse_csv_width(name_, line_, starts.size() - 1, width);
      }
      for (std::size_t c = 0; c <= last; ++c) {
        found[c] = std::string_view(text).substr(starts[c], starts[c + 1] - 1 - starts[c]);
      }
      line_ += lines;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      cells[i] = found[columns[i]];
    }
    starts_.push_back(offset_ + end_);
    row(cells);
  }
}

double CsvFile::number(std::string_view cell, std::size_t column) const {
  const std::string_view text = trimmed(cell);
  const auto value = parse_number(text);
  if (!value && !text.empty() && text != "nan" && text != "NaN") {
    refuse(cell, column, "a number");
  }
  return value.value_or(std::nan(""));
}

std::optional<bool> CsvFile::flag(std::string_view cell, std::size_t column) const {
  const std::string_view text = trimmed(cell);
  const auto value = parse_flag(text);
  if (!value && !text.empty()) {
    refuse(cell, column, "true or false");
  }
  return value;
}

void CsvFile::refuse(std::string_view cell, std::size_t column, const char* expected) const {
  throw CsvError(fmt::format("{}:{}: error: {}: {} is expected, not \"{}\"", name_, row_line_,
                             columns()[column], expected, cell));
}

std::string CsvFile::bytes(std::uint64_t from, std::uint64_t to) {
  const auto size = static_cast<std::size_t>(to - from);
  if (!in_) {
    return buffer_.substr(static_cast<std::size_t>(from), size);
  }
  std::string text(size, '\0');
  in_->read_again(from, text.data(), static_cast<unsigned>(size));
  return text;
}

CsvTable CsvFile::table(const std::vector<std::size_t>& rows) {
  return parse_csv(header_text_ + text(rows), name_);
}

std::string CsvFile::text(const std::vector<std::size_t>& rows) {
  std::string text;
  for (const std::size_t row : rows) {
    text += bytes(starts_.at(row), starts_.at(row + 1));
    if (!text.ends_with('\n')) {
      text.push_back('\n');
    }
  }
  return text;
}

}  // namespace roofcast::base
