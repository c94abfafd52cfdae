// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/collective_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/csv/csv.hpp"
#include "base/document/notes.hpp"
#include "base/document/problems.hpp"
#include "calibrate/logs/measured_log.hpp"

namespace roofcast::calibrate {
namespace {

using workloads::CollectiveKind;

constexpr std::pair<std::string_view, CollectiveKind> kPrograms[] = {
    {"all_reduce_perf", CollectiveKind::all_reduce},
    {"all_gather_perf", CollectiveKind::all_gather},
    {"reduce_scatter_perf", CollectiveKind::reduce_scatter},
    {"alltoall_perf", CollectiveKind::all_to_all},
    {"broadcast_perf", CollectiveKind::broadcast},
    {"sendrecv_perf", CollectiveKind::send_receive},
};

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> all;
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) {
      return all;
    }
    const std::size_t end = std::min(text.find_first_of(" \t", begin), text.size());
    all.push_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
}

// "#  Rank  0 Group  0 Pid 1623025 on    host device  0 [0x1b] NVIDIA H100 80GB HBM3"
struct Rank {
  std::string_view host;
  std::string_view gpu;
};
std::optional<Rank> rank_of(std::string_view text) {
  const std::vector<std::string_view> cells = words(text);
  if (cells.size() < 4 || cells[0] != "#" || cells[1] != "Rank") {
    return std::nullopt;
  }
  Rank rank;
  for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
    if (cells[i] == "on") {
      rank.host = cells[i + 1];
    }
  }
  if (const std::size_t bracket = text.find(']'); bracket != std::string_view::npos) {
    rank.gpu = text.substr(std::min(text.find_first_not_of(' ', bracket + 1), text.size()));
  }
  return rank;
}

constexpr std::size_t kTimeColumn = 5;  // behind size, count, type, redop and root

// Out of place; "N/A" where nothing was checked.
bool has_wrong_results(std::string_view line) {
  const std::vector<std::string_view> cells = words(line);
  return cells.size() > kTimeColumn + 3 &&
         base::parse_number(cells[kTimeColumn + 3]).value_or(0.0) > 0.0;
}

std::optional<CollectiveTime> time_of(const LogLine& line, const std::string& file) {
  const std::vector<std::string_view> cells = words(line.text);
  if (cells.empty() || !base::parse_number(cells[0])) {
    return std::nullopt;
  }
  const auto refuse = [&](std::string_view message) {
    throw base::InputError(fmt::format("{}:{}: error: {}\n", file, line.number, message));
  };
  if (cells.size() < kTimeColumn + 3) {
    refuse("expects size, count, type, redop, root, time, algbw and busbw: the line is cut off");
  }
  const auto bytes = base::parse_number(cells[0]);
  const auto time = base::parse_number(cells[kTimeColumn]);
  const auto algorithm = base::parse_number(cells[kTimeColumn + 1]);
  const auto bus = base::parse_number(cells[kTimeColumn + 2]);
  if (!time || !algorithm || !bus || *bytes < 0.0 || *time <= 0.0 || !std::isfinite(*bytes) ||
      !std::isfinite(*time)) {
    refuse("time, algbw and busbw are no numbers");
  }
  return CollectiveTime{*bytes, 1e-6 * *time, 1e9 * *algorithm, 1e9 * *bus};
}

// Of busbw / algbw, where rounding to 0.01 GB/s leaves it.
std::optional<std::int64_t> ranks_of(CollectiveKind kind, const CollectiveTime& largest) {
  const double factor = largest.bus / largest.algorithm;
  const double share = kind == CollectiveKind::all_reduce ? factor / 2.0 : factor;
  if (!std::isfinite(share) || share <= 0.0 || share >= 1.0 || largest.algorithm < 1e9) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(std::llround(1.0 / (1.0 - share)));
}

}  // namespace

double bus_factor(CollectiveKind kind, std::int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2.0 * (n - 1.0) / n;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
      return (n - 1.0) / n;
    case CollectiveKind::broadcast:
    case CollectiveKind::send_receive:
      return 1.0;
  }
  return 1.0;
}

CollectiveLog read_collective_log(const std::filesystem::path& file) {
  CollectiveLog log;
  log.name = file.string();
  const std::string text = base::read_text(file);
  const std::vector<LogLine> lines = log_lines(text);
  const auto refuse = [&](std::string_view message) {
    throw base::InputError(fmt::format("{}: error: {}\n", log.name, message));
  };
  std::set<std::string_view> hosts;
  std::set<CollectiveKind> kinds;
  bool below_header = false;
  std::size_t wrong = 0;
  for (const LogLine& line : lines) {
    for (const auto& [program, kind] : kPrograms) {
      if (line.text.find(program) != std::string_view::npos) {
        kinds.insert(kind);
      }
    }
    if (const auto rank = rank_of(line.text)) {
      ++log.ranks;
      hosts.insert(rank->host);
      log.gpu = log.gpu.empty() ? std::string(rank->gpu) : log.gpu;
    }
    below_header = below_header || line.text.find("busbw") != std::string_view::npos;
    if (const auto time = below_header ? time_of(line, log.name) : std::nullopt;
        time && time->bytes > 0.0) {
      if (has_wrong_results(line.text)) {
        ++wrong;
      } else {
        log.times.push_back(*time);
      }
    }
  }
  if (log.times.empty()) {
    refuse(wrong > 0 ? "every size has wrong results (#wrong)"
                     : "no line with a size and its time");
  }
  if (wrong > 0) {
    base::add_note(
        fmt::format("note: {}: {} of {} sizes have wrong results (#wrong) and are left out",
                    log.name, wrong, wrong + log.times.size()));
  }
  log.hosts = static_cast<std::int64_t>(hosts.size());
  const CollectiveTime& largest =
      *std::max_element(log.times.begin(), log.times.end(),
                        [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  if (kinds.size() > 1) {
    refuse("more than one collective: compare one log of nccl-tests at a time");
  }
  if (kinds.empty() && largest.bus <= largest.algorithm) {
    refuse(
        "does not tell which collective it is: keep the command line (all_gather_perf …) in the "
        "log");
  }
  log.kind = kinds.empty() ? CollectiveKind::all_reduce : *kinds.begin();
  if (log.ranks == 0) {
    const auto ranks = ranks_of(log.kind, largest);
    if (!ranks) {
      refuse("lists no ranks, and its bandwidths do not tell how many there are");
    }
    log.ranks = *ranks;
  }
  if (log.ranks < 2) {
    refuse("one rank exchanges nothing");
  }
  return log;
}

}  // namespace roofcast::calibrate
