// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <span>

#include "base/nearest.hpp"
#include "base/version.hpp"

namespace roofcast::hardware {

std::span<const base::CatalogEntry> embedded_calibrations();

base::Catalog calibration_catalog() {
  return {"calibrated", "calibration", embedded_calibrations()};
}

std::string_view name(Provenance provenance) {
  switch (provenance) {
    case Provenance::measured_corrected:
      return "measured-corrected";
    case Provenance::calibrated:
      return "calibrated";
    case Provenance::transferred:
      return "transferred";
    case Provenance::datasheet:
      return "datasheet";
    case Provenance::assumed:
      return "assumed";
  }
  return "";
}

std::string provenance_text(Provenance provenance, const Calibration& c) {
  return c.distance.empty()
             ? std::string(name(provenance))
             : fmt::format("{}: {}; {:.0f} % of the error's variance is from the distance",
                           name(provenance), c.distance, 100.0 * c.distance_share);
}

namespace {

// Reports a text that is no version; an absent one is none either.
bool is_version(base::Fields& f, const std::string& text) {
  const bool is = base::parse_version(text).has_value();
  if (!is && f.has("version")) {
    f.problem("version", base::kExpectsVersion);
  }
  return is;
}

// What a fit says of itself, for people and `calibrate parameters`.
void read_fit(base::Fields& f) {
  std::string fitted_on;
  f.text("fitted_on", fitted_on, base::optional);
  f.each(
      "uncertainty",
      [](base::Fields& g) {
        std::string parameter;
        double percent = 0.0;
        bool fixed = false;
        g.text("parameter", parameter);
        g.number("percent", percent, base::not_negative);
        g.flag("fixed", fixed, base::optional);
      },
      base::optional);
}

void read_versions(base::Fields& f, Calibration& c) {
  f.text("stack", c.stack, base::optional);
  f.text("version", c.version, base::optional);
  is_version(f, c.version);
  std::string newer = c.version;
  f.each(
      "older_versions",
      [&](base::Fields& g) {
        OlderVersion older;
        g.text("version", older.version);
        g.text("measured", older.measured);
        older.corrections = read_corrections(g);
        if (!is_version(g, older.version)) {
          return;
        }
        if (!(base::parse_version(older.version) < base::parse_version(newer))) {
          g.problem("version", fmt::format("is not older than the one before, {}", newer));
          return;
        }
        newer = older.version;
        c.older_versions.push_back(std::move(older));
      },
      base::optional);
  f.group(
      "tuned",
      [&](base::Fields& g) {
        g.text("kernels_of", c.tuned_like);
        c.tuned = read_corrections(g);
      },
      base::optional);
}

// A calibration of the catalog, read when it is first asked for; null where it has problems.
std::shared_ptr<const Calibration> calibration_called(const std::string& id) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Calibration>> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(id); found != known.end()) {
    return found->second;
  }
  auto calibration = std::make_shared<Calibration>();
  base::Problems problems;
  const base::Node document = base::load_entry(calibration_catalog(), id);
  base::Fields fields(document, "calibration", problems);
  read(fields, *calibration);
  return known.emplace(id, problems.size() == 0 ? std::move(calibration) : nullptr).first->second;
}

void read_relatives(base::Fields& f, Calibration& c) {
  f.each(
      "relatives",
      [&](base::Fields& g) {
        std::string id;
        Relative relative;
        g.text("calibration", id);
        g.number("corrections_share", relative.corrections_share, base::fraction);
        if (id.empty()) {
          return;
        }
        const std::vector<std::string> ids = base::catalog_ids(calibration_catalog());
        if (!std::binary_search(ids.begin(), ids.end(), id)) {
          const auto near = base::nearest_name(id, ids);
          g.problem("calibration",
                    fmt::format("no calibration \"{}\"{}", id,
                                near ? base::did_you_mean(std::span(&*near, 1)) : ""));
        } else if ((relative.of = calibration_called(id)) != nullptr) {
          c.relatives.push_back(std::move(relative));
        }
      },
      base::optional);
}

void read_energies(base::Fields& f, EnergySource& source) {
  f.number("sms", source.sms, base::positive);
  f.quantity("clock", source.clock);
  f.quantity("tdp", source.tdp);
  f.group(
      "tensor",
      [&](base::Fields& g) {
        for (int i = 0; i < base::kMathTypes; ++i) {
          g.quantity(base::name(static_cast<base::MathType>(i)),
                     source.tensor[static_cast<std::size_t>(i)], base::positive, base::optional);
        }
      },
      base::optional);
}

}  // namespace

void read(base::Fields& f, Calibration& c) {
  using base::Fields;
  const base::Range share{0.0, 1.0, true};
  c.id = f.node().reference;
  f.text("name", c.name);
  f.choice<Provenance>("provenance", c.provenance,
                       {{"measured-corrected", Provenance::measured_corrected},
                        {"calibrated", Provenance::calibrated},
                        {"transferred", Provenance::transferred},
                        {"datasheet", Provenance::datasheet}});
  read_fit(f);
  f.text("distance", c.distance, base::optional);
  f.number("distance_share", c.distance_share, base::fraction, base::optional);
  f.number("corrections_share", c.corrections_share, base::fraction, base::optional);
  f.group("launch", [&](Fields& g) {
    g.quantity("kernel", c.launch, base::not_negative);
    g.quantity("eager", c.eager_launch, base::not_negative);
    g.source();
  });
  f.group("memory", [&](Fields& g) {
    g.number("dram_efficiency", c.dram_efficiency, share);
    g.number("l2_efficiency", c.l2_efficiency, share);
    g.quantity("dram_latency", c.dram_latency);
    g.number("l2_bytes_per_sm_clock", c.l2_bytes_per_sm_clock, base::positive);
    g.number("in_flight_bytes_per_sm", c.in_flight_bytes_per_sm, base::positive);
    g.source();
  });
  f.group("gemm", [&](Fields& g) {
    g.group("tensor_efficiency", [&](Fields& t) {
      for (int i = 0; i < base::kMathTypes; ++i) {
        const auto type = static_cast<base::MathType>(i);
        if (type != base::MathType::fp16) {
          t.number(base::name(type), c.tensor_efficiency[static_cast<std::size_t>(i)], share);
        }
      }
    });
    c.tensor_efficiency[static_cast<std::size_t>(base::MathType::fp16)] =
        c.tensor_efficiency[static_cast<std::size_t>(base::MathType::bf16)];
    g.number("fill_trips", c.gemm_fill_trips, base::not_negative);
    g.number("wave_tail", c.wave_tail, base::fraction);
    g.number("wave_trips", c.gemm_wave_trips, base::not_negative);
    g.number("split_trips", c.gemm_split_trips, base::not_negative);
    g.number("step_trips", c.gemm_step_trips, base::not_negative);
    g.number("fp4_step_trips", c.gemm_fp4_step_trips, base::not_negative);
    g.number("epilogue_passes", c.gemm_epilogue_passes, base::not_negative);
    g.number("l2_sharing", c.gemm_l2_sharing, base::at_least_one);
    g.number("absent_row_reads", c.gemm_absent_row_reads, base::not_negative);
    g.number("block_scaling_efficiency", c.gemm_block_scaling_efficiency, share);
    g.number("widened_per_sm_clock", c.gemm_widened_per_sm_clock, base::positive);
    g.number("sparse_efficiency", c.gemm_sparse_efficiency, share);
    g.number("overlap_exponent", c.overlap_exponent, base::at_least_one);
    g.source();
  });
  f.group("attention", [&](Fields& g) {
    g.number("prefill_tensor_efficiency", c.attention_tensor_efficiency, share);
    g.number("decode_tensor_efficiency", c.decode_tensor_efficiency, share);
    g.number("fp8_efficiency", c.attention_fp8_efficiency, share);
    g.number("exponentials_per_sm_clock", c.exponentials_per_sm_clock, base::positive);
    g.number("exposed_softmax", c.exposed_softmax, base::fraction);
    g.number("fill_trips", c.attention_fill_trips, base::not_negative);
    g.number("prefill_fill_clocks", c.prefill_fill_clocks, base::not_negative);
    g.number("prefill_cta_clocks", c.prefill_cta_clocks, base::not_negative);
    g.number("decode_fill_clocks", c.decode_fill_clocks, base::not_negative);
    g.number("decode_cta_clocks", c.decode_cta_clocks, base::not_negative);
    g.number("decode_keys_per_split", c.decode_keys_per_split, base::positive);
    g.number("decode_latent_splits", c.decode_latent_splits, base::positive);
    g.number("decode_ramp_bytes_per_sm", c.decode_ramp_bytes_per_sm, base::not_negative);
    g.source();
  });
  f.group("moe", [&](Fields& g) {
    g.number("kernels", c.moe_kernels, base::not_negative);
    g.number("grouped_gemm_efficiency", c.grouped_gemm_efficiency, share);
    g.number("expert_stream_efficiency", c.expert_stream_efficiency, share);
    g.number("row_clocks", c.row_clocks, base::not_negative);
    g.number("choice_clocks", c.choice_clocks, base::not_negative);
    g.number("block_clocks", c.block_clocks, base::not_negative);
    g.number("expert_clocks", c.expert_clocks, base::not_negative);
    g.number("block_expert_clocks", c.block_expert_clocks, base::not_negative);
    g.number("fp4_expert_clocks", c.fp4_expert_clocks, base::not_negative);
    g.number("alternative_kernels", c.alternative_moe_kernels, base::not_negative);
    g.number("alternative_row_clocks", c.alternative_row_clocks, base::not_negative);
    g.source();
  });
  f.group("recurrence", [&](Fields& g) {
    g.number("ssm_scan_rate", c.ssm_scan_rate, base::positive);
    g.number("delta_scan_rate", c.delta_scan_rate, base::positive);
    g.number("selective_scan_rate", c.selective_scan_rate, base::positive);
    g.number("ssm_scan_kernels", c.ssm_scan_kernels, base::not_negative);
    g.number("delta_scan_kernels", c.delta_scan_kernels, base::not_negative);
    g.number("delta_scan_fill_trips", c.delta_scan_fill_trips, base::not_negative);
    g.number("update_fill_trips", c.update_fill_trips, base::not_negative);
    g.source();
  });
  f.group("elementwise", [&](Fields& g) {
    g.number("fill_trips", c.elementwise_fill_trips, base::not_negative);
    g.number("vector_efficiency", c.vector_efficiency, share);
    g.number("lookup_efficiency", c.lookup_efficiency, share);
    g.source();
  });
  f.group("collective", [&](Fields& g) {
    g.number("link_efficiency", c.link_efficiency, share);
    g.number("nic_efficiency", c.nic_efficiency, share);
    g.number("custom_nic_efficiency", c.custom_nic_efficiency, share);
    g.number("in_network_efficiency", c.in_network_efficiency, share);
    g.number("custom_efficiency", c.custom_efficiency, share);
    g.number("exchange_efficiency", c.exchange_efficiency, share);
    g.quantity("custom_in_flight", c.custom_in_flight, base::positive);
    g.number("start_trips", c.start_trips, base::not_negative);
    g.group("protocols", [&](Fields& all) {
      constexpr std::string_view kNames[kProtocols] = {"ll", "ll128", "simple"};
      for (std::size_t i = 0; i < kProtocols; ++i) {
        all.group(kNames[i], [&](Fields& p) {
          p.number("overhead", c.protocols[i].overhead, base::not_negative);
          p.number("scale_up_hop", c.protocols[i].scale_up_hop, base::positive);
          p.number("scale_out_hop", c.protocols[i].scale_out_hop, base::positive);
          p.quantity("scale_out_wait", c.protocols[i].scale_out_wait, base::not_negative);
          p.quantity("tree_wait", c.protocols[i].tree_wait, base::not_negative);
          p.number("bandwidth", c.protocols[i].bandwidth, share);
          p.number("scale_out_bandwidth", c.protocols[i].scale_out_bandwidth, share);
        });
      }
    });
    g.number("staging_copy", c.staging_copy, base::fraction);
    g.number("pat_efficiency", c.pat_efficiency, share);
    g.quantity("in_network_overhead", c.in_network_overhead, base::not_negative);
    g.quantity("deduplication_overhead", c.deduplication_overhead, base::not_negative);
    g.number("deduplicated_row_clocks", c.deduplicated_row_clocks, base::not_negative);
    g.number("deduplicated_bytes_per_sm_clock", c.deduplicated_bytes_per_sm_clock, base::positive);
    g.source();
  });
  f.group("power", [&](Fields& g) {
    g.number("idle_share", c.idle_share, share);
    g.number("active_share", c.active_share, share);
    g.number("limit_share", c.limit_share, base::Range{0.01, 1.0});
    g.number("voltage_floor", c.voltage_floor, share);
    g.group("flop_share", [&](Fields& t) {
      for (int i = 0; i < base::kMathTypes; ++i) {
        t.number(base::name(static_cast<base::MathType>(i)),
                 c.flop_share[static_cast<std::size_t>(i)], base::positive);
      }
    });
    g.quantity("dram_energy", c.dram_energy, base::positive);
    g.quantity("dram_device_energy", c.dram_device_energy, base::positive);
    g.quantity("link_energy", c.link_energy, base::positive);
    g.source();
  });
  f.each(
      "errors",
      [&](Fields& g) {
        KindError& e = c.errors.emplace_back();
        g.text("kind", e.kind);
        g.integer("rows", e.rows, base::not_negative);
        g.integer("refused", e.refused, base::not_negative);
        g.integer("held_back", e.held_back, base::not_negative);
        g.number("median", e.median, base::not_negative);
        g.number("p90", e.p90, base::not_negative);
        g.number("bias", e.bias, base::any_value);
        g.number("low", e.low, base::positive);
        g.number("high", e.high, base::positive);
      },
      base::optional);
  read_versions(f, c);
  c.corrections = read_corrections(f);
  read_relatives(f, c);
  f.group(
      "energies_of", [&](base::Fields& g) { read_energies(g, c.energies_of.emplace()); },
      base::optional);
}

}  // namespace roofcast::hardware
