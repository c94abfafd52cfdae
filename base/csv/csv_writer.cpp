// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <iostream>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <variant>

#include "base/csv/csv.hpp"
#include "base/csv/file_ending.hpp"
#include "base/csv/formula.hpp"
#include "base/csv/packed_file.hpp"
#include "base/csv/shortest_number.hpp"
#include "base/document/harmless.hpp"
#include "base/document/output_file.hpp"
#include "base/document/standard_streams.hpp"

namespace roofcast::base {
namespace {

// Of data and of packed files that a CSV is not.
constexpr std::string_view kOtherEndings[] = {
    ".parquet", ".arrow", ".feather", ".ipc", ".orc",  ".avro", ".h5",    ".db",
    ".sqlite",  ".xlsx",  ".xls",     ".ods", ".json", ".zstd", ".jsonl", ".bz2",
    ".xz",      ".lz4",   ".zip",     ".7z",  ".html", ".htm"};

}  // namespace

std::string ending_of(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

std::filesystem::path unpacked_name(std::filesystem::path file) {
  if (const std::string ending = ending_of(file); ending == ".gz" || ending == ".zst") {
    file.replace_extension();
  }
  return file;
}

void check_csv_name(const std::filesystem::path& file) {
  const std::string ending = ending_of(file);
  if (std::find(std::begin(kOtherEndings), std::end(kOtherEndings), ending) !=
      std::end(kOtherEndings)) {
    refuse_file(file.string(), "write",
                fmt::format("rows are written as CSV, plain or compressed, and {} says otherwise: "
                            "choose a name that ends in .csv, .csv.gz or .csv.zst",
                            ending));
  }
}

class CsvWriter::Sink {
 public:
  explicit Sink(std::ostream& out) : is_stdout_(&out == &std::cout), target_(&out) {}
  explicit Sink(const std::filesystem::path& file) : file_(file) {
    if (is_standard_stream(file)) {
      is_stdout_ = true;
      target_ = &standard_output();
      return;
    }
    output_.emplace(file);
    check_csv_name(file);
    const std::filesystem::path& part = output_->path();
    errno = 0;
    const std::string ending = ending_of(file);
    if (ending == ".gz") {
      // 1: little larger, far faster.
      if (target_.emplace<GzHandle>(gzopen(part.c_str(), "wb1")) == nullptr) {
        fail("open");
      }
    } else if (ending == ".zst") {
      if (!target_.emplace<ZstdWriter>(part).is_open()) {
        fail("open");
      }
    } else if (!target_.emplace<std::ofstream>(part, std::ios::binary).is_open()) {
      fail("open");
    }
  }

  void write(std::string_view text) {
    std::string clean;
    if (is_stdout_) {
      text = clean = harmless(text, "\n\r\t");
    }
    errno = 0;
    if (auto* gz = std::get_if<GzHandle>(&target_)) {
      while (!text.empty()) {
        const std::string_view part = text.substr(0, 1U << 30U);
        if (gzwrite(gz->get(), part.data(), static_cast<unsigned>(part.size())) == 0) {
          fail("write");
        }
        text.remove_prefix(part.size());
      }
    } else if (auto* zstd = std::get_if<ZstdWriter>(&target_)) {
      if (!zstd->write(text)) {
        fail("write");
      }
    } else if (!stream().write(text.data(), static_cast<std::streamsize>(text.size()))) {
      fail("write");
    } else if (output_) {
      output_->hash(text);
    }
  }

  void flush() {
    errno = 0;
    auto* gz = std::get_if<GzHandle>(&target_);
    auto* zstd = std::get_if<ZstdWriter>(&target_);
    if (gz != nullptr     ? gzflush(gz->get(), Z_SYNC_FLUSH) != Z_OK
        : zstd != nullptr ? !zstd->flush()
                          : !stream().flush()) {
      fail("write");
    }
  }

  void close() {
    if (auto* gz = std::get_if<GzHandle>(&target_)) {
      errno = 0;
      if (gzclose(gz->release()) != Z_OK) {
        fail("write");
      }
    } else if (auto* zstd = std::get_if<ZstdWriter>(&target_)) {
      errno = 0;
      if (!zstd->close()) {
        fail("write");
      }
    } else {
      flush();
    }
    if (const std::error_code error = output_ ? output_->commit() : std::error_code{}) {
      errno = error.value();
      fail("write");
    }
  }

 private:
  std::ostream& stream() {
    auto* own = std::get_if<std::ofstream>(&target_);
    return own != nullptr ? *own : *std::get<std::ostream*>(target_);
  }
  [[noreturn]] void fail(std::string_view doing) const {
    refuse_file(file_.empty() ? "output" : file_.string(), doing,
                errno != 0 ? std::generic_category().message(errno) : "the stream failed");
  }

  std::filesystem::path file_;
  std::optional<OutputFile> output_;  // of a file
  bool is_stdout_ = false;            // where a terminal may read
  std::variant<std::ostream*, std::ofstream, GzHandle, ZstdWriter> target_;
};

CsvWriter::CsvWriter(std::ostream& out, const std::vector<std::string>& columns)
    : sink_(std::make_unique<Sink>(out)), width_(columns.size()) {
  write_header(columns);
}

CsvWriter::CsvWriter(const std::filesystem::path& file, const std::vector<std::string>& columns)
    : sink_(std::make_unique<Sink>(file)), width_(columns.size()) {
  write_header(columns);
}

CsvWriter::CsvWriter(std::size_t width) : is_apart_(true), width_(width) {}

CsvWriter CsvWriter::apart() const { return CsvWriter(width_); }

void CsvWriter::add_rows(CsvWriter& apart) {
  if (sink_ == nullptr || cells_in_row_ != 0 || apart.cells_in_row_ != 0) {
    throw std::logic_error("rows for a closed CSV file, or in the middle of a row");
  }
  write_buffer();
  sink_->write(apart.buffer_);
  apart.buffer_.clear();
  apart.whole_rows_ = 0;
}

CsvWriter::~CsvWriter() {
  if (sink_ != nullptr && std::uncaught_exceptions() == exceptions_) {
    try {
      close();
    } catch (...) {  // close() by hand to hear of it
    }
  }
}

void CsvWriter::write_header(const std::vector<std::string>& columns) {
  if (columns.empty()) {
    throw std::logic_error("a CSV file needs a column");
  }
  for (const std::string& column : columns) {
    append(std::string_view(column));
  }
  end_row();
}

void CsvWriter::start_cell() {
  const bool is_closed = sink_ == nullptr && !is_apart_;
  if (is_closed || cells_in_row_ == width_) {
    throw std::logic_error(is_closed ? "a cell for a closed CSV file"
                                     : fmt::format("a CSV row of {} cells gets one more", width_));
  }
  if (cells_in_row_++ > 0) {
    buffer_.push_back(',');
  }
}

void CsvWriter::append_plain(std::string_view text) {
  start_cell();
  buffer_.append(text);
}

void CsvWriter::append(double value) {
  start_cell();
  if (!std::isnan(value)) {
    std::array<char, kLongestNumber> digits;
    const char* end = write_shortest(value, digits.data());
    buffer_.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }
}

void CsvWriter::append(std::string_view text) {
  start_cell();
  const bool quoted = std::any_of(text.begin(), text.end(), [](char c) {
    return c == ',' || c == '"' || c == '\r' || c == '\n';
  });
  if (quoted) {
    buffer_.push_back('"');
  }
  if (is_formula(text)) {
    buffer_.push_back('\'');
  }
  if (!quoted) {
    buffer_.append(text);
    return;
  }
  for (const char c : text) {
    if (c == '"') {
      buffer_.push_back('"');
    }
    buffer_.push_back(c);
  }
  buffer_.push_back('"');
}

void CsvWriter::end_row() {
  if (cells_in_row_ != width_) {
    throw std::logic_error(
        fmt::format("a CSV row has {} cells instead of {}", cells_in_row_, width_));
  }
  buffer_.push_back('\n');
  whole_rows_ = buffer_.size();
  cells_in_row_ = 0;
  constexpr std::size_t kFull = 1U << 18U;
  if (buffer_.size() >= kFull && !is_apart_) {
    write_buffer();
  }
}

void CsvWriter::flush() {
  write_buffer();
  sink_->flush();
}

void CsvWriter::write_buffer() {
  // Cleared first: after a failure, closing does not try the same bytes again.
  const std::string text = std::exchange(buffer_, {});
  whole_rows_ = 0;
  sink_->write(text);
  buffer_.reserve(text.capacity());
}

void CsvWriter::close() {
  if (sink_ == nullptr) {
    return;
  }
  const bool torn = cells_in_row_ != 0;
  const std::unique_ptr<Sink> sink = std::move(sink_);
  buffer_.resize(whole_rows_);
  sink->write(buffer_);
  sink->close();
  if (torn) {
    throw std::logic_error("a CSV file is closed in the middle of a row");
  }
}

}  // namespace roofcast::base
