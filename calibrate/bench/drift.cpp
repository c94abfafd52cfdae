// SPDX-License-Identifier: Apache-2.0
#include "calibrate/bench/drift.hpp"

#include <fmt/format.h>

#include "base/document/fields.hpp"
#include "base/document/problems.hpp"
#include "sim/scenario/references.hpp"

namespace roofcast::bench {

std::vector<Comparison> compare(const Observed& observed, const hardware::Chip& chip) {
  using base::byte, base::flop, base::nanosecond, base::second, base::tera;
  const auto terabytes = tera * byte / second;
  const auto teraflops = tera * flop / second;
  std::vector<Comparison> all = {{"DRAM copy", observed.copy_bandwidth / terabytes,
                                  chip.bandwidth / terabytes, "TB/s", 0.70, 1.03}};
  if (const auto peak = chip.peak(base::MathType::bf16); peak.si() > 0.0) {
    all.push_back({"bf16 GEMM", observed.bf16 / teraflops, peak / teraflops, "TFLOPS", 0.55, 1.03});
  }
  if (const auto& bandwidth = chip.measured.l2_bandwidth) {
    all.push_back(
        {"L2 read", observed.l2_bandwidth / terabytes, *bandwidth / terabytes, "TB/s", 0.70, 1.30});
  }
  if (const auto& latency = chip.measured.dram_latency) {
    all.push_back({"DRAM latency", observed.dram_latency / nanosecond, *latency / nanosecond, "ns",
                   0.70, 1.50});
  }
  return all;
}

hardware::Chip catalog_chip(const std::string& id) {
  base::Problems problems;
  base::Node scenario;
  scenario["system"]["chip"] = base::scalar_node(id, {});
  sim::load_references(scenario, problems);
  problems.throw_if_any();
  hardware::Chip chip;
  base::Fields fields(*scenario.find_path("system.chip"), "", problems);
  read(fields, chip);
  problems.throw_if_any();
  return chip;
}

std::string line(const Comparison& c) {
  return fmt::format("{:<5} {}: {:.4g} of {:.4g} {}, {:.2f} ({:.2f} to {:.2f})",
                     c.agrees() ? "ok" : "DRIFT", c.figure, c.observed, c.expected, c.unit,
                     c.ratio(), c.least, c.most);
}

}  // namespace roofcast::bench
