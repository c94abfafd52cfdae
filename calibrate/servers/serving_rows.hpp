// SPDX-License-Identifier: Apache-2.0
//
// Measured servers as scenarios: what a row of serving_silicon.csv asks roofcast to forecast.
//
// The table gathers dumps of InferenceX and of a vendor, each with its own conventions. This is all
// that is known of a row:
//
//   parallel sizes  InferenceX knows a width TP, an expert-parallel size EP of 1 or TP, and whether
//                   attention is data-parallel over the width. Its dumps write that three ways:
//                     tp_size=TP adp=1 (or tp_size=1 adp=TP)      moe_tp=TP/EP  moe_ep=EP
//                     tp_size·adp=TP·EP, one of them 1            moe_tp=TP     moe_ep=EP
//                     tp_size=TP adp=TP                           moe_tp=1      moe_ep=TP·EP
//                   so that "tp_size 64" is TP 8, EP 8 on one node of eight GPUs; where a row's
//                   id tells TP and EP (…_tp8_ep8_…), it agrees. The vendor's rows are tp_size,
//                   moe_tp and moe_ep as they stand; where moe_tp·moe_ep is more than tp_size, or
//                   the batch of a rank is concurrency/width, attention is data-parallel over the
//                   rest. A width that is no power of two is a disaggregated deployment counted as
//                   one server.
//   concurrency     of one replica; vendor's rows that name adp but have batch_size·adp below the
//                   concurrency counted several replicas, whose share is batch_size·adp.
//   precision       FP8 of DeepSeek, MiniMax-M2 and Qwen's own FP8 checkpoints, and rows named fp8_block:
//                   128×128 blocks (quantization_config of their config.json). gpt-oss: MXFP4 experts
//                   whatever the row says, multiplied in bf16 on Hopper, FP8 on Blackwell.
//   KV cache        fp8 beside FP8 and FP4 weights, as InferenceX's configurations set it; bf16 beside
//                   the vendor's FP8 weights, which have no scales for the cache, and for DeepSeek on
//                   H200 by SGLang, whose settings name none.
//   host            vLLM's works beside the GPU since 0.14 and where InferenceX asks for that. The vendor's
//                   0.12 did not; of InferenceX's rows those of Llama-70B did not either, for all
//                   that was asked: they are as much slower than their kernels as the vendor's.
//   launches        dependent launch in TensorRT-LLM since 1.2, and where InferenceX sets
//                   TRTLLM_ENABLE_PDL: gpt-oss, but its first rows on H200.
//   fusion          InferenceX's vLLM on Blackwell normalises and quantises inside all-reduces for
//                   Llama-70B and gpt-oss; TensorRT-LLM 1.0's Qwen3 quantises in kernels of their own
//                   (NVIDIA/TensorRT-LLM@010bb95 tensorrt_llm/_torch/models/modeling_qwen3.py).
//   scheduler       InferenceX's settings where they are not the stack's: tokens a step, iterations that prompts
//                   wait for more, decode iterations between looks at new requests, tokens a message.
//                   The vendor's TensorRT-LLM holds one prompt a step: TTFT of Qwen3 is that of prompts
//                   computed one by one, however long they are.
//   client          ten requests a client, all clients' first at once. InferenceX's lengths are uniform
//                   from 80 to 100 % of nominal. The vendor's are nominal, and its clients of SGLang and TensorRT-LLM
//                   stay in step, which TTFT shows; those of Llama-3.1-8B and of vLLM do not: answers
//                   that vary by 10 % stand for whatever parts them.
//   a slot          TensorRT-LLM serves one request of Llama-3.1-8B fewer than there are clients: measured
//                   TTFT is longer by the time of a request over the number of clients, whatever the lengths.
//   prefix cache    prompts of Llama-3.1-8B on the vendor's vLLM are in it: 190,000 of their tokens a second
//                   on one H200 would be more than its FLOP.
//   two pools       calibrate/servers/disaggregated_rows.hpp, in clusters of the chip, behind a front end of their own
//                   (Dynamo), which sends 80,000 tokens a second and more: taken to cost nothing.
//   DeepSeek        calibrate/servers/deepseek_servers.hpp; speculation is not recorded, rows of TensorRT-LLM and SGLang may
//                   have used MTP
//
// Settings: SemiAnalysisAI/InferenceX, benchmarks/*.sh before 2026-04-28.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/csv/csv.hpp"
#include "calibrate/platforms/chip_platforms.hpp"
#include "calibrate/servers/disaggregated_rows.hpp"
#include "sim/estimate.hpp"
#include "sim/scenario/scenario.hpp"
#include "workloads/traffic/request_stream.hpp"

namespace roofcast::calibrate {

struct MeasuredServer {
  std::string model;  // catalog ids; the table's words where there is none
  std::string chip;
  std::string stack;
  bool may_speculate = false;  // not recorded, and nothing else tells
  bool held_back = false;  // of a configuration that only judges: model, chip, stack, precision, TP
  double ttft_ms = 0.0;    // means
  double tpot_ms = 0.0;
  std::string reason;  // why it is no scenario; empty when it is one

  const sim::Platform* platform = nullptr;  // shared by rows; owned by ServingRows
  const workloads::Architecture* architecture = nullptr;
  const workloads::Precision* precision = nullptr;
  workloads::Serving serving;
  workloads::Mapping mapping;
  workloads::Traffic traffic;  // of mean lengths
  workloads::RequestStream stream;
  std::optional<workloads::Pools> pools;  // of a disaggregated deployment

  sim::ScenarioView scenario() const {
    return {.platform = platform,
            .model = architecture,
            .precision = precision,
            .mapping = &mapping,
            .serving = &serving,
            .traffic = &traffic,
            .pools = pools ? &*pools : nullptr};
  }
};

// Reads rows of one table. Sections of the scenarios are loaded once and shared.
class ServingRows {
 public:
  // CsvError when a column is missing. `calibration` and `measured` as of ChipPlatforms.
  explicit ServingRows(const base::CsvTable& table, const std::string& calibration = {},
                       hardware::Measured measured = hardware::Measured::own);
  MeasuredServer row(std::size_t row);

 private:
  std::string_view text(std::size_t row, std::size_t column) const;
  std::int64_t count(std::size_t row, std::size_t column) const;  // 0 when empty
  bool is_inferencex(std::size_t row) const;
  void read_pools(std::size_t row, MeasuredServer& server);
  void read_mapping(std::size_t row, MeasuredServer& server) const;
  void read_traffic(std::size_t row, MeasuredServer& server) const;
  void read_scheduler(std::size_t row, MeasuredServer& server) const;
  void read_serving(std::size_t row, MeasuredServer& server);
  void read_engine(std::size_t row, MeasuredServer& server) const;
  const workloads::Precision* precision_of(std::size_t row, const MeasuredServer& server);

  const base::CsvTable& table_;
  std::size_t mode_, model_, system_, backend_, precision_, gemm_, source_, version_;
  std::size_t tp_, pp_, attention_dp_, moe_tp_, moe_ep_, isl_, osl_, concurrency_, batch_, ttft_,
      tpot_;
  ChipPlatforms platforms_;
  std::optional<DisaggregatedRows> disaggregated_;  // once a row needs its columns
  std::map<std::string, workloads::Architecture> models_;
  std::map<std::string, workloads::Precision> precisions_;
  std::map<std::string, workloads::Serving> servings_;
};

// A row's forecast, by simulation of the benchmark (sim/replay/simulate.hpp), in the measurement's units; no numbers where there is a reason.
struct ServerForecast {
  double ttft_ms = 0.0;
  double tpot_ms = 0.0;
  models::Spread ttft_spread;  // 90 % intervals
  models::Spread tpot_spread;
  std::string provenance;
  std::string reason;       // a short one, to count by
  std::string explanation;  // the whole sentence
  bool predicted() const { return reason.empty(); }
};
ServerForecast forecast(const MeasuredServer& server, sim::Workspace& workspace);

}  // namespace roofcast::calibrate
