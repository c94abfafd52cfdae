// SPDX-License-Identifier: Apache-2.0
//
// A serving scenario: what runs, on what, under which traffic; and the one way to turn its knobs.
//
//   system: hgx_h200                      # catalog id, a path, or an inline description
//   model: llama-3.1-70b
//   precision: {weights: fp8, activations: fp8, kv_cache: fp8}    # or a catalog id
//   deployment: {tensor_parallel: 8, pipeline_parallel: 1, expert_parallel: 1, data_parallel: 1}
//   serving: {stack: vllm}
//   traffic: {input_tokens: 2048, output_tokens: 512, concurrency: 64}
//   accuracy: {benchmark: aime_2025}      # optional (sim/result/score.hpp)
//   prices: us_colocation                 # optional (hardware/prices.hpp); rented when left out
//
// With a section `training` (workloads/training/training.hpp) it is a training step; nothing is served, and `serving` and `traffic`
// may be left out. With `rl` too (workloads/training/post_training.hpp) it is a step of RL post-training, whose rollouts `serving` generates.
//
// Knobs, references and derived parts: sim/scenario/knob.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/document/node.hpp"
#include "base/document/problems.hpp"
#include "hardware/prices.hpp"
#include "hardware/system.hpp"
#include "models/machine.hpp"
#include "sim/scenario/knob.hpp"
#include "workloads/architecture/architecture.hpp"
#include "workloads/architecture/mapping.hpp"
#include "workloads/architecture/precision.hpp"
#include "workloads/architecture/scores.hpp"
#include "workloads/serving/deployment.hpp"
#include "workloads/serving/serving.hpp"
#include "workloads/traffic/request_stream.hpp"
#include "workloads/training/post_training.hpp"
#include "workloads/training/training.hpp"

namespace roofcast::sim {

// The sections of a scenario document, each read into its own value.
inline constexpr std::string_view kSections[] = {"system",  "model",   "precision", "deployment",
                                                 "serving", "traffic", "accuracy",  "training",
                                                 "rl",      "prices"};

// A system with the rates derived from it.
struct Platform {
  hardware::System system;
  models::Machine machine;
};

struct Scenario {
  Platform platform;
  workloads::Architecture model;
  workloads::Precision precision;
  workloads::Mapping mapping;  // the decode pool's where there are pools
  workloads::Serving serving;
  workloads::Traffic traffic;
  workloads::Accuracy accuracy;
  std::optional<workloads::Pools> pools = {};  // of a disaggregated deployment
  workloads::Training training = {};
  workloads::PostTraining post_training = {};
  hardware::Prices prices = {};
};

struct DraftModel;

// The same by pointer, so that the points of a sweep share what they have in common.
struct ScenarioView {
  const Platform* platform = nullptr;
  const workloads::Architecture* model = nullptr;
  const workloads::Precision* precision = nullptr;
  const workloads::Mapping* mapping = nullptr;
  const workloads::Serving* serving = nullptr;
  const workloads::Traffic* traffic = nullptr;
  const workloads::Accuracy* accuracy = nullptr;
  const workloads::Pools* pools = nullptr;                 // of a disaggregated deployment
  const workloads::Training* training = nullptr;           // of a scenario that trains
  const workloads::PostTraining* post_training = nullptr;  // with training
  const hardware::Prices* prices = nullptr;                // rented when there are none
  bool launches_ahead = false;  // the GPU never waits for the host's launches (launch_floor)
  const DraftModel* draft =
      nullptr;  // that serving.speculative runs, once it is derived (sim/iteration/draft_model.hpp)
};
ScenarioView view(const Scenario& scenario);

// Whether an agent's turn comes back to the replica and rank that hold its context.
bool returns_to_context(const ScenarioView& scenario);

// Readers of one section of a document whose references are loaded.
Platform read_platform(const base::Node& document, base::Problems& problems);
workloads::Architecture read_model(const base::Node& document, base::Problems& problems);
workloads::Precision read_precision(const base::Node& document, base::Problems& problems);
workloads::Deployment read_deployment(const base::Node& document, base::Problems& problems);
workloads::Serving read_replicas(const base::Node& document, base::Problems& problems);
// Of one pool; blocks in host memory, which only a simulation can have, are a problem.
workloads::Serving read_serving(const base::Node& document, base::Problems& problems);
workloads::RequestStream read_stream(const base::Node& document, base::Problems& problems);
workloads::Traffic read_traffic(const base::Node& document, base::Problems& problems);
workloads::Training read_training(const base::Node& document, base::Problems& problems);
workloads::PostTraining read_post_training(const base::Node& document, base::Problems& problems);
hardware::Prices read_prices(const base::Node& document, base::Problems& problems);

// Reports keys that are no section.
void check_sections(const base::Node& document, base::Problems& problems);

// These throw InputError with every problem.
Scenario read_scenario(base::Node document);  // to be estimated

// To be simulated.
struct StreamedScenario {
  Scenario scenario;  // its traffic has the stream's mean lengths
  workloads::RequestStream stream;
};
StreamedScenario read_streamed_scenario(base::Node document);

}  // namespace roofcast::sim
