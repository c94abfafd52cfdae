// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep/sweep_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/document/problems.hpp"
#include "base/threads.hpp"
#include "base/units/unit_text.hpp"
#include "sim/confirm/replayed_estimate.hpp"
#include "sim/decide/shown_columns.hpp"
#include "sim/decide/sweep_run.hpp"

namespace roofcast::cli {
namespace {

constexpr double kProgram = 64e6;  // with a usual sweep, or
constexpr double kAlone = 40e6;    // without what the sweep's points are made of
constexpr double kPage = 72e6;
constexpr double kThread = 3.3e6;
constexpr unsigned kThreadsOfProgram = 2;
constexpr double kRequest = 350.0;
constexpr double kNumber = 8.0;
constexpr double kRank = 4.0;
constexpr double kTexts = 4.0 + 3.0;  // reason; fits, meets, replay
constexpr double kText = 4.0;         // an axis of the groups, or
constexpr double kShortText = 1.0;    // one of few values
constexpr std::size_t kFewValues = 256;
constexpr double kReplayed = 4000.0;  // rows, whole
constexpr double kRow = 1900.0;

std::size_t objectives(const sim::Sweep& sweep) {
  return sweep.pareto.maximize.size() + sweep.pareto.minimize.size();
}

// sim/decide/pareto.hpp
double bytes_of_ranks(const sim::Sweep& sweep) {
  const auto count = static_cast<double>(objectives(sweep));
  return kRank + 8.0 + (count > 2.0 ? 20.0 + 24.0 * count : 0.0);
}

double bytes_of_program(const sim::SweepPoints& points, bool replays) {
  const double replayed = replays ? std::min(static_cast<double>(points.size()), kReplayed) : 0.0;
  return std::max(kProgram, kAlone + static_cast<double>(points.bytes()) + replayed * kRow);
}

double bytes_in_memory(const sim::SweepPoints& points) {
  const auto columns = sim::shown_columns(points.sweep(), sim::result_columns(points));
  return bytes_of_program(points, false) +
         static_cast<double>(points.size()) *
             (kNumber * static_cast<double>(columns.size()) + bytes_of_ranks(points.sweep()));
}

double bytes_in_parts(const sim::SweepPoints& points, const SweepOutputs& outputs) {
  const sim::Sweep& sweep = points.sweep();
  const auto size = static_cast<double>(points.size());
  const auto numbers = static_cast<double>(objectives(sweep) + 1);  // and the cost
  double row = kNumber * numbers + kTexts + bytes_of_ranks(sweep) + (outputs.made_by ? 1.0 : 0.0);
  for (const std::size_t axis : sweep.group_axes()) {
    row += sweep.axes[axis].values.size() < kFewValues ? kShortText : kText;
  }
  return bytes_of_program(points, outputs.replay) + size * row +
         kNumber * static_cast<double>(sim::PointGroups(points).count());
}

// Whether some point may replay a trace. Then no other key says how many requests it has.
bool has_trace(const sim::Sweep& sweep) {
  const auto names_trace = [](const sim::Assignment& a) {
    return a.path == "traffic" || a.path.starts_with("traffic.trace");
  };
  return sweep.base.find_path("traffic.trace") != nullptr ||
         std::any_of(sweep.axes.begin(), sweep.axes.end(), [&](const sim::Axis& axis) {
           return std::any_of(axis.values.begin(), axis.values.end(), [&](const auto& value) {
             return std::any_of(value.set.begin(), value.set.end(), names_trace);
           });
         });
}

// Of the longest run of any replay.
double most_requests(const sim::SweepPoints& points, bool once) {
  sim::ReplayPlan plan;
  plan.once = once;
  const bool traced = has_trace(points.sweep());
  std::unordered_set<const workloads::Traffic*> seen;
  double most = 0.0;
  for (std::size_t point = 0; point < points.size(); ++point) {
    const workloads::Traffic* traffic = points.scenario(point).traffic;
    if (traffic == nullptr || !seen.insert(traffic).second) {
      continue;
    }
    most = std::max(most, sim::most_requests(*traffic, plan));
    if (const auto trace = traced ? points.stream(point).trace : std::nullopt;
        trace && trace->window != nullptr) {
      most = std::max(most, static_cast<double>(trace->window->requests()) *
                                static_cast<double>(trace->repeat));
    }
  }
  return most;
}

// What threads take beyond the program.
class ThreadBytes {
 public:
  ThreadBytes(const sim::SweepPoints& points, const SweepOutputs& outputs) {
    if (outputs.replay || outputs.simulate) {
      replay_ = kRequest * most_requests(points, outputs.simulate);
    }
  }
  double of(unsigned threads) const {
    return kThread * (std::max(threads, kThreadsOfProgram) - kThreadsOfProgram) + replay_ * threads;
  }

 private:
  double replay_ = 0.0;  // of a thread
};

std::string counted(unsigned threads) {
  return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

std::string megabytes(double bytes) { return fmt::format("{:.0f} MB", bytes / 1e6); }

}  // namespace

MemoryPlan plan_memory(const std::string& memory, const sim::SweepPoints& points,
                       const SweepOutputs& outputs) {
  MemoryPlan plan{false, outputs.threads};
  if (memory.empty()) {
    return plan;
  }
  const base::ParsedQuantity bound =
      base::parse_quantity(memory, base::dimension_of<base::Bytes>());
  if (!bound.ok() || bound.si <= 0.0) {
    throw base::InputError(
        fmt::format("error: --memory {}: {}\n", memory,
                    bound.ok() ? "expects a size, such as '512 MB'" : bound.error));
  }
  const ThreadBytes bytes(points, outputs);
  const double page = outputs.report.empty() ? 0.0 : kPage;
  const double whole = bytes_in_memory(points) + page;
  const double least = outputs.simulate ? whole : bytes_in_parts(points, outputs) + page;
  unsigned threads = base::thread_count(outputs.threads);
  plan.in_parts = !outputs.simulate && whole + bytes.of(threads) > bound.si;
  while (outputs.threads == 0 && threads > 1 && least + bytes.of(threads) > bound.si) {
    plan.threads = --threads;
  }
  const double more = bytes.of(threads);
  if (least + more > bound.si) {
    throw base::InputError(fmt::format(
        "error: --memory {}: {} points{} take up to {}{}{}\n", memory, points.size(),
        page > 0.0 ? " and a page" : "", megabytes(least + more),
        outputs.simulate ? " with --simulate, which needs every row" : ", also in parts",
        more > 0.0 ? fmt::format(", {} of them for {} and what they replay", megabytes(more),
                                 counted(threads))
                   : ""));
  }
  return plan;
}

}  // namespace roofcast::cli
