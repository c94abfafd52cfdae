// SPDX-License-Identifier: Apache-2.0
//
// How much of a chip's datasheet its kernels reach: efficiencies without a dimension and a few latencies.
//
// They are fractions of the chip's own rates and multiples of its own memory latency. So the same parameters
// also hold for a chip that does not exist. Each figure has its meaning here. Its value and its source are in
// hardware/calibrated/<id>.yaml.
//
// Units: a figure of type double without a unit is a share or a factor. `trips` are DRAM latencies, `clocks`
// are clocks of an SM.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"
#include "base/units/number_format.hpp"
#include "base/units/quantity.hpp"
#include "hardware/correction.hpp"

namespace roofcast::hardware {

// Where the parameters of a forecast come from, best first. No calibration is `assumed`: this value says that figures
// of the chip itself are assumptions.
enum class Provenance { measured_corrected, calibrated, transferred, datasheet, assumed };
std::string_view name(Provenance provenance);

// A protocol of the collective library. Overhead and hops are relative to LL on the same level.
struct Protocol {
  double overhead = 1.0;
  double scale_up_hop = 1.0;
  double scale_out_hop = 1.0;
  double bandwidth = 1.0;            // share of the scale-up port
  double scale_out_bandwidth = 1.0;  // share of the NIC
  base::Seconds scale_out_wait;      // of a hop across domains, beside the latency of the network
  base::Seconds tree_wait;           // more of it in a tree
};
inline constexpr std::size_t kProtocols = 3;  // LL, LL128, Simple

// How far a fitted calibration is from measurements that the fit did not see. e = predicted / measured − 1.
struct KindError {
  std::string kind;                                   // kind of operators: "gemm"
  std::int64_t rows = 0, refused = 0, held_back = 0;  // measurements
  double median = 0, p90 = 0, bias = 0;  // median of |e|, 90 % quantile of |e|, median of e
  double low = 1, high = 1;  // of measured / predicted: nine of ten next ones are within
};

// The kind of what hosts take to launch operators one by one, where they are not those of the measurements.
inline constexpr std::string_view kHostLaunches = "host_launches";

// What was different from the next newer version (hardware/kernel_versions.hpp).
struct OlderVersion {
  std::string version;
  std::string measured;                            // kinds of the tables that have it
  std::shared_ptr<const Corrections> corrections;  // null where nothing was different
};

// Another measured chip, whose corrections are used beside those of the nearest (hardware/nearest_calibration.hpp).
struct Calibration;
struct Relative {
  std::shared_ptr<const Calibration> of;
  double corrections_share = 0.0;  // of their logarithm that is used
};

// The chips of an architecture that were measured, the mean of them: theirs are the energies of a chip of the same architecture
// that is not in the catalog. Energies are a matter of the process.
struct EnergySource {
  double sms = 0.0;
  base::Hertz clock;
  base::Watts tdp;
  std::array<base::FlopsPerSecond, base::kMathTypes> tensor{};  // 0 = not known
};

struct Calibration {
  std::string id;
  std::string name;
  Provenance provenance = Provenance::datasheet;
  std::vector<KindError> errors;                   // only of a fitted calibration
  std::shared_ptr<const Corrections> corrections;  // null where there are none
  double corrections_share = 1.0;                  // of their logarithm that is used
  std::vector<Relative> relatives;
  std::optional<EnergySource> energies_of;

  // Of parameters that are another chip's (hardware/nearest_calibration.hpp).
  std::string distance;         // how far that chip is, in words
  double distance_share = 1.0;  // of the square of the errors: what comes from the distance
  std::string stack, version;   // whose kernels were measured; empty: not told
  std::vector<OlderVersion> older_versions;  // newest first
  // Of kernels that a server tunes when it starts, and that were not tuned when they were timed; null where there are none.
  std::shared_ptr<const Corrections> tuned;
  std::string tuned_like;  // the stack whose kernels they are like

  base::Seconds launch;        // one kernel inside a CUDA graph
  base::Seconds eager_launch;  // host time of an operator in eager mode

  // Memory
  double dram_efficiency = 1.0;       // streaming rate / datasheet rate
  double l2_efficiency = 1.0;         // L2 rate of kernels / measured read rate
  base::Seconds dram_latency;         // used where the chip has no measured latency
  double l2_bytes_per_sm_clock = 0;   // B, used where the chip has no measured L2 rate
  double in_flight_bytes_per_sm = 0;  // B, bytes in flight of one SM (Little's law)

  // GEMM
  // Best large GEMM / dense peak. fp16 has that of bf16: kernels, tiles, bytes and rates are the same.
  std::array<double, base::kMathTypes> tensor_efficiency{};
  double gemm_fill_trips = 0;  // to fill and drain the pipeline
  // Share of the idle part of the last wave that is lost: 1 = tiles, 0 = stream-K.
  double wave_tail = 0;
  double gemm_wave_trips = 0;   // between one tile and the next of an SM
  double gemm_split_trips = 0;  // to add up the parts of a split depth, in a kernel of its own
  double gemm_step_trips = 0;   // the least time of 128 bytes of depth of one tile
  // The same for fp4 kernels, which stacks take from other libraries.
  double gemm_fp4_step_trips = 0;
  double gemm_epilogue_passes = 0;  // writes of a tile to the L2 that are not overlapped
  double gemm_l2_sharing = 1;  // CTAs that one L2 read of an operand serves (clusters, multicast)
  // L2 reads of a row that one absent row of a tile costs, where kernels take fixed tiles (models/operators/fixed_tiles.hpp).
  double gemm_absent_row_reads = 0;
  // Rate with 128×128 scales / rate of a large fp8 GEMM.
  double gemm_block_scaling_efficiency = 1.0;
  // Weights of 4 bits that an SM widens in a clock beside what its products hide; of 8 bits twice as many.
  double gemm_widened_per_sm_clock = 0;
  // Rate of a large GEMM with 2:4 sparse weights / `sparsity` of the chip x rate of the dense one.
  double gemm_sparse_efficiency = 1.0;
  double overlap_exponent = 1;  // p of the smooth maximum (Σ tᵖ)^(1/p) of compute and memory

  // Attention
  double attention_tensor_efficiency = 1.0;  // share of the dense peak in prefill
  double decode_tensor_efficiency = 1.0;     // share of the dense peak in decode
  double attention_fp8_efficiency = 1.0;     // factor on both shares with fp8, of the fp8 peak
  double exponentials_per_sm_clock = 0;      // used where the chip has no measured rate
  // Share of the shorter of products and exponentials that is not overlapped.
  double exposed_softmax = 1.0;
  double attention_fill_trips = 0;      // before the first product
  double prefill_fill_clocks = 0;       // start and end of the kernel
  double prefill_cta_clocks = 0;        // start and end of a tile of queries
  double decode_fill_clocks = 0;        // start and end of both kernels of split-KV decode
  double decode_cta_clocks = 0;         // start and end of a CTA
  double decode_keys_per_split = 1;     // the fewest keys of a CTA
  double decode_latent_splits = 1;      // the most CTAs for a context whose heads share a latent
  double decode_ramp_bytes_per_sm = 0;  // B, cache read at half rate while SMs start and end

  // Mixture of experts
  double moe_kernels = 0;  // small kernels around the grouped GEMMs: routing, sort, combine
  double grouped_gemm_efficiency = 1.0;   // rate / rate of one large GEMM
  double expert_stream_efficiency = 1.0;  // rate of reading experts' weights / streaming rate
  double row_clocks = 0;                  // to gather, scatter or reduce one element of a row
  double choice_clocks = 0;               // to put one choice of a token in the order of experts
  double block_clocks = 0;                // to scale one element of a token in blocks (fp8_block)
  // All kernels together: to pass over one expert of the rank in search of its rows.
  double expert_clocks = 0;
  double block_expert_clocks = 0;  // the same with fp8_block
  double fp4_expert_clocks = 0;    // the same with fp4 activations
  // Of kernels that a stack uses for some models or batches only (GroupedGemm::alternative_kernel).
  double alternative_moe_kernels = 0;
  double alternative_row_clocks = 0;

  // Recurrent mixers
  double ssm_scan_rate = 1.0;        // FLOP of a state-space scan / fp32 vector peak
  double delta_scan_rate = 1.0;      // the same for a delta-rule scan
  double selective_scan_rate = 1.0;  // the same for a selective scan
  double ssm_scan_kernels = 0;
  double delta_scan_kernels = 0;
  double delta_scan_fill_trips = 0;  // all kernels of a scan together
  double update_fill_trips = 0;      // the update in decode

  // Elementwise
  double elementwise_fill_trips = 0;
  double vector_efficiency = 1.0;  // useful FLOP of short convolutions / fp32 vector peak
  double lookup_efficiency = 1.0;  // rate of reading random rows of tables / streaming rate

  // Collectives
  double link_efficiency = 1.0;        // share of the scale-up port that large messages reach
  double nic_efficiency = 1.0;         // share of the scale-out port that large messages reach
  double custom_nic_efficiency = 1.0;  // the same for exchanges by the stack's own kernels
  double in_network_efficiency = 1.0;  // share of the port while switches reduce
  double custom_efficiency = 1.0;      // share of the port that the stack's own all-reduce reaches
  double exchange_efficiency = 1.0;    // share of the port that the stack's own exchange reaches
  base::Bytes custom_in_flight;        // from one peer during one hop, in kernels with barriers
  double start_trips = 0;              // start of a collective of the library with LL
  std::array<Protocol, kProtocols> protocols{};
  double staging_copy = 0;            // last copy out of the library's buffer / step of a ring
  double pat_efficiency = 1.0;        // share of the port with parallel aggregated trees
  base::Seconds in_network_overhead;  // added to the start when switches reduce
  // For each level, of an all-to-all that sends each row once.
  base::Seconds deduplication_overhead;
  double deduplicated_row_clocks = 0;          // to find the ranks of one row
  double deduplicated_bytes_per_sm_clock = 0;  // B, of the copies of rows

  // Power, shares of the TDP of the chip that was measured
  double idle_share = 0;     // between kernels, at high clocks
  double active_share = 0;   // while a kernel runs, whatever it does
  double limit_share = 1;    // of the cap: what the power controller keeps
  double voltage_floor = 0;  // share of the clock below which voltage stays
  std::array<double, base::kMathTypes> flop_share{};  // FLOP alone, at the dense peak
  base::JoulesPerByte dram_energy;                    // from memory to the SMs
  base::JoulesPerByte dram_device_energy;             // of that, in the memory itself
  base::JoulesPerByte link_energy;                    // sent, with the memory at this end
};

// "transferred: 1 generation later than NVIDIA H100 SXM; 84 % of the error's variance is from the distance"
std::string provenance_text(Provenance provenance, const Calibration& calibration);

void read(base::Fields& f, Calibration& calibration);

base::Catalog calibration_catalog();

}  // namespace roofcast::hardware
