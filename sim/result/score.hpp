// SPDX-License-Identifier: Apache-2.0
//
// The benchmark score of a scenario. It is the published score of its model, precision and effort
// (workloads/architecture/scores.hpp), or that of the user's own curve at the length of the answers.
//
// If no score is known, the result has none, and a reason. No score is interpolated between models or precisions. A
// model with changed dimensions has no score.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "workloads/architecture/scores.hpp"
#include "workloads/traffic/traffic.hpp"

namespace roofcast::sim {

struct ScenarioView;

enum class ScoreGap : std::uint8_t {
  not_requested,
  known,
  model,      // none for this benchmark, model, checkpoint, effort and number of samples
  precision,  // only in other precisions
  several,    // several checkpoints or efforts match, and the scenario names none
  curve,      // outside the points of the user's curve
};
std::string_view reason(ScoreGap gap);  // empty if there is a score, or none was asked for

struct KnownScore {
  ScoreGap gap = ScoreGap::not_requested;
  double percent = std::numeric_limits<double>::quiet_NaN();
  double tokens = std::numeric_limits<double>::quiet_NaN();  // tokens of one sample
  double samples = 1.0;
  double rounds = 1.0;  // of the clients of a closed loop, until a question has all its samples
};

KnownScore score_of(const ScenarioView& scenario);

// The traffic if requests are samples of questions. The samples of one question come together, so all but the first
// find its prompt in the KV cache. The mean number of new tokens falls to 1/samples. Not modelled: the blocks of the
// prompt are held only once.
workloads::Traffic sampled_traffic(const workloads::Traffic& traffic, std::int64_t samples);

}  // namespace roofcast::sim
