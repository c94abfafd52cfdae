// SPDX-License-Identifier: Apache-2.0
//
// Disaggregated serving: prompts on one pool of replicas, answers on another, KV caches sent between them.
//
// A request computes its prompt and its first token on a prefill replica, whose blocks it holds until its cache
// has been sent; then it waits for a place on a decode replica, where the rest of its answer is
// computed. The client sees the first token when it has that place, so the transfer and the wait are in
// TTFT: SGLang streams it when it merges the request into the decode batch, TensorRT-LLM and Dynamo pass on
// the decode server's stream alone (sgl-project/sglang
// python/sglang/srt/managers/scheduler_output_processor_mixin.py: process_batch_result_prebuilt;
// NVIDIA/TensorRT-LLM tensorrt_llm/serve/openai_disagg_server.py: merge_streaming_responses).
//
// Before its prompt is computed, the pools agree where its cache goes (Stack::handover_overhead).
//
// The transfer of a prompt of P tokens, cache c(P) and state s of a rank of the decode replica:
//
//   bytes received by a rank    c(P) + s                        of the decode replica's mapping
//   bytes sent by a rank        (c(P) + s) · n_d/n_p            n: ranks that share a sequence: TP · CP · PP
//   time                        one send of the larger, point to point (models/operators/collective.hpp): in the
//                               scale-up domain where it holds both pools, else over the rank's NICs, off
//                               their rail
//
// Pools on unlike systems have no domain in common. The cache goes over the NICs of both, and the slower time counts.
//
// It begins when the prompt is complete and passes beside the work of other requests; a sending rank sends one
// cache after the other, receivers' ports are taken to be free. Stacks that send layers or chunks while the
// rest of the prompt is computed hide some of it, which is not modelled.
#pragma once

#include <array>
#include <string_view>

#include "base/units/quantity.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

// GPUs of the scenario: of every replica, or of both pools.
std::int64_t gpus_of(const ScenarioView& scenario);

// GPUs of one kind in a scenario: all of them, or those of a pool with a system of its own.
struct Gpus {
  const Platform* platform = nullptr;
  std::int64_t count = 0;
  std::string_view key;  // of the document: "system", "deployment.prefill.system", …
};
// One entry, or two: first those that compute prompts. Pools whose systems have the same description are in one system.
struct GpuKinds {
  std::array<Gpus, 2> of;
  std::size_t size = 1;
  const Gpus* begin() const { return of.data(); }
  const Gpus* end() const { return of.data() + size; }
};
GpuKinds gpu_kinds(const ScenarioView& scenario);

// Whether a cache can get from one pool to the other: they are in one system, or both have NICs.
bool pools_are_connected(const ScenarioView& disaggregated);

// The pools of a disaggregated scenario, each as an aggregated one of its own: mapping, replicas and limits. Of the
// decode pool the schedule is mixed and waits for no prompts: what comes has none to compute. The prefill pool drafts
// nothing. Models that read before prompts run in the prefill pool.
class PoolScenarios {
 public:
  // What `scenario` points to outlives it.
  explicit PoolScenarios(const ScenarioView& scenario);
  PoolScenarios(const PoolScenarios&) = delete;
  PoolScenarios& operator=(const PoolScenarios&) = delete;

  const ScenarioView& prefill() const { return prefill_; }
  const ScenarioView& decode() const { return decode_; }
  // The draft model of the decode pool, which outlives this.
  void draft_with(const DraftModel* draft) { decode_.draft = draft; }

 private:
  workloads::Serving prefill_serving_;
  workloads::Serving decode_serving_;
  ScenarioView prefill_;
  ScenarioView decode_;
};

struct Transfer {
  base::Bytes received;  // by each rank that holds a part of the sequence
  base::Bytes sent;
  base::Seconds time;
};
Transfer kv_transfer(const ScenarioView& disaggregated, double prompt_tokens);

}  // namespace roofcast::sim
