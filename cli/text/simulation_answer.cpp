// SPDX-License-Identifier: Apache-2.0
#include "cli/text/simulation_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/units/unit_text.hpp"
#include "cli/tables/say.hpp"
#include "cli/text/json_answer.hpp"
#include "cli/text/scenario_text.hpp"
#include "cli/text/trace_text.hpp"
#include "sim/scenario/pools.hpp"

namespace roofcast::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string per_second(double value, std::string_view what) {
  return fmt::format("{} {}", display(value, ""), what);
}

void print_times(TextTable& table, std::string_view name, const sim::SimulatedTimes& t) {
  const auto text = [](base::Seconds time) { return display(time.si(), "s"); };
  table.add({std::string(name), text(t.mean), text(t.interval), text(t.p50), text(t.p90),
             text(t.p95), text(t.p99)});
}

constexpr double kTold = 0.05;  // of TTFT p95

// The requests until each client has had two answers, and at least a tenth of all, as a replay leaves out.
std::size_t burst_of(const SimulationAnswer& a) {
  const workloads::RequestStream& stream = a.scenario.stream;
  const std::vector<sim::ServedRequest>& all = a.simulation.requests;
  const std::size_t two =
      workloads::start_of(all, 2 * stream.concurrency, stream.agents.has_value());
  return stream.agents ? two : std::max(two, all.size() / 10);
}

// Why times of an open loop are not those of a steady state; empty: they may be. A trace is as long as it is.
std::string note_of(const SimulationAnswer& a) {
  constexpr double kLong = 10.0;  // of the mean end to end
  constexpr double kGrows = 1.5;  // of the earlier half of the requests, that the later one takes
  const std::vector<sim::ServedRequest>& all = a.simulation.requests;
  if (!a.scenario.stream.arrivals || all.size() < 2) {
    return "";
  }
  base::Seconds earlier;
  base::Seconds later;
  for (std::size_t i = 0; i < all.size(); ++i) {
    (2 * i < all.size() ? earlier : later) +=
        all[i].rejected ? base::Seconds{} : all[i].end_to_end();
  }
  const base::Seconds mean = (earlier + later) / static_cast<double>(all.size());
  const base::Seconds lasts = all.back().arrival - all.front().arrival;
  if (lasts < kLong * mean) {
    return fmt::format(
        "Not a steady state: requests arrive for {}, only {:.1f} times the mean end to end. Set "
        "traffic.requests higher, and --warm-up",
        display(lasts.si(), "s"), lasts / mean);
  }
  if (later > kGrows * earlier) {
    return fmt::format(
        "Not a steady state: end to end of the later half of the requests is {:.1f} times that of "
        "the earlier half",
        later / earlier);
  }
  return "";
}

}  // namespace

std::string burst_text(const SimulationAnswer& a) {
  const workloads::RequestStream& stream = a.scenario.stream;
  if (workloads::is_open(stream) || stream.concurrency < 2 || a.warm_up > 0) {
    return "";
  }
  const std::string begin = fmt::format("All {} {} begin at once.", stream.concurrency,
                                        stream.agents ? "agents" : "clients");
  const std::size_t burst = burst_of(a);
  if (burst + static_cast<std::size_t>(stream.concurrency) > a.simulation.requests.size()) {
    return fmt::format(
        "{} The run is too short to tell times without them: set traffic.requests higher.", begin);
  }
  const base::Seconds all = sim::summarise(a.simulation, 0, stream.classes).ttft.p95;
  const base::Seconds later = sim::summarise(a.simulation, burst, stream.classes).ttft.p95;
  return std::abs(later / all - 1.0) < kTold
             ? ""
             : fmt::format("{} Without the first {} requests TTFT p95 is {} (--warm-up {}).", begin,
                           burst, display(later.si(), "s"), burst);
}

namespace {

void print_summary(const SimulationAnswer& a, const sim::SimulationSummary& s,
                   std::size_t warm_up) {
  const auto gpus = static_cast<double>(sim::gpus_of(sim::view(a.scenario.scenario)));
  say("{}\n", times_table(s).text());
  if (const auto summaries =
          sim::summarise_classes(a.simulation, warm_up, a.scenario.stream.classes);
      !summaries.empty()) {
    say("{}\n", classes_table(summaries).text());
  }
  for (const auto& [what, value] : facts_of(tasks_of(a.simulation, a.scenario, warm_up))) {
    say("{}: {}\n", what, value);
  }
  say("{} requests in {}: {}, {} out, {} out per GPU, {} in\n", s.requests,
      display(s.duration.si(), "s"), per_second(s.requests_per_second, "requests/s"),
      per_second(s.output_rate, "tok/s"), per_second(s.output_rate / gpus, "tok/s"),
      per_second(s.input_rate, "tok/s"));
  if (any_objective(a.scenario.stream.classes)) {
    say("attainment {} of the requests, goodput {}\n", percent(s.attainment),
        per_second(s.goodput, "requests/s"));
  }
  if (s.prefix_hit_rate > 0.0) {
    say("found in the KV cache: {:.1f} % of the input tokens", 100.0 * s.prefix_hit_rate);
    say("{}\n", s.restored_share > 0.0
                    ? fmt::format(", {:.1f} % in host memory", 100.0 * s.restored_share)
                    : "");
  }
  if (s.rejected > 0) {
    say("rejected, longer than the context or the KV cache: {}\n", s.rejected);
  }
}

Json json_time(base::Seconds time) { return json_number(time.si()); }

Json json_of(const sim::SimulatedTimes& t) {
  return {{"mean", json_time(t.mean)}, {"interval_95", json_time(t.interval)},
          {"p50", json_time(t.p50)},   {"p90", json_time(t.p90)},
          {"p95", json_time(t.p95)},   {"p99", json_time(t.p99)}};
}

Json json_of(const sim::SimulationSummary& s, bool objectives) {
  Json json = {{"requests", s.requests},
               {"rejected", s.rejected},
               {"duration_s", json_time(s.duration)},
               {"ttft_s", json_of(s.ttft)},
               {"tpot_s", json_of(s.tpot)},
               {"e2e_s", json_of(s.end_to_end)},
               {"waiting_s", json_of(s.waiting)},
               {"requests_per_s", json_number(s.requests_per_second)},
               {"input_tok_per_s", json_number(s.input_rate)},
               {"output_tok_per_s", json_number(s.output_rate)},
               {"prefix_hit_rate", json_number(s.prefix_hit_rate)},
               {"restored_share", json_number(s.restored_share)},
               {"preemptions", s.preemptions}};
  if (objectives) {
    json["attainment"] = json_number(s.attainment);
    json["goodput"] = json_number(s.goodput);
  }
  return json;
}

Json json_of(const BreachAlarm& a) {
  return {{"breach_probability", a.breach.probability()},
          {"interval_95", {a.breach.interval.low, a.breach.interval.high}},
          {"windows", a.breach.windows},
          {"breached", a.breach.breached},
          {"window_s", a.window.length.si()},
          {"share", a.window.share},
          {"attainment", a.breach.attainment},
          {"least_attainment", a.breach.least_attainment},
          {"limit", a.limit},
          {"alarm", a.sounds()},
          {"sure", a.is_sure()}};
}

}  // namespace

std::string percent(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

TextTable times_table(const sim::SimulationSummary& s) {
  TextTable times({"", "mean", "± (95 %)", "p50", "p90", "p95", "p99"});
  print_times(times, "TTFT", s.ttft);
  print_times(times, "TPOT", s.tpot);
  print_times(times, "end to end", s.end_to_end);
  print_times(times, "waiting", s.waiting);
  return times;
}

TextTable classes_table(const std::vector<sim::ClassSummary>& summaries) {
  TextTable table({"class", "priority", "requests", "TTFT p50", "TTFT p99", "TPOT p50", "TPOT p99",
                   "attainment", "goodput"});
  for (const auto& [name, priority, s] : summaries) {
    table.add({name, fmt::format("{}", priority), fmt::format("{}", s.requests),
               display(s.ttft.p50.si(), "s"), display(s.ttft.p99.si(), "s"),
               display(s.tpot.p50.si(), "s"), display(s.tpot.p99.si(), "s"), percent(s.attainment),
               display(s.goodput, "1/s")});
  }
  return table;
}

std::string alarm_text(const BreachAlarm& a) {
  const sim::Breach& b = a.breach;
  return fmt::format(
      "breach: fewer than {} of the requests of a window of {} meet every objective\n"
      "breach probability {} (95 % interval {} to {}): {} of {} windows; attainment {} of all, {} "
      "in the worst window\n{} the limit of {}{}\n",
      percent(a.window.share), base::format_quantity(a.window.length), percent(b.probability()),
      percent(b.interval.low), percent(b.interval.high), b.breached, b.windows,
      percent(b.attainment), percent(b.least_attainment), a.sounds() ? "alarm: above" : "within",
      percent(a.limit),
      a.is_sure() ? "" : ", but the interval includes it: more windows could change that");
}

void print_text(const SimulationAnswer& a) {
  const std::int64_t replicas = a.scenario.scenario.serving.replicas;
  say("{}{}\n{}\n\n", title(a.scenario.scenario),
      replicas > 1 ? fmt::format(" · {} replicas", replicas) : "", a.stream);
  if (!a.simulation.reason.empty()) {
    say("does not run: {}\n", a.simulation.reason);
    return;
  }
  const workloads::RequestClasses& classes = a.scenario.stream.classes;
  print_summary(a, sim::summarise(a.simulation, 0, classes), 0);
  const sim::SimulatedLoad load = sim::load_of(a.simulation);
  const bool several = replicas > 1 || sim::view(a.scenario.scenario).pools != nullptr;
  say("running {:.1f} on average, {} at most; waiting {:.1f}; KV cache {:.1f} % on average, {:.1f} "
      "% at most{}\nbusy {:.1f} % of the time, {} iterations, {} preemptions\n",
      load.running, a.simulation.peak_running, load.waiting, 100.0 * load.cache,
      100.0 * a.simulation.peak_cache, several ? " in a replica" : "", 100.0 * load.utilisation,
      a.simulation.iterations, a.simulation.preemptions);
  for (const std::string& note : {note_of(a), burst_text(a)}) {
    say("{}{}", note, note.empty() ? "" : "\n");
  }
  if (a.warm_up > 0) {
    say("\nWithout the first {} requests\n\n", a.warm_up);
    print_summary(a, sim::summarise(a.simulation, a.warm_up, classes), a.warm_up);
  }
  if (a.alarm) {
    say("\n{}", alarm_text(*a.alarm));
  }
}

Json json_of(const SimulationAnswer& a) {
  Json json = {{"scenario", title(a.scenario.scenario)},
               {"fits", a.simulation.reason.empty()},
               {"reason", a.simulation.reason}};
  if (a.scenario.stream.trace) {
    json["trace"] = replay_json(a.scenario.stream, a.requests);
  }
  if (a.simulation.reason.empty()) {
    const workloads::RequestClasses& classes = a.scenario.stream.classes;
    const sim::SimulatedLoad load = sim::load_of(a.simulation);
    json["gpus"] = sim::gpus_of(sim::view(a.scenario.scenario));
    json["all"] = json_of(sim::summarise(a.simulation, 0, classes), any_objective(classes));
    if (a.warm_up > 0) {
      json["after_warm_up"] =
          json_of(sim::summarise(a.simulation, a.warm_up, classes), any_objective(classes));
    }
    if (const auto tasks = tasks_of(a.simulation, a.scenario, a.warm_up)) {
      json["tasks"] = json_of(*tasks);
      json["tasks"]["task_s"] = json_of(tasks->summary.time);
    }
    for (const auto& each : sim::summarise_classes(a.simulation, 0, classes)) {
      json["by_class"][each.name] = json_of(each.summary, any_objective(classes));
    }
    json["running_mean"] = json_number(load.running);
    json["running_peak"] = a.simulation.peak_running;
    json["waiting_mean"] = json_number(load.waiting);
    json["cache_share_mean"] = json_number(load.cache);
    json["cache_share_peak"] = a.simulation.peak_cache;
    json["utilisation"] = json_number(load.utilisation);
    json["iterations"] = a.simulation.iterations;
    json["note"] = note_of(a);
  }
  if (a.alarm) {
    json["breach"] = json_of(*a.alarm);
  }
  return json;
}

}  // namespace roofcast::cli
