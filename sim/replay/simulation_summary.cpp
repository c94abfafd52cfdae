// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/simulation_summary.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/statistics/quantile.hpp"
#include "base/units/square_seconds.hpp"

namespace roofcast::sim {
namespace {

constexpr auto kNoTime = base::Seconds::from_si(std::numeric_limits<double>::quiet_NaN());
constexpr std::size_t kBatches = 20;
constexpr double kFewest =
    3.0;  // batches that are worth as much as all, however correlated these are
constexpr double kRounding = 1e-12;  // of a mean, by which those of equal times may differ

base::Seconds mean_of(const base::Seconds* first, const base::Seconds* last) {
  base::Seconds sum;
  for (const base::Seconds* value = first; value != last; ++value) {
    sum += *value;
  }
  return sum / static_cast<double>(last - first);
}

// 97.5 % point of Student's t (Abramowitz, Stegun: Handbook of Mathematical Functions, 26.7.5). 3 % low with two degrees
// of freedom, exact to 0.3 % from four on.
double student(double freedom) {
  constexpr double z = 1.959964;
  constexpr double z3 = z * z * z;
  constexpr double z5 = z3 * z * z;
  constexpr double z7 = z5 * z * z;
  return z + (z3 + z) / 4.0 / freedom +
         (5.0 * z5 + 16.0 * z3 + 3.0 * z) / 96.0 / (freedom * freedom) +
         (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / 384.0 / (freedom * freedom * freedom);
}

// Half-width of the 95 % interval of the mean: Student's t times the standard error of the means of kBatches batches, which
// are worth as many independent ones as their autocorrelation r leaves.
base::Seconds interval_of(const std::vector<base::Seconds>& values) {
  if (values.size() < 2 * kBatches) {
    return kNoTime;
  }
  std::vector<base::Seconds> means;
  for (std::size_t batch = 0; batch < kBatches; ++batch) {
    const base::Seconds* first = values.data() + batch * values.size() / kBatches;
    const base::Seconds* last = values.data() + (batch + 1) * values.size() / kBatches;
    means.push_back(mean_of(first, last));
  }
  const base::Seconds mean = mean_of(means.data(), means.data() + kBatches);
  base::SquareSeconds squares;
  base::SquareSeconds neighbours;
  for (std::size_t batch = 0; batch < kBatches; ++batch) {
    const base::Seconds off = means[batch] - mean;
    squares += square(off);
    neighbours += batch > 0 ? off * (means[batch - 1] - mean) : base::SquareSeconds{};
  }
  if (!(squares > square(kRounding * mean))) {
    return {};
  }
  constexpr auto kCount = static_cast<double>(kBatches);
  const double seen = neighbours / squares;
  const double r = std::clamp(seen + (1.0 + 3.0 * seen) / kCount, 0.0, 1.0);
  const double worth = std::max(kFewest, kCount * (1.0 - r) / (1.0 + r));
  return student(worth - 1.0) * sqrt(squares / (kCount - 1.0) / worth);
}

}  // namespace

SimulatedTimes times_of(std::vector<base::Seconds> values) {
  if (values.empty()) {
    return {kNoTime, kNoTime, kNoTime, kNoTime, kNoTime, kNoTime};
  }
  SimulatedTimes times;
  times.mean = mean_of(values.data(), values.data() + values.size());
  times.interval = interval_of(values);
  base::RisingQuantiles<base::Seconds> quantiles(values);
  times.p50 = quantiles(0.50);
  times.p90 = quantiles(0.90);
  times.p95 = quantiles(0.95);
  times.p99 = quantiles(0.99);
  return times;
}

bool meets(const ServedRequest& r, const workloads::RequestClasses& classes) {
  if (r.rejected || classes.empty()) {
    return !r.rejected;
  }
  const workloads::Objectives& o = classes[class_of(classes, r.priority)].objectives;
  return (!o.ttft || r.ttft() <= *o.ttft) &&
         (!o.tpot || r.output_tokens == 1 || r.tpot() <= *o.tpot) &&
         (!o.end_to_end || r.end_to_end() <= *o.end_to_end);
}

SimulationSummary summarise(const Simulation& simulation, std::size_t warm_up,
                            const workloads::RequestClasses& classes) {
  SimulationSummary s;
  std::vector<base::Seconds> ttft;
  std::vector<base::Seconds> tpot;
  std::vector<base::Seconds> end_to_end;
  std::vector<base::Seconds> waiting;
  base::Seconds first = base::Seconds::infinity();
  base::Seconds last;
  double input = 0.0;
  double output = 0.0;
  double reused = 0.0;
  double restored = 0.0;
  std::size_t good = 0;
  for (std::size_t i = warm_up; i < simulation.requests.size(); ++i) {
    const ServedRequest& r = simulation.requests[i];
    if (r.rejected) {
      ++s.rejected;
      continue;
    }
    ttft.push_back(r.ttft());
    end_to_end.push_back(r.end_to_end());
    waiting.push_back(r.waiting());
    if (r.output_tokens > 1) {
      tpot.push_back(r.tpot());
    }
    first = std::min(first, r.arrival);
    last = std::max(last, r.last_token);
    input += static_cast<double>(r.input_tokens);
    output += static_cast<double>(r.output_tokens);
    reused += static_cast<double>(r.reused_tokens);
    restored += static_cast<double>(r.restored_tokens);
    good += meets(r, classes) ? 1 : 0;
    s.preemptions += r.preemptions;
  }
  s.requests = ttft.size();
  s.duration = s.requests > 0 ? last - first : kNoTime;
  const double seconds = s.duration / base::second;
  s.requests_per_second = static_cast<double>(s.requests) / seconds;
  s.input_rate = input / seconds;
  s.output_rate = output / seconds;
  s.prefix_hit_rate = reused / input;
  s.restored_share = restored / input;
  s.attainment = static_cast<double>(good) / static_cast<double>(s.requests + s.rejected);
  s.goodput = static_cast<double>(good) / seconds;
  s.ttft = times_of(std::move(ttft));
  s.tpot = times_of(std::move(tpot));
  s.end_to_end = times_of(std::move(end_to_end));
  s.waiting = times_of(std::move(waiting));
  return s;
}

std::vector<ClassSummary> summarise_classes(const Simulation& simulation, std::size_t warm_up,
                                            const workloads::RequestClasses& classes) {
  std::map<std::int64_t, Simulation, std::greater<>> parts;
  for (std::size_t i = warm_up; i < simulation.requests.size(); ++i) {
    const ServedRequest& request = simulation.requests[i];
    parts[request.priority].requests.push_back(request);
  }
  std::vector<ClassSummary> summaries;
  if (parts.size() <= 1) {
    return summaries;
  }
  const base::Seconds duration = summarise(simulation, warm_up, classes).duration;
  for (const auto& [priority, part] : parts) {
    SimulationSummary s = summarise(part, 0, classes);
    const double scale = s.requests > 0 ? s.duration / duration : 0.0;
    for (double* rate : {&s.requests_per_second, &s.input_rate, &s.output_rate, &s.goodput}) {
      *rate = s.requests > 0 ? *rate * scale : 0.0;
    }
    s.duration = duration;
    summaries.push_back(
        {classes.size() > 1 ? classes[class_of(classes, priority)].name : std::to_string(priority),
         priority, std::move(s)});
  }
  return summaries;
}

SimulatedLoad load_of(const Simulation& simulation) {
  SimulatedLoad load;
  for (const SimulatedSecond& second : simulation.seconds) {
    load.running += second.running;
    load.waiting += second.waiting;
    load.cache += second.cache;
    load.utilisation += second.busy;
  }
  const double seconds = simulation.end / base::second;
  load.running /= seconds;
  load.waiting /= seconds;
  load.cache /= seconds;
  load.utilisation /= seconds;
  return load;
}

}  // namespace roofcast::sim
