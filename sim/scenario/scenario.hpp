// SPDX-License-Identifier: Apache-2.0
//
// A serving scenario: what runs, on what, under which traffic.
//
//   system: hgx_h200                      # catalog id, a path, or an inline description
//   model: llama-3.1-70b
//   precision: {weights: fp8, activations: fp8, kv_cache: fp8}    # or a catalog id
//   deployment: {tensor_parallel: 8, pipeline_parallel: 1, expert_parallel: 1, data_parallel: 1}
//   serving: {stack: vllm}
//   traffic: {input_tokens: 2048, output_tokens: 512, concurrency: 64}
//   accuracy: {benchmark: aime_2025}      # optional (sim/result/score.hpp)
//   prices: us_colocation                 # optional (hardware/prices.hpp); rented when left out
//   numerics: {promotion: 128}            # optional (workloads/architecture/numerics.hpp)
//
// With a section `training` (workloads/training/training.hpp) it is a training step; nothing is served, and `serving` and `traffic`
// may be left out. With `rl` too (workloads/training/post_training.hpp) it is a step of RL post-training, whose rollouts `serving` generates.
// With `run` (workloads/training/training_run.hpp) it is a whole run of such steps.
//
// Its sections and how they are read: sim/scenario/sections.hpp. Knobs: knob.hpp. References and
// derived parts: references.hpp.
#pragma once

#include <cstdint>
#include <memory>

#include "hardware/prices.hpp"
#include "hardware/system.hpp"
#include "models/machine.hpp"
#include "workloads/architecture/architecture.hpp"
#include "workloads/architecture/numerics.hpp"
#include "workloads/architecture/precision.hpp"
#include "workloads/architecture/scores.hpp"
#include "workloads/serving/deployment.hpp"
#include "workloads/serving/serving.hpp"
#include "workloads/traffic/traffic.hpp"
#include "workloads/training/post_training.hpp"
#include "workloads/training/training.hpp"
#include "workloads/training/training_run.hpp"

namespace roofcast::sim {

// A system with the rates derived from it.
struct Platform {
  hardware::System system;
  models::Machine machine;
  std::uint64_t text = 0;  // hash of the document that describes the system; 0: read from none
};

// The systems that pools name for themselves. Null: the scenario's.
struct PoolPlatforms {
  std::shared_ptr<const Platform> prefill;
  std::shared_ptr<const Platform> decode;
};

struct Deployment : workloads::Deployment {
  PoolPlatforms platforms;
};

struct Scenario {
  Platform platform;
  workloads::Architecture model;
  workloads::Precision precision;
  Deployment deployment;
  workloads::Serving serving;
  workloads::Traffic traffic;
  workloads::Accuracy accuracy;
  workloads::Training training = {};
  workloads::PostTraining post_training = {};
  workloads::TrainingRun run = {};
  hardware::Prices prices = {};
  workloads::Numerics numerics = {};
};

struct DraftModel;
struct FrontModels;

// The same by pointer, so that the points of a sweep share what they have in common. What it points to outlives it.
struct ScenarioView {
  const Platform* platform = nullptr;
  const workloads::Architecture* model = nullptr;
  const workloads::Precision* precision = nullptr;
  const workloads::Mapping* mapping = nullptr;  // the decode pool's where there are pools
  const workloads::Serving* serving = nullptr;
  const workloads::Traffic* traffic = nullptr;
  const workloads::Accuracy* accuracy = nullptr;
  const workloads::Pools* pools = nullptr;                 // of a disaggregated deployment
  const workloads::Training* training = nullptr;           // of a scenario that trains
  const workloads::PostTraining* post_training = nullptr;  // with training
  const workloads::TrainingRun* run = nullptr;             // with training
  const hardware::Prices* prices = nullptr;                // rented when there are none
  bool scans =
      false;  // one of many: few requests are followed, or none (sim/serving/sampled_loop.hpp)
  std::int64_t sample = 1;      // times the usual number of requests is followed
  bool launches_ahead = false;  // kernels hide all launches that they may hide (launch_floor)
  const DraftModel* draft =
      nullptr;  // that serving.speculative runs, once it is derived (sim/iteration/draft_model.hpp)
  const FrontModels* front =
      nullptr;  // that run before prompts, once they are derived (sim/iteration/front_models.hpp)
  const PoolPlatforms* pool_platforms = nullptr;  // with pools; null: all on `platform`
  const workloads::Numerics* numerics = nullptr;  // null: all as the software does it

  // A section as it was read.
  void set(const Platform& section) { platform = &section; }
  void set(const workloads::Architecture& section) { model = &section; }
  void set(const workloads::Precision& section) { precision = &section; }
  void set(const Deployment& section) {
    mapping = &section.mapping;
    pools = section.pools ? &*section.pools : nullptr;
    pool_platforms = &section.platforms;
  }
  void set(const workloads::Serving& section) { serving = &section; }
  void set(const workloads::Traffic& section) { traffic = &section; }
  void set(const workloads::Accuracy& section) { accuracy = &section; }
  void set(const workloads::Training& section) { training = section.trains() ? &section : nullptr; }
  void set(const workloads::PostTraining& section) {
    post_training = section.enabled() ? &section : nullptr;
  }
  void set(const workloads::TrainingRun& section) { run = section.enabled() ? &section : nullptr; }
  void set(const hardware::Prices& section) { prices = &section; }
  void set(const workloads::Numerics& section) { numerics = &section; }
  template <class Section>
  void set(const Section&& temporary) = delete;
};
// Whether an agent's turn comes back to the replica and rank that hold its context.
bool returns_to_context(const ScenarioView& scenario);

}  // namespace roofcast::sim
