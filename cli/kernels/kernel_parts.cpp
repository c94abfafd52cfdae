// SPDX-License-Identifier: Apache-2.0
#include "cli/kernels/kernel_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units/unit_text.hpp"

namespace roofcast::cli {
namespace {

using base::Seconds;
using models::Cost;

constexpr int kBar = 24;                // the longest bar of a chart
constexpr double kLeastShare = 0.0005;  // that a line names

std::string of(Seconds time) { return base::format_quantity(time); }
std::string rate(double flop_per_s) {
  return base::format_quantity(base::FlopsPerSecond::from_si(flop_per_s));
}
std::string bandwidth(double bytes_per_s) {
  return base::format_quantity(base::BytesPerSecond::from_si(bytes_per_s));
}
std::string kib(base::Bytes bytes) { return fmt::format("{:.4g} KiB", bytes.si() / 1024.0); }
std::string percent(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

std::string_view term_name(Seconds Cost::*term) {
  return term == &Cost::launch    ? "launch"
         : term == &Cost::fill    ? "fill"
         : term == &Cost::compute ? "compute"
         : term == &Cost::dram    ? "DRAM"
         : term == &Cost::l2      ? "L2"
                                  : "network";
}

std::string occupancy_text(const Occupancy& o) {
  return fmt::format(
      "room for {:.0f} an SM{}, limited by {}: sums take {} of {} of {}, buffers {} of {} of "
      "shared "
      "memory",
      o.room,
      o.room < o.at_once ? fmt::format(", though it is timed with {:.0f} at once", o.at_once) : "",
      o.limiter, kib(o.sums), kib(o.sums_room), o.sums_in, kib(o.buffers), kib(o.buffers_room));
}

std::string value_text(const KernelQuestion& q, const std::string& varied,
                       const std::string& value) {
  for (const Dimension& d : q.kind->dimensions) {
    if (d.name == varied && d.unit == Unit::bytes) {
      return base::format_quantity(
          base::Bytes::from_si(base::parse_quantity(value, base::dimension_of<base::Bytes>()).si));
    }
  }
  return value;
}

std::string shares_text(const ExplainedKernel& k) {
  std::string text;
  for (const models::Share& share : k.shares) {
    if (share.share >= kLeastShare) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", models::name(share.cause),
                          percent(share.share));
    }
  }
  return text;
}

// Says why it is not the greatest share.
std::string verdict_text(const ExplainedKernel& k) {
  return fmt::format(
      "{}: {}{}", models::name(k.verdict), models::meaning(k.verdict),
      k.shares.front().cause == models::Cause::tensor && k.verdict != models::Cause::tensor
          ? "; tensor has more, but limits only above half of its peak"
          : "");
}

std::string reaches_text(const ExplainedKernel& k, const sim::Platform& p) {
  std::vector<std::string> parts;
  const double time = k.time.si();
  if (k.peak_share > 0.0) {
    parts.push_back(fmt::format("{} ({} of the dense {} peak)", rate(k.cost.flop.si() / time),
                                percent(k.peak_share), base::name(k.math)));
  } else if (k.cost.flop.si() > 0.0) {
    parts.push_back(rate(k.cost.flop.si() / time));
  }
  if (k.cost.dram_bytes.si() > 0.0) {
    const double reached = k.cost.dram_bytes.si() / time;
    parts.push_back(fmt::format("{} of device memory ({} of its bandwidth)", bandwidth(reached),
                                percent(reached / p.system.chip.bandwidth.si())));
  }
  if (k.busbw > 0.0) {
    parts.push_back(fmt::format("busbw {}, algbw {}", bandwidth(k.busbw), bandwidth(k.algbw)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// "0.68 pJ/FLOP"; of bytes where the tensor cores do nothing.
std::string energy_text(const ExplainedKernel& k) {
  const double joules = k.sustained->energy.si();
  const double moved = std::max(k.cost.dram_bytes.si(), k.cost.message_bytes.si());
  std::string text = base::format_quantity(k.sustained->energy) + " a run";
  if (k.peak_share > 0.0) {
    text += fmt::format(", {:.4g} pJ/FLOP", joules / k.cost.flop.si() * 1e12);
  } else if (moved > 0.0) {
    text += fmt::format(", {:.4g} pJ/B", joules / moved * 1e12);
  }
  return text;
}

std::string power_text(const ExplainedKernel& k, const hardware::Chip& chip) {
  if (!k.sustained) {
    return fmt::format("not known, as the TDP of {} is not", chip.name);
  }
  const std::string parent =
      chip.tdp_of.empty() || chip.cap ? "" : fmt::format(", that of {}", chip.tdp_of);
  return fmt::format("{} under the {} of {}{}: {}", base::format_quantity(k.sustained->power),
                     chip.cap ? "cap" : "TDP", base::format_quantity(k.sustained->cap), parent,
                     energy_text(k));
}

bool slowed(const ExplainedKernel& k) { return k.sustained && k.sustained->clock < 1.0; }

std::string sustained_text(const ExplainedKernel& k) {
  const SustainedRun& s = *k.sustained;
  const std::string running =
      s.running < 0.9995
          ? fmt::format(" on {} of the SMs, the others stand still", percent(s.running))
          : "";
  return fmt::format("{} where it runs on and on: at {} of the clock{}; power is {} of it",
                     of(s.time), percent(s.clock), running, percent(1.0 - k.time / s.time));
}

}  // namespace

std::string shape_text(const KernelQuestion& q, const ShapeTexts& shape) {
  std::string text = q.kind->name;
  for (const Dimension& d : q.kind->dimensions) {
    if (const auto given = shape.find(d.name); given != shape.end()) {
      text += fmt::format("  {}={}", d.name, given->second);
    }
  }
  return text;
}

std::string platform_text(const sim::Platform& p) {
  const hardware::Calibration& c = p.system.calibration;
  return fmt::format("{} in {}; parameters: {} ({})", p.system.chip.name, p.system.name, c.name,
                     hardware::name(p.system.provenance()));
}

std::vector<KernelLine> kernel_lines(const KernelPoint& point) {
  const ExplainedKernel& k = point.kernel;
  const sim::Platform& p = point.platform;
  const models::Anatomy& a = k.anatomy;
  std::vector<KernelLine> out;
  const auto line = [&](std::string name, std::string text) {
    out.push_back({std::move(name), std::move(text)});
  };
  line("time", fmt::format("{}, 90 % interval {} to {}", of(k.time), of(k.low), of(k.high)));
  line("reaches", reaches_text(k, p));
  if (slowed(k)) {
    line("sustained", sustained_text(k));
  }
  line("power", power_text(k, p.system.chip));
  line("limited by", verdict_text(k));
  line("shares", shares_text(k));
  if (k.cost.algorithm != models::Algorithm::none) {
    line(
        "algorithm",
        fmt::format("{}{}", models::name(k.cost.algorithm),
                    k.cost.runner_up == models::Algorithm::none
                        ? std::string()
                        : fmt::format("; {}, {}, takes {}",
                                      k.cost.runner_up_time < k.cost.time ? "fastest" : "next best",
                                      models::name(k.cost.runner_up), of(k.cost.runner_up_time))));
  }
  if (a.tile_rows > 0.0) {
    line("tile", fmt::format("{:.4g} x {:.4g}{}{}", a.tile_rows, a.tile_columns,
                             a.split > 1.0 ? fmt::format(", depth in {:.3g} parts", a.split) : "",
                             k.untied.si() > 0.0
                                 ? fmt::format("; the library's own choice takes {}", of(k.untied))
                                 : ""));
  }
  if (a.blocks > 0.0) {
    line("blocks",
         a.waves > 0.0
             ? fmt::format("{:.0f} thread blocks on {:.0f} SMs, {:.0f} an SM at once: {:.2f} waves",
                           a.blocks, p.machine.sms, a.blocks_per_sm, a.waves)
             : fmt::format("{:.0f} thread blocks on {:.0f} SMs", a.blocks, p.machine.sms));
  }
  if (a.waves > 0.0) {
    line("SMs busy", fmt::format("{} of their time{}", percent(a.busy),
                                 a.blocks < p.machine.sms ? "; limited by too few thread blocks"
                                 : a.busy < 1.0           ? "; limited by the tail of the last wave"
                                                          : ""));
  }
  if (k.occupancy) {
    line("occupancy", occupancy_text(*k.occupancy));
  }
  if (a.sectors > 0.0) {
    line("sectors", fmt::format("{:.4g} of 32 B in a request, whose bytes fill {:.4g}: {} of what "
                                "is moved is used",
                                a.sectors, a.needed_sectors,
                                percent(std::min(1.0, a.needed_sectors / a.sectors))));
  }
  if (k.in_flight.si() > 0.0) {
    line("in flight",
         fmt::format("{} of the {} that {} x {} need (Little's law)",
                     base::format_quantity(k.in_flight), base::format_quantity(k.needed_in_flight),
                     base::format_quantity(p.machine.dram), of(p.machine.dram_latency)));
  }
  if (k.l2_hits) {
    line("L2", fmt::format("serves {} of the bytes that are asked of it", percent(*k.l2_hits)));
  }
  if (std::abs(a.correction - 1.0) > 5e-4) {
    line("correction",
         fmt::format("x{:.3f}, by measurements of shapes near this one", a.correction));
  }
  return out;
}

TextTable terms_table(const ExplainedKernel& k, double p) {
  TextTable table({"term", "part", "cause", "takes", "counts", "share"});
  const double body = (k.cost.time - k.cost.launch - k.cost.fill).si();
  for (Seconds Cost::*term :
       {&Cost::compute, &Cost::dram, &Cost::l2, &Cost::network, &Cost::fill, &Cost::launch}) {
    const bool added = term == &Cost::fill || term == &Cost::launch;
    const double weight = added ? 1.0 : std::pow((k.cost.*term).si() / body, p - 1.0);
    for (const models::Part& part : k.anatomy.parts) {
      if (part.term == term) {
        const Seconds counts = weight * part.time;
        table.add({std::string(term_name(term)), std::string(part.what),
                   std::string(models::name(part.cause)), of(part.time), of(counts),
                   percent(counts / k.time)});
      }
    }
  }
  for (const models::Part& part : k.anatomy.parts) {
    if (part.term == &Cost::time) {
      table.add({"correction", std::string(part.what), std::string(models::name(part.cause)),
                 of(part.time), of(part.time), percent(part.time / k.time)});
    }
  }
  if (k.host.si() > 0.0) {
    table.add({"host", "launches, beyond the time of the GPU", "host", of(k.host), of(k.host),
               percent(k.host / k.time)});
  }
  table.add({"", "", "", "", of(k.time), "100.0 %"});
  return table;
}

TextTable roofs_table(const ExplainedKernel& k) {
  TextTable table({"roof", "work", "datasheet", "least time", "distance"});
  for (const models::Roof& roof : k.roofs) {
    const bool flop = roof.name == "tensor" || roof.name == "vector";
    table.add({flop ? fmt::format("{} {}", roof.name, base::name(k.math)) : std::string(roof.name),
               flop ? base::format_quantity(base::Flops::from_si(roof.amount))
                    : base::format_quantity(base::Bytes::from_si(roof.amount)),
               flop ? rate(roof.rate) : bandwidth(roof.rate),
               of(Seconds::from_si(roof.amount / roof.rate)),
               fmt::format("x{:.3g}", roof.distance)});
  }
  return table;
}

TextTable plans_table(const ExplainedKernel& k, const models::Machine& m) {
  TextTable table({"algorithm", "time", "start", "hops", "bytes", ""});
  for (const models::Plan& plan : k.anatomy.plans) {
    const double factor = k.anatomy.correction;
    const Seconds launch = m.calibration.launch;
    table.add({std::string(models::name(plan.algorithm)), of(factor * (launch + plan.total())),
               of(factor * (launch + plan.overhead)), of(factor * plan.hops),
               of(factor * plan.transfer), plan.algorithm == k.cost.algorithm ? "taken" : ""});
  }
  return table;
}

double charted(const ExplainedKernel& k) {
  return k.busbw > 0.0        ? k.busbw
         : k.peak_share > 0.0 ? k.cost.flop.si() / k.time.si()
                              : k.cost.dram_bytes.si() / k.time.si();
}

TextTable curve_table(const KernelQuestion& q, const KernelCurve& curve, Chart chart) {
  const bool sends = !curve.points.empty() &&
                     std::holds_alternative<workloads::Collective>(curve.points.front().op);
  double most = 0.0;
  for (const KernelPoint& point : curve.points) {
    most = std::max(most, point.kernel.reason.empty() ? charted(point.kernel) : 0.0);
  }
  std::vector<std::string> header = curve.varied;
  header.insert(header.end(), {"time", "90 % interval"});
  for (const char* column : {"FLOP/s", "bytes/s", "tile", "split", "waves"}) {
    if (!sends) {
      header.emplace_back(column);
    }
  }
  for (const char* column : {"busbw", "algorithm", "next best"}) {
    if (sends) {
      header.emplace_back(column);
    }
  }
  header.insert(header.end(), {"limited by", "share", "power"});
  const bool falls = std::any_of(curve.points.begin(), curve.points.end(),
                                 [](const KernelPoint& p) { return slowed(p.kernel); });
  if (falls) {
    header.insert(header.end(), {"sustained", "clock"});
  }
  if (chart == Chart::letters) {
    header.emplace_back("chart");
  }
  TextTable table(header);
  for (const KernelPoint& point : curve.points) {
    const ExplainedKernel& k = point.kernel;
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < curve.varied.size(); ++i) {
      cells.push_back(value_text(q, curve.varied[i], point.values[i]));
    }
    if (!k.reason.empty()) {
      cells.push_back("does not run: " + k.reason);
      cells.resize(header.size());
      table.add(cells);
      continue;
    }
    const double time = k.time.si();
    cells.push_back(of(k.time));
    cells.push_back(fmt::format("{} to {}", of(k.low), of(k.high)));
    if (sends) {
      cells.insert(cells.end(), {bandwidth(k.busbw), std::string(models::name(k.cost.algorithm)),
                                 k.cost.runner_up == models::Algorithm::none
                                     ? ""
                                     : fmt::format("{}, {}", models::name(k.cost.runner_up),
                                                   of(k.cost.runner_up_time))});
    } else {
      const models::Anatomy& a = k.anatomy;
      cells.insert(
          cells.end(),
          {k.cost.flop.si() > 0.0 ? rate(k.cost.flop.si() / time) : "-",
           k.cost.dram_bytes.si() > 0.0 ? bandwidth(k.cost.dram_bytes.si() / time) : "-",
           a.tile_rows > 0.0 ? fmt::format("{:.4g} x {:.4g}", a.tile_rows, a.tile_columns) : "-",
           fmt::format("{:.3g}", a.split), a.waves > 0.0 ? fmt::format("{:.2f}", a.waves) : "-"});
    }
    const auto of_verdict = std::find_if(k.shares.begin(), k.shares.end(),
                                         [&](const auto& s) { return s.cause == k.verdict; });
    cells.push_back(std::string(models::name(k.verdict)));
    cells.push_back(of_verdict != k.shares.end() ? percent(of_verdict->share) : "-");
    const auto& run = k.sustained;
    cells.push_back(run ? base::format_quantity(run->power) : "-");
    if (falls) {
      cells.push_back(run ? of(run->time) : "-");
      cells.push_back(run ? percent(run->clock) : "-");
    }
    if (chart == Chart::letters) {
      const int bar = most > 0.0 ? static_cast<int>(std::lround(kBar * charted(k) / most)) : 0;
      cells.push_back(std::string(static_cast<std::size_t>(bar), '#'));
    }
    table.add(cells);
  }
  return table;
}

}  // namespace roofcast::cli
