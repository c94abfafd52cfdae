// SPDX-License-Identifier: Apache-2.0
#include "cli/kernels/explained_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/document/problems.hpp"
#include "base/nearest.hpp"
#include "calibrate/logs/collective_log.hpp"
#include "models/operators/gemm.hpp"
#include "models/operators/operator_cost.hpp"
#include "models/operators/tiling.hpp"
#include "models/power.hpp"
#include "sim/result/feasibility.hpp"

namespace roofcast::cli {
namespace {

using base::Seconds;

constexpr double kRounding = 1e-9;

std::string reason_against(const workloads::Operator& op, const sim::Platform& platform) {
  if (std::string cap = sim::reason(sim::cap_fault(platform)); !cap.empty()) {
    return cap;
  }
  if (const auto* o = std::get_if<workloads::Collective>(&op)) {
    if (o->ranks < 2) {
      return "one rank has nobody to send to";
    }
    const std::int64_t span = (o->ranks - 1) * o->stride + 1;
    return span > platform.system.chips
               ? fmt::format("{} ranks {} apart need {} GPUs, and {} has {}", o->ranks, o->stride,
                             span, platform.system.name, platform.system.chips)
               : std::string();
  }
  const auto sparse = [&](const auto* o) { return o != nullptr && o->storage.sparse; };
  if ((sparse(std::get_if<workloads::Gemm>(&op)) ||
       sparse(std::get_if<workloads::GroupedGemm>(&op))) &&
      platform.machine.sparsity == 0.0) {
    return fmt::format("{} has no sparsity.tensor: nothing is known of 2:4 sparse products on it",
                       platform.system.chip.name);
  }
  if (std::holds_alternative<workloads::StateScan>(op) &&
      !platform.machine.supports(base::MathType::fp32)) {  // the states between its products
    return fmt::format("{} has no vector.fp32", platform.system.chip.name);
  }
  const base::MathType math = models::math_of(op, platform.machine);
  return platform.machine.supports(math)
             ? std::string()
             : fmt::format("{} has no {} tensor rate", platform.system.chip.name, base::name(math));
}

// "Ring-LL128" and "ring ll128" are one.
std::string plain(std::string_view name) {
  std::string text(name);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return c == ' ' || c == '_' ? '-' : static_cast<char>(std::tolower(c));
  });
  return text;
}

// Whether some algorithm of some system is called so, or begins with the word.
bool begins_an_algorithm(std::string_view wanted) {
  for (int i = 1; i < models::kAlgorithms; ++i) {
    const std::string name = plain(models::name(static_cast<models::Algorithm>(i)));
    if (wanted.empty() || name == plain(wanted) || name.starts_with(plain(wanted) + "-")) {
      return true;
    }
  }
  return false;
}

bool ends_an_algorithm(std::string_view protocol) {
  for (int i = 1; i < models::kAlgorithms; ++i) {
    if (plain(models::name(static_cast<models::Algorithm>(i))).ends_with("-" + plain(protocol))) {
      return true;
    }
  }
  return false;
}

// The plan that has the name and the protocol; else the fastest of those whose name begins with it. No name: of all that have
// the protocol.
const models::Plan& plan_called(const KernelChoices& choices,
                                const std::vector<models::Plan>& plans) {
  const std::string& wanted = choices.algorithm;
  const std::string ending = choices.protocol.empty() ? "" : "-" + plain(choices.protocol);
  const auto find = [&](bool whole) {
    return std::find_if(plans.begin(), plans.end(), [&](const models::Plan& plan) {
      const std::string name = plain(models::name(plan.algorithm));
      return (name == plain(wanted) || (!whole && name.starts_with(plain(wanted) + "-")) ||
              wanted.empty()) &&
             name.ends_with(ending);
    });
  };
  if (const auto exact = find(true); exact != plans.end()) {
    return *exact;
  }
  if (const auto first = find(false); first != plans.end()) {
    return *first;
  }
  std::vector<std::string> names;
  for (const models::Plan& plan : plans) {
    names.push_back(plain(models::name(plan.algorithm)));
  }
  if (!choices.protocol.empty()) {
    const std::string why =
        fmt::format("these ranks have no {} with it ({})",
                    wanted.empty() ? "algorithm" : "\"" + wanted + "\"", fmt::join(names, ", "));
    const std::string option = fmt::format("--protocol {}", choices.protocol);
    if (begins_an_algorithm(wanted) && ends_an_algorithm(choices.protocol)) {
      throw ImpossibleChoice(option, why);
    }
    throw base::InputError(fmt::format("error: {}: {}\n", option, why));
  }
  const auto near = base::nearest_name(plain(wanted), names);
  const std::string why =
      fmt::format("these ranks have no \"{}\"{} ({})", wanted,
                  near ? fmt::format("; did you mean \"{}\"?", *near) : "", fmt::join(names, ", "));
  if (begins_an_algorithm(wanted)) {
    throw ImpossibleChoice("--algorithm", why);
  }
  throw base::InputError(fmt::format("error: --algorithm: {}\n", why));
}

// "128x256x4".
models::Tiling tiling_called(const std::string& wanted, const workloads::Operator& op,
                             const models::Machine& machine) {
  const auto fail = [&](const std::string& why) {
    return base::InputError(fmt::format("error: --tile {}: {}\n", wanted, why));
  };
  std::vector<std::int64_t> numbers;
  const char* at = wanted.data();
  const char* end = at + wanted.size();
  while (true) {
    const auto [next, fault] = std::from_chars(at, end, numbers.emplace_back());
    if (fault != std::errc() || (next != end && *next != 'x') || numbers.size() > 3) {
      throw fail("expects ROWSxCOLUMNS or ROWSxCOLUMNSxPARTS, such as 128x256x4");
    }
    if (next == end) {
      break;
    }
    at = next + 1;
  }
  if (numbers.size() < 2) {
    throw fail("expects ROWSxCOLUMNS or ROWSxCOLUMNSxPARTS, such as 128x256x4");
  }
  models::Tiling cut;
  cut.rows = numbers[0];
  cut.columns = numbers[1];
  cut.parts = numbers.size() == 3 ? static_cast<double>(numbers[2]) : 1.0;
  if (const std::string fault = models::fault_of(op, cut, machine); !fault.empty()) {
    throw ImpossibleChoice("--tile " + wanted, fault);
  }
  return cut;
}

// Bytes that the L2 serves, of those that the kernel asks of it.
std::optional<double> hits(const models::Cost& cost, const models::Anatomy& anatomy,
                           const models::Machine& machine) {
  Seconds through;
  for (const models::Part& part : anatomy.parts) {
    through +=
        part.term == &models::Cost::l2 && part.cause == models::Cause::l2 ? part.time : Seconds{};
  }
  const base::Bytes asked = through / anatomy.correction * machine.l2;
  return asked.si() > 0.0 ? std::optional(std::max(0.0, 1.0 - cost.dram_bytes / asked))
                          : std::nullopt;
}

std::optional<SustainedRun> sustained_run(const ExplainedKernel& e, const sim::Platform& p) {
  if (!p.machine.power.known()) {
    return std::nullopt;
  }
  models::Activity activity;
  activity.add(e.cost, e.math, 1.0, e.cost.time, p.machine);
  activity.gaps = e.host;
  const models::Drawn drawn = models::drawn(activity, p.machine.power);
  return SustainedRun{drawn.time,    drawn.clock,  drawn.pace / drawn.clock,
                      drawn.power(), drawn.energy, *p.system.chip.cap_used()};
}

}  // namespace

ImpossibleChoice::ImpossibleChoice(const std::string& option, std::string why)
    : base::InputError(fmt::format("error: {}: {}\n", option, why)), reason(std::move(why)) {}

ExplainedKernel explain_kernel(const workloads::Operator& op, const sim::Platform& platform,
                               const KernelChoices& choices) {
  const models::Machine& m = platform.machine;
  ExplainedKernel e;
  e.reason = reason_against(op, platform);
  if (!e.reason.empty()) {
    return e;
  }
  e.cost = models::cost_of(op, m, e.anatomy);
  if (!(choices.algorithm + choices.protocol).empty() && !e.anatomy.plans.empty()) {
    models::force(e.cost, e.anatomy, plan_called(choices, e.anatomy.plans), m);
  }
  if (!choices.tile.empty()) {
    e.untied = e.cost.time;
    models::force(e.cost, e.anatomy, op, tiling_called(choices.tile, op, m), m);
  }
  const Seconds launches = e.anatomy.kernels * m.calibration.eager_launch;
  e.host = choices.eager ? base::max(Seconds{}, launches - e.cost.time) : Seconds{};
  e.time = e.cost.time + e.host;
  const models::Spread spread =
      m.uncertainty.kinds[static_cast<std::size_t>(models::error_kind(op, m.scale_up_domain))];
  e.low = (1.0 - spread.below) * e.cost.time + e.host;
  e.high = (1.0 + spread.above) * e.cost.time + e.host;
  e.shares = models::shares_of(e.cost, e.anatomy, m.calibration.overlap_exponent);
  if (e.host.si() > 0.0) {
    for (models::Share& share : e.shares) {
      share.share *= e.cost.time / e.time;
    }
    e.shares.push_back({models::Cause::host, e.host / e.time});
    std::stable_sort(e.shares.begin(), e.shares.end(),
                     [](const auto& a, const auto& b) { return a.share > b.share; });
  }
  e.math = models::math_of(op, m);
  e.sustained = sustained_run(e, platform);
  e.peak_share = models::share_of_peak(op, e.cost, m) * (e.cost.time / e.time);
  e.verdict = models::verdict_of(e.shares, e.peak_share);
  e.roofs = models::roofs_of(op, e.cost, m);
  if (e.cost.dram_bytes.si() > 0.0 && e.anatomy.loading > 0.0) {
    e.needed_in_flight = m.dram * m.dram_latency;
    const Seconds stream = e.cost.dram_bytes / m.dram * e.anatomy.correction;
    e.in_flight =
        (1.0 + kRounding) * stream < e.cost.dram
            ? stream / e.cost.dram * e.needed_in_flight
            : base::min(e.cost.dram_bytes, std::min(e.anatomy.loading, m.sms) *
                                               m.calibration.in_flight_bytes_per_sm * base::byte);
  }
  e.l2_hits = hits(e.cost, e.anatomy, m);
  e.occupancy = occupancy_of(e.anatomy, platform.system.chip, m);
  if (const auto* o = std::get_if<workloads::Collective>(&op); o != nullptr && e.time.si() > 0.0) {
    e.algbw = o->bytes / e.time.si();
    e.busbw = calibrate::bus_factor(o->kind, o->ranks) * e.algbw;
  }
  return e;
}

}  // namespace roofcast::cli
