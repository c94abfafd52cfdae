// SPDX-License-Identifier: Apache-2.0
//
// Measured operator tables as operators: what a row of gemm.csv, moe.csv, … asks the models to time.
//
// Columns are those of the public tables (ai-dynamo/aiconfigurator, extracted): system, fw, latency_ms and the
// kind's shape columns. Conventions of the measurements, not of roofcast:
//   - gemm rows are the mean of sets of weights that share one input and take turns in a CUDA graph, so
//     small weights stay in the L2. Rows of fp8, fp8_block and nvfp4 include quantising
//     the activations: fp8 of TensorRT-LLM a pass for the maximum, a pass to scale and two
//     kernels for the scale, fp8 of vLLM both passes at the cost of one kernel and 7 ns a row for the
//     maximum of all rows, atomics on one address (m = 256 to 16384 at n = k = 256, all chips); the others one
//     kernel. *_wo rows multiply in bf16, sq rows (SmoothQuant) in int8; TensorRT's layer profiler timed one
//     run of them, without the quantising layer, and adds 6 us
//   - fp8_block rows of vLLM were not captured in a graph: small ones take what the host needs to launch the
//     layer, large ones the kernels. Sets of weights and launches: calibrate/conventions/operator_rows.yaml
//   - rows of bench (roofcast-bench) quantise nothing
//   - gemm_power: calibrate/operators/power_rows.hpp
//   - attention rows with an fp8 cache run fp8 attention, but prefill of trtllm where attn_dtype says bfloat16; prefill
//     rows of trtllm include the kernel that
//     rotates the queries and writes the cache, those of vllm do not, and prompts of one token are steps of decode there
//   - context of a decode row = isl + kv_len_minus_isl; the same step is replayed, so the L2 holds a part of
//     a small cache
//   - mla_context rows of trtllm are attention of expanded heads, without the expansion; with an fp8 cache
//     they include quantising queries, keys and values where the chip multiplies fp8. MLA rows of vllm are all of its backend, launched by
//     the host: a prompt's expansion to keys and values of one width, the projections of queries and outputs
//     around decode
//   - moe rows are routing, both grouped GEMMs (one of the two up-projections where the kernel is "nongated")
//     and the activation of the busiest rank: calibrate/operators/expert_load.hpp. Kernels of trtllm were tuned once a cache file
//     whose name begins with format, hidden size, width and local experts: one expert also finds the file of 16, and the
//     two kernels of NVFP4 find each other's, and what finds another's runs untuned. No column tells (collector/
//     trtllm/collect_moe.py), so those rows have two modes. Kernels: calibrate/conventions/expert_kernels.yaml.
//     What kernels that choose in groups of experts do with a power law is not modelled
//   - mamba2 and gdn: calibrate/operators/recurrent_rows.hpp; deepep and alltoall: calibrate/operators/exchange_rows.hpp
//   - nccl rows that add int8 are no model's, and switches do not add it; those that only move int8 are as any others
//   - custom_allreduce rows of "TRTLLM" are kernels with flags, the others with barriers; "eager" ones were
//     launched by the host one by one, and copy their input into a registered buffer first
#pragma once

#include <string>
#include <vector>

#include "base/csv/csv.hpp"
#include "calibrate/operators/expert_kernels.hpp"
#include "calibrate/operators/expert_load.hpp"
#include "calibrate/operators/operator_settings.hpp"
#include "calibrate/operators/power_neighbours.hpp"
#include "calibrate/operators/shape_cells.hpp"
#include "workloads/architecture/precision.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::calibrate {

// The stack of rows that roofcast-bench measured: kernels of libraries and its own, which are no serving stack's.
inline constexpr std::string_view kBench = "bench";

struct MeasuredOperator {
  std::string chip;  // the catalog's id; the table's word where there is none
  std::string stack;
  std::string version;                         // of the stack; empty where the table has none
  std::string format;                          // as the table names it
  std::vector<workloads::Operator> operators;  // run one after the other
  HostLaunches host;                           // no faster than this
  double measured_s = 0.0;
  double measured_w = 0.0;           // mean power, of rows that are of power
  std::vector<PowerRun> neighbours;  // of such rows: the same weights with fewer and with more rows
  double overhead_s = 0.0;           // of the measurement, beside the operators
  bool untuned = false;              // no parameters are fitted to it
  std::string reason;                // why there is no prediction; empty when there is one
};

// The kinds that can be read: "gemm", "gemm_power", "attention_context", "attention_generation", "mla_context",
// "mla_generation", "moe", "mamba2", "gdn", "deepep_ll", "deepep_normal", "trtllm_alltoall",
// "custom_allreduce", "nccl".
std::vector<std::string> operator_kinds();

// The name that tables have for a collective; its own where they have none.
std::string_view collective_name(workloads::CollectiveKind kind);
bool has_layers(const std::string& kind);  // whether its rows have a layer() of a model

// Reads rows of one table; the columns are looked up once.
class OperatorRows {
 public:
  OperatorRows(std::string kind, const base::CsvTable& table);  // CsvError when a column is missing
  std::size_t size() const { return table_.rows(); }
  MeasuredOperator row(std::size_t row) const;
  // The same of it alone.
  std::string chip(std::size_t row) const;
  std::string_view stack(std::size_t row) const { return table_.cell(row, stack_); }
  std::string_view version(std::size_t row) const {
    return text(row, "fw_version");
  }  // may be empty
  std::string_view format(std::size_t row) const { return table_.cell(row, format_); }
  std::string shape(
      std::size_t row) const;  // the cells that say neither where nor what was measured
  // Of these, what a model's layer has whatever it is asked: both widths of a GEMM, heads of attention, sizes of experts.
  // A text for each that may be drawn by itself; none where there is no layer, as in a collective.
  std::vector<std::string> layer(std::size_t row) const;
  std::string_view text(std::size_t row, std::string_view column) const;

 private:
  double number(std::size_t row, std::size_t shape_column) const;
  std::int64_t integer(std::size_t row, std::size_t shape_column) const;
  void read_shape(std::size_t row, MeasuredOperator& measured) const;

  std::string kind_;
  const base::CsvTable& table_;
  std::size_t chip_, stack_, format_;
  std::vector<std::size_t> latencies_;
  double unit_s_ = 0.0;
  ShapeCells cells_;
  PowerNeighbours neighbours_;  // none but of rows of power
  mutable ExpertLoads loads_;
  mutable ExpertKernels kernels_;
  mutable OperatorConventions conventions_;
  std::vector<std::size_t> shape_;  // columns of the kind's shape, in the order of its reader
  std::vector<std::size_t> layer_;
};

}  // namespace roofcast::calibrate
