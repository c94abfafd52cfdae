// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units/unit_text.hpp"
#include "cli/kernels/kernel_answer.hpp"
#include "cli/tables/text_table.hpp"

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
std::string percent(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

std::string_view term_name(Seconds Cost::*term) {
  return term == &Cost::launch    ? "launch"
         : term == &Cost::fill    ? "fill"
         : term == &Cost::compute ? "compute"
         : term == &Cost::dram    ? "DRAM"
         : term == &Cost::l2      ? "L2"
                                  : "network";
}

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

// How the kernel runs, one line for each thing that its model has.
std::string anatomy_text(const ExplainedKernel& k, const sim::Platform& p) {
  const models::Anatomy& a = k.anatomy;
  std::string out;
  const auto line = [&](std::string_view name, const std::string& text) {
    out += fmt::format("{:<11} {}\n", name, text);
  };
  if (a.tile_rows > 0.0) {
    line("tile", fmt::format("{:.4g} x {:.4g}{}", a.tile_rows, a.tile_columns,
                             a.split > 1.0 ? fmt::format(", depth in {:.3g} parts", a.split) : ""));
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

// The parts of the time. They add up to it.
std::string terms_text(const ExplainedKernel& k, double p) {
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
  return table.text() +
         "(takes: alone; counts: of the time, in which compute, DRAM and L2 overlap)\n";
}

std::string roofs_text(const ExplainedKernel& k) {
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
  return table.text();
}

std::string plans_text(const ExplainedKernel& k, const models::Machine& m) {
  TextTable table({"algorithm", "time", "start", "hops", "bytes", ""});
  for (const models::Plan& plan : k.anatomy.plans) {
    const double factor = k.anatomy.correction;
    const Seconds launch = m.calibration.launch;
    table.add({std::string(models::name(plan.algorithm)), of(factor * (launch + plan.total())),
               of(factor * (launch + plan.overhead)), of(factor * plan.hops),
               of(factor * plan.transfer), plan.algorithm == k.cost.algorithm ? "taken" : ""});
  }
  return table.text();
}

// One shape.
std::string point_text(const KernelQuestion& q, const KernelPoint& point) {
  const ExplainedKernel& k = point.kernel;
  const models::Machine& m = point.platform.machine;
  std::string out =
      fmt::format("{}\n{}\n\n", shape_text(q, point.shape), platform_text(point.platform));
  if (!k.reason.empty()) {
    return out + fmt::format("does not run: {}\n", k.reason);
  }
  const auto line = [&](std::string_view name, const std::string& text) {
    out += fmt::format("{:<11} {}\n", name, text);
  };
  line("time", fmt::format("{}, 90 % interval {} to {}", of(k.time), of(k.low), of(k.high)));
  line("reaches", reaches_text(k, point.platform));
  line("limited by", fmt::format("{}: {}", models::name(k.verdict), models::meaning(k.verdict)));
  line("shares", shares_text(k));
  if (k.cost.algorithm != models::Algorithm::none) {
    line("algorithm",
         fmt::format("{}{}", models::name(k.cost.algorithm),
                     k.cost.runner_up == models::Algorithm::none
                         ? std::string()
                         : fmt::format("; {}, {}, takes {}",
                                       q.choices.algorithm.empty() ? "next best" : "fastest",
                                       models::name(k.cost.runner_up), of(k.cost.runner_up_time))));
  }
  out += anatomy_text(k, point.platform);
  out += "\n" + terms_text(k, m.calibration.overlap_exponent) + "\n" + roofs_text(k);
  if (k.anatomy.plans.size() > 1) {
    out += "\n" + plans_text(k, m);
  }
  return out;
}

// What a chart shows: busbw, else FLOP/s of tensor cores, else bytes/s.
double charted(const ExplainedKernel& k) {
  return k.busbw > 0.0        ? k.busbw
         : k.peak_share > 0.0 ? k.cost.flop.si() / k.time.si()
                              : k.cost.dram_bytes.si() / k.time.si();
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

std::string curve_text(const KernelQuestion& q, const KernelCurve& curve) {
  const bool sends = !curve.points.empty() &&
                     std::holds_alternative<workloads::Collective>(curve.points.front().op);
  double most = 0.0;
  for (const KernelPoint& point : curve.points) {
    most = std::max(most, point.kernel.reason.empty() ? charted(point.kernel) : 0.0);
  }
  std::vector<std::string> header = {curve.varied, "time", "90 % interval"};
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
  header.insert(header.end(), {"limited by", "share", "chart"});
  TextTable table(header);
  for (const KernelPoint& point : curve.points) {
    const ExplainedKernel& k = point.kernel;
    std::vector<std::string> cells = {value_text(q, curve.varied, point.value)};
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
    const int bar = most > 0.0 ? static_cast<int>(std::lround(kBar * charted(k) / most)) : 0;
    cells.push_back(std::string(static_cast<std::size_t>(bar), '#'));
    table.add(cells);
  }
  return fmt::format("{}\n{}\n\n{}(chart: {})\n", shape_text(q, q.shape),
                     platform_text(curve.points.front().platform), table.text(),
                     sends ? "busbw" : "FLOP/s; bytes/s where the tensor cores do nothing");
}

}  // namespace

std::string kernel_text(const KernelQuestion& question, const KernelCurve& curve) {
  return curve.varied.empty() ? point_text(question, curve.points.front())
                              : curve_text(question, curve);
}

}  // namespace roofcast::cli
