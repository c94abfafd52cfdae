// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/csv/csv.hpp"
#include "cli/kernels/kernel_answer.hpp"

namespace roofcast::cli {
namespace {

// A figure of a kernel, as a column of CSV and a key of JSON. Absent figures are NaN.
struct Figure {
  const char* name;
  double (*value)(const ExplainedKernel& k);
};

constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
double known(double value) { return value > 0.0 ? value : kAbsent; }

constexpr Figure kFigures[] = {
    {"time_s", [](const ExplainedKernel& k) { return k.time.si(); }},
    {"low90_time_s", [](const ExplainedKernel& k) { return k.low.si(); }},
    {"high90_time_s", [](const ExplainedKernel& k) { return k.high.si(); }},
    {"launch_s", [](const ExplainedKernel& k) { return k.cost.launch.si(); }},
    {"fill_s", [](const ExplainedKernel& k) { return k.cost.fill.si(); }},
    {"compute_s", [](const ExplainedKernel& k) { return k.cost.compute.si(); }},
    {"dram_s", [](const ExplainedKernel& k) { return k.cost.dram.si(); }},
    {"l2_s", [](const ExplainedKernel& k) { return k.cost.l2.si(); }},
    {"network_s", [](const ExplainedKernel& k) { return k.cost.network.si(); }},
    {"host_s", [](const ExplainedKernel& k) { return k.host.si(); }},
    {"flop", [](const ExplainedKernel& k) { return k.cost.flop.si(); }},
    {"bytes_b", [](const ExplainedKernel& k) { return k.cost.dram_bytes.si(); }},
    {"achieved_flop_per_s",
     [](const ExplainedKernel& k) { return k.cost.flop.si() / k.time.si(); }},
    {"achieved_b_per_s",
     [](const ExplainedKernel& k) { return k.cost.dram_bytes.si() / k.time.si(); }},
    {"peak_share", [](const ExplainedKernel& k) { return known(k.peak_share); }},
    {"tile_rows", [](const ExplainedKernel& k) { return known(k.anatomy.tile_rows); }},
    {"tile_columns", [](const ExplainedKernel& k) { return known(k.anatomy.tile_columns); }},
    {"split", [](const ExplainedKernel& k) { return k.anatomy.split; }},
    {"thread_blocks", [](const ExplainedKernel& k) { return known(k.anatomy.blocks); }},
    {"waves", [](const ExplainedKernel& k) { return known(k.anatomy.waves); }},
    {"sm_busy_share",
     [](const ExplainedKernel& k) { return k.anatomy.waves > 0.0 ? k.anatomy.busy : kAbsent; }},
    {"room_blocks_per_sm",
     [](const ExplainedKernel& k) { return k.occupancy ? k.occupancy->room : kAbsent; }},
    {"sums_b", [](const ExplainedKernel& k) { return known(k.anatomy.sums_bytes); }},
    {"buffers_b",
     [](const ExplainedKernel& k) { return k.occupancy ? k.occupancy->buffers.si() : kAbsent; }},
    {"sectors_per_request", [](const ExplainedKernel& k) { return known(k.anatomy.sectors); }},
    {"sectors_needed", [](const ExplainedKernel& k) { return known(k.anatomy.needed_sectors); }},
    {"in_flight_b", [](const ExplainedKernel& k) { return known(k.in_flight.si()); }},
    {"needed_in_flight_b", [](const ExplainedKernel& k) { return known(k.needed_in_flight.si()); }},
    {"l2_hit_share", [](const ExplainedKernel& k) { return k.l2_hits.value_or(kAbsent); }},
    {"correction", [](const ExplainedKernel& k) { return k.anatomy.correction; }},
    {"sustained_time_s",
     [](const ExplainedKernel& k) { return k.sustained ? k.sustained->time.si() : kAbsent; }},
    {"sustained_clock",
     [](const ExplainedKernel& k) { return k.sustained ? k.sustained->clock : kAbsent; }},
    {"power_w",
     [](const ExplainedKernel& k) { return k.sustained ? k.sustained->power.si() : kAbsent; }},
    {"power_cap_w",
     [](const ExplainedKernel& k) { return k.sustained ? k.sustained->cap.si() : kAbsent; }},
    {"energy_j",
     [](const ExplainedKernel& k) { return k.sustained ? k.sustained->energy.si() : kAbsent; }},
    {"j_per_flop",
     [](const ExplainedKernel& k) {
       return k.sustained && k.peak_share > 0.0 ? k.sustained->energy.si() / k.cost.flop.si()
                                                : kAbsent;
     }},
    {"j_per_b",  // of device memory, or that a rank sends
     [](const ExplainedKernel& k) {
       const double moved = std::max(k.cost.dram_bytes.si(), k.cost.message_bytes.si());
       return k.sustained && moved > 0.0 ? k.sustained->energy.si() / moved : kAbsent;
     }},
    {"algbw_b_per_s", [](const ExplainedKernel& k) { return known(k.algbw); }},
    {"busbw_b_per_s", [](const ExplainedKernel& k) { return known(k.busbw); }},
    {"runner_up_time_s",
     [](const ExplainedKernel& k) {
       return k.cost.runner_up == models::Algorithm::none ? kAbsent : k.cost.runner_up_time.si();
     }},
};

// The column of a cause's share of the time: "share_wave_tail".
std::string share_column(models::Cause cause) {
  std::string column = fmt::format("share_{}", models::name(cause));
  std::transform(column.begin(), column.end(), column.begin(), [](unsigned char c) {
    return c == ' ' ? '_' : static_cast<char>(std::tolower(c));
  });
  return column;
}

nlohmann::ordered_json number(double value) {
  return std::isnan(value) ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(value);
}

nlohmann::ordered_json point_json(const KernelPoint& point) {
  const ExplainedKernel& k = point.kernel;
  nlohmann::ordered_json out = {{"shape", point.shape},
                                {"system", point.platform.system.id},
                                {"chip", point.platform.system.chip.id},
                                {"calibration", point.platform.system.calibration.id},
                                {"provenance", hardware::name(point.platform.system.provenance())},
                                {"runs", k.reason.empty()},
                                {"reason", k.reason}};
  if (!k.reason.empty()) {
    return out;
  }
  for (const Figure& figure : kFigures) {
    out[figure.name] = number(figure.value(k));
  }
  if (const std::string& of = point.platform.system.chip.tdp_of; !of.empty()) {
    out["parent_figures"] = "TDP of " + of;
  }
  out["limited_by"] = models::name(k.verdict);
  out["occupancy_limiter"] = k.occupancy ? k.occupancy->limiter : "";
  for (const models::Share& share : k.shares) {
    out["shares"][std::string(models::name(share.cause))] = share.share;
  }
  for (const models::Roof& roof : k.roofs) {
    out["roofs"].push_back({{"name", roof.name},
                            {"work", roof.amount},
                            {"rate_per_s", roof.rate},
                            {"distance", roof.distance}});
  }
  out["algorithm"] = models::name(k.cost.algorithm);
  out["runner_up"] = models::name(k.cost.runner_up);
  return out;
}

}  // namespace

nlohmann::ordered_json kernel_json(const KernelQuestion& question, const KernelCurve& curve) {
  if (curve.varied.empty()) {
    nlohmann::ordered_json out = point_json(curve.points.front());
    out["kernel"] = question.kind->name;
    return out;
  }
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (const KernelPoint& point : curve.points) {
    points.push_back(point_json(point));
    for (std::size_t i = 0; i < curve.varied.size(); ++i) {
      points.back()["values"][curve.varied[i]] = point.values[i];
    }
  }
  nlohmann::ordered_json varied = curve.varied.front();
  if (curve.varied.size() > 1) {
    varied = curve.varied;
  }
  return {{"kernel", question.kind->name},
          {"varied", std::move(varied)},
          {"points", std::move(points)}};
}

void write_kernel_csv(const KernelQuestion& question, const KernelCurve& curve,
                      const std::string& file) {
  std::vector<std::string> columns = {"kernel", "system", "chip", "calibration"};
  for (const Dimension& d : question.kind->dimensions) {
    columns.push_back(d.name);
  }
  std::vector<std::size_t> others;  // that vary, and have no column yet
  for (std::size_t i = 0; i < curve.varied.size(); ++i) {
    if (std::find(columns.begin(), columns.end(), curve.varied[i]) == columns.end() &&
        curve.varied[i] != "algorithm") {
      others.push_back(i);
      columns.push_back(curve.varied[i]);
    }
  }
  columns.insert(columns.end(),
                 {"reason", "limited_by", "occupancy_limiter", "algorithm", "runner_up"});
  for (const Figure& figure : kFigures) {
    columns.emplace_back(figure.name);
  }
  for (int c = 0; c < models::kCauses; ++c) {
    columns.push_back(share_column(static_cast<models::Cause>(c)));
  }
  base::CsvWriter csv(std::filesystem::path(file), columns);
  for (const KernelPoint& point : curve.points) {
    const ExplainedKernel& k = point.kernel;
    const bool runs = k.reason.empty();
    csv.append(question.kind->name);
    csv.append(point.platform.system.id);
    csv.append(point.platform.system.chip.id);
    csv.append(point.platform.system.calibration.id);
    for (const Dimension& d : question.kind->dimensions) {
      const auto given = point.shape.find(d.name);
      csv.append(given != point.shape.end() ? given->second : "");
    }
    for (const std::size_t other : others) {
      csv.append(point.values[other]);
    }
    csv.append(k.reason);
    csv.append(runs ? models::name(k.verdict) : "");
    csv.append(k.occupancy ? k.occupancy->limiter : "");
    csv.append(models::name(k.cost.algorithm));
    csv.append(models::name(k.cost.runner_up));
    for (const Figure& figure : kFigures) {
      csv.append(runs ? figure.value(k) : kAbsent);
    }
    std::array<double, models::kCauses> shares{};
    for (const models::Share& share : k.shares) {
      shares[static_cast<std::size_t>(share.cause)] = share.share;
    }
    for (const double share : shares) {
      csv.append(runs ? share : kAbsent);
    }
    csv.end_row();
  }
  csv.close();
}

}  // namespace roofcast::cli
