// SPDX-License-Identifier: Apache-2.0
//
// How much of a chip's datasheet its kernels reach: dimensionless efficiencies and a few latencies.
//
// Because they are fractions of the chip's own rates, and counts of its own memory latency, the
// same parameters can be asked about a chip that does not exist. Each figure's meaning is beside it
// here, its value and source in hardware/calibrated/<id>.yaml.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"
#include "base/units/number_format.hpp"
#include "base/units/quantity.hpp"
#include "hardware/correction.hpp"

namespace roofcast::hardware {

// Where a forecast's parameters come from, best first. `assumed` is no calibration's: it says that
// figures of the chip itself are assumptions.
enum class Provenance { measured_corrected, calibrated, transferred, datasheet, assumed };
std::string_view name(Provenance provenance);

// A protocol of the collective library, relative to LL on the same level; its share of the port.
struct Protocol {
  double overhead = 1.0;
  double scale_up_hop = 1.0;
  double scale_out_hop = 1.0;
  double bandwidth = 1.0;
};
inline constexpr std::size_t kProtocols = 3;  // LL, LL128, Simple

// How far a fitted calibration is from measurements that it was not fitted to.
struct KindError {
  std::string kind;  // of operators: "gemm"
  std::int64_t rows = 0, refused = 0, held_back = 0;
  double median = 0, p90 = 0, bias = 0;  // of |e|, of |e|, of e = predicted / measured − 1
  double low = 1, high = 1;              // 5 % and 95 % quantiles of measured / predicted
};

struct Calibration {
  std::string id;
  std::string name;
  Provenance provenance = Provenance::datasheet;
  std::vector<KindError> errors;                   // of a fitted one
  std::shared_ptr<const Corrections> corrections;  // null where there are none

  base::Seconds launch;        // one kernel inside a CUDA graph
  base::Seconds eager_launch;  // the host's pace when it launches every operator itself

  // Memory
  double dram_efficiency = 1.0;       // streaming rate / datasheet rate
  double l2_efficiency = 1.0;         // kernel's L2 rate / measured read rate
  base::Seconds dram_latency;         // where the chip has no measured one
  double l2_bytes_per_sm_clock = 0;   // L2 rate where the chip has no measured one
  double in_flight_bytes_per_sm = 0;  // loads one SM keeps under way (Little's law)

  // GEMM
  std::array<double, base::kMathTypes> tensor_efficiency{};  // best large GEMM / dense peak
  double gemm_fill_trips = 0;  // DRAM latencies spent filling and draining the pipeline
  double wave_tail = 0;        // share of a partial last wave that is lost: 1 = tiles, 0 = stream-K
  double gemm_wave_trips = 0;  // DRAM latencies lost between one tile and the next of an SM
  double gemm_split_trips = 0;  // and in adding up a depth that is split, a kernel of its own
  double gemm_step_trips = 0;   // and, at least, in 128 bytes of depth of one tile
  double gemm_fp4_step_trips =
      0;  // the same of fp4 kernels, which stacks take from other libraries
  double gemm_epilogue_passes = 0;  // writes of a tile to the L2 that overlap with nothing
  double gemm_l2_sharing = 1;  // CTAs that one L2 read of an operand serves (clusters, multicast)
  double gemm_block_scaling_efficiency = 1.0;  // 128×128 scales, of one large fp8 GEMM
  double overlap_exponent = 1;  // p of the smooth maximum (Σ tᵖ)^(1/p) of compute and memory

  // Attention
  double attention_tensor_efficiency = 1.0;  // of the dense peak, prefill
  double decode_tensor_efficiency = 1.0;     // of the dense peak, decode
  double attention_fp8_efficiency = 1.0;     // what fp8 reaches of these shares of its own peak
  double exponentials_per_sm_clock = 0;      // where the chip has no measured rate
  double exposed_softmax = 1.0;      // of the shorter of products and exponentials, not overlapped
  double attention_fill_trips = 0;   // DRAM latencies before the first product
  double prefill_fill_clocks = 0;    // start and end of the kernel, SM clocks
  double prefill_cta_clocks = 0;     // start and end of a tile of queries
  double decode_fill_clocks = 0;     // both kernels of split-KV decode
  double decode_cta_clocks = 0;      // start and end of a CTA
  double decode_keys_per_split = 1;  // a CTA is not given fewer keys
  double decode_ramp_bytes_per_sm = 0;  // cache read at half rate while SMs start and end

  // Mixture of experts
  double moe_kernels = 0;  // small kernels around the grouped GEMMs: routing, sort, combine
  double grouped_gemm_efficiency = 1.0;   // of what one large GEMM reaches
  double expert_stream_efficiency = 1.0;  // experts' weights read / streaming rate
  double row_clocks = 0;  // of an SM, to gather, scatter or reduce one element of a row

  // Recurrent mixers
  double ssm_scan_rate = 1.0;    // FLOP of a state-space scan / fp32 vector peak
  double delta_scan_rate = 1.0;  // of a delta-rule scan
  double ssm_scan_kernels = 0;
  double delta_scan_kernels = 0;
  double delta_scan_fill_trips = 0;  // of all its kernels
  double update_fill_trips = 0;      // of a decode step

  // Elementwise
  double elementwise_fill_trips = 0;
  double vector_efficiency = 1.0;  // useful FLOP of short convolutions / fp32 vector peak
  double lookup_efficiency = 1.0;  // rows of tables read at random / streaming rate

  // Collectives
  double link_efficiency = 1.0;        // scale-up port, large messages
  double nic_efficiency = 1.0;         // scale-out port, large messages
  double in_network_efficiency = 1.0;  // of the port while switches reduce
  double custom_efficiency = 1.0;      // the stack's own kernels, of the port
  base::Bytes custom_in_flight;        // of one peer during one hop, kernels with barriers
  double start_trips = 0;  // DRAM latencies a collective of the library takes to start, with LL
  std::array<Protocol, kProtocols> protocols{};
  double staging_copy = 0;      // of a step of a ring, the last copy out of the library's buffer
  double pat_efficiency = 1.0;  // of the port, parallel aggregated trees
  base::Seconds in_network_overhead;           // more of it when switches reduce
  base::Seconds deduplication_overhead;        // of an all-to-all that sends each row once, a level
  double deduplicated_row_clocks = 0;          // of an SM, to find one row's ranks
  double deduplicated_bytes_per_sm_clock = 0;  // and to move its copies

  // Power, shares of the TDP
  double idle_share = 0;                              // between kernels, clocks up
  double active_share = 0;                            // while a kernel runs, whatever it does
  double limit_share = 1;                             // what the power controller holds
  std::array<double, base::kMathTypes> flop_share{};  // of FLOP alone, at the dense peak
  base::JoulesPerByte dram_energy;                    // from memory to the SMs
  base::JoulesPerByte link_energy;                    // sent, memory at this end included
};

void read(base::Fields& f, Calibration& calibration);

base::Catalog calibration_catalog();

}  // namespace roofcast::hardware
