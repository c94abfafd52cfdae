// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/request_traces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/csv/csv_column.hpp"
#include "base/document/problems.hpp"

namespace roofcast::workloads {
namespace {

constexpr std::int64_t kMostPriority = 1'000'000;
constexpr std::int64_t kMooncakeBlock = 512;
constexpr double kMostSeconds = 1e12;  // more than any clock counts from its beginning

// The first arrives at 0.
void sort_by_arrival(std::vector<Request>& requests) {
  const auto earlier = [](const Request& a, const Request& b) { return a.arrival < b.arrival; };
  if (!std::is_sorted(requests.begin(), requests.end(), earlier)) {
    std::stable_sort(requests.begin(), requests.end(), earlier);
  }
  const base::Seconds first = requests.front().arrival;
  for (Request& request : requests) {
    request.arrival = request.arrival - first;
  }
}

// ---- Tables -------------------------------------------------------------------------------------

using Column = base::CsvColumn;

Requests from_own(const base::CsvTable& table) {
  base::refuse_other_columns(table,
                             {"arrival_s", "input_tokens", "output_tokens", "session", "priority"});
  const Column arrival(table, "arrival_s");
  const Column input(table, "input_tokens");
  const Column output(table, "output_tokens");
  std::optional<Column> session;
  if (table.find_column("session")) {
    session.emplace(table, "session");
  }
  std::optional<Column> priority;
  if (table.find_column("priority")) {
    priority.emplace(table, "priority");
  }
  Requests read;
  read.requests.reserve(table.rows());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto seconds = base::parse_number(arrival.text(row));
    if (!seconds || *seconds < 0.0 || *seconds > kMostSeconds) {
      arrival.fail(row, "seconds from 0 to 1e12 are expected");
    }
    Request request;
    request.arrival = base::Seconds::from_si(*seconds);
    request.input_tokens = input.count(row, 1, kMostTokens);
    request.output_tokens = output.count(row, 1, kMostTokens);
    if (session && !session->text(row).empty()) {
      request.session = static_cast<std::int32_t>(
          session->count(row, 0, std::numeric_limits<std::int32_t>::max()));
    }
    if (priority) {
      request.priority = priority->count(row, 0, kMostPriority);
    }
    read.requests.push_back(request);
  }
  return read;
}

// 100 ns since 1970 of "2023-11-16 18:17:03.9799600", its fraction of up to nine digits and "+00:00"
// optional.
std::optional<std::int64_t> azure_ticks(std::string_view text) {
  const auto field = [&](std::size_t at, std::size_t digits) -> std::int64_t {
    std::int64_t value = 0;
    for (std::size_t i = at; i < at + digits; ++i) {
      if (text[i] < '0' || text[i] > '9') {
        return -1;
      }
      value = 10 * value + (text[i] - '0');
    }
    return value;
  };
  if (text.ends_with("+00:00")) {
    text.remove_suffix(6);
  }
  if (text.size() < 19 || text.size() == 20 || text.size() > 29 || text[4] != '-' ||
      text[7] != '-' || text[10] != ' ' || text[13] != ':' || text[16] != ':') {
    return std::nullopt;
  }
  std::int64_t fraction = 0;
  if (text.size() > 20) {
    fraction = field(20, text.size() - 20);
    if (text[19] != '.' || fraction < 0) {
      return std::nullopt;
    }
    for (std::size_t digits = text.size() - 20; digits < 9; ++digits) {
      fraction *= 10;
    }
  }
  const std::int64_t year = field(0, 4);
  const std::int64_t month = field(5, 2);
  const std::int64_t day = field(8, 2);
  const std::int64_t hours = field(11, 2);
  const std::int64_t minutes = field(14, 2);
  const std::int64_t seconds = field(17, 2);
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (std::min({year, month, day, hours, minutes, seconds}) < 0 || !date.ok() || hours > 23 ||
      minutes > 59 || seconds > 60) {
    return std::nullopt;
  }
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 10'000'000 + fraction / 100;
}

Requests from_azure(const base::CsvTable& table) {
  base::refuse_other_columns(table, {"TIMESTAMP", "ContextTokens", "GeneratedTokens"});
  const Column timestamp(table, "TIMESTAMP");
  const Column input(table, "ContextTokens");
  const Column output(table, "GeneratedTokens");
  Requests read;
  read.requests.reserve(table.rows());
  std::vector<std::int64_t> ticks;
  ticks.reserve(table.rows());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto at = azure_ticks(timestamp.text(row));
    if (!at) {
      timestamp.fail(row, "a time such as 2023-11-16 18:17:03.9799600 is expected");
    }
    ticks.push_back(*at);
    Request request;
    request.input_tokens = input.count(row, 1, kMostTokens);
    request.output_tokens = output.count(row, 1, kMostTokens);
    read.requests.push_back(request);
  }
  const std::int64_t first = ticks.empty() ? 0 : *std::min_element(ticks.begin(), ticks.end());
  for (std::size_t row = 0; row < ticks.size(); ++row) {
    read.requests[row].arrival =
        base::Seconds::from_si(static_cast<double>(ticks[row] - first) / 1e7);
  }
  return read;
}

Requests from_table(const base::CsvTable& table) {
  if (table.find_column("TIMESTAMP")) {
    return from_azure(table);
  }
  if (table.find_column("arrival_s")) {
    return from_own(table);
  }
  throw base::InputError(
      fmt::format("{}:1: error: not a trace of requests: the first line is neither "
                  "\"arrival_s,input_tokens,output_tokens\", nor "
                  "\"TIMESTAMP,ContextTokens,GeneratedTokens\", nor a JSON object",
                  table.name()));
}

// ---- One JSON object a line ---------------------------------------------------------------------

class MooncakeReader {
 public:
  MooncakeReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Requests run() {
    Requests read;
    read.block_tokens = kMooncakeBlock;
    while (!at_end()) {
      line_start_ = at_;
      if (text_[at_] != '\n' && text_[at_] != '\r') {
        read.requests.push_back(request(read.blocks));
      }
      skip('\r');
      if (!at_end() && !skip('\n')) {
        fail("the end of the line is expected");
      }
      ++line_;
    }
    return read;
  }

 private:
  Request request(std::vector<std::uint64_t>& blocks) {
    Request read;
    read.first_block = blocks.size();
    unsigned seen = 0;
    expect('{');
    do {
      blanks();
      const std::size_t key_at = at_;
      const unsigned key = key_index();
      if ((seen >> key & 1U) != 0) {
        at_ = key_at;
        fail("the key is there twice");
      }
      seen |= 1U << key;
      expect(':');
      blanks();
      switch (key) {
        case 0:
          read.arrival = milliseconds() * base::millisecond;
          break;
        case 1:
          read.input_tokens = tokens();
          break;
        case 2:
          read.output_tokens = tokens();
          break;
        default:
          hashes(blocks);
      }
      blanks();
    } while (skip(','));
    expect('}');
    blanks();
    for (unsigned key = 0; key < std::size(kKeys); ++key) {
      if ((seen >> key & 1U) == 0) {
        at_ = line_start_;
        fail(fmt::format("the key \"{}\" is required", kKeys[key]));
      }
    }
    const std::size_t count = blocks.size() - read.first_block;
    if (count > static_cast<std::size_t>((read.input_tokens - 1) / kMooncakeBlock + 1)) {
      at_ = line_start_;
      fail(fmt::format("{} hash_ids are more than the blocks of {} tokens in {}", count,
                       kMooncakeBlock, read.input_tokens));
    }
    read.block_count = static_cast<std::uint32_t>(count);
    return read;
  }

  unsigned key_index() {
    const std::size_t start = at_;
    expect('"');
    const std::size_t end = std::min({text_.find('"', at_), text_.find('\n', at_), text_.size()});
    const std::string_view key = text_.substr(at_, end - at_);
    const auto* const found = std::find(std::begin(kKeys), std::end(kKeys), key);
    if (found == std::end(kKeys)) {
      at_ = start;
      fail(fmt::format("unknown key (allowed: {})", fmt::join(kKeys, ", ")));
    }
    at_ = end;
    expect('"');
    return static_cast<unsigned>(found - std::begin(kKeys));
  }

  double milliseconds() {
    double value = 0.0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || !(value >= 0.0 && value <= 1e3 * kMostSeconds)) {
      fail("milliseconds from 0 to 1e15 are expected");
    }
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  template <class T>
  T integer(T least, T most, std::string_view expected) {
    T value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    const auto after = static_cast<std::size_t>(end - text_.data());
    if (error != std::errc() || value < least || value > most ||
        (after < text_.size() && (text_[after] == '.' || text_[after] == 'e'))) {
      fail(expected);
    }
    at_ = after;
    return value;
  }
  std::int64_t tokens() {
    return integer<std::int64_t>(1, kMostTokens, "a whole number of at least 1 is expected");
  }

  void hashes(std::vector<std::uint64_t>& blocks) {
    expect('[');
    blanks();
    if (skip(']')) {
      return;
    }
    do {
      blanks();
      blocks.push_back(integer<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max(),
                                              "a whole number from 0 on is expected"));
      blanks();
    } while (skip(','));
    expect(']');
  }

  bool at_end() const { return at_ == text_.size(); }
  void blanks() {
    while (!at_end() && (text_[at_] == ' ' || text_[at_] == '\t')) {
      ++at_;
    }
  }
  bool skip(char c) {
    const bool there = !at_end() && text_[at_] == c;
    at_ += there ? 1U : 0U;
    return there;
  }
  void expect(char c) {
    blanks();
    if (!skip(c)) {
      fail(fmt::format("'{}' is expected", c));
    }
  }
  [[noreturn]] void fail(std::string_view what) const {
    throw base::InputError(
        fmt::format("{}:{}:{}: error: {}", name_, line_, at_ - line_start_ + 1, what));
  }

  static constexpr std::string_view kKeys[] = {"timestamp", "input_length", "output_length",
                                               "hash_ids"};
  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

Requests parse_requests(std::string text, const std::string& name) {
  Requests read = text.starts_with('{') ? MooncakeReader(text, name).run()
                                        : from_table(base::parse_csv(std::move(text), name));
  if (read.requests.empty()) {
    throw base::InputError(fmt::format("{}: error: a trace without a request", name));
  }
  sort_by_arrival(read.requests);
  return read;
}

Requests read_requests(const std::filesystem::path& file) {
  return parse_requests(base::read_text(file), file.string());
}

}  // namespace roofcast::workloads
