// SPDX-License-Identifier: Apache-2.0
//
// The score of a scenario: the published one of its model, precision and effort (workloads/architecture/scores.hpp), or of
// a curve of the user's own at the length of the answers. Where none is known there is none, and a reason; no
// score is interpolated between models or precisions, and a model whose dimensions were changed has none.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "workloads/architecture/scores.hpp"
#include "workloads/traffic/traffic.hpp"

namespace roofcast::sim {

struct ScenarioView;

enum class ScoreGap : std::uint8_t {
  not_asked,
  known,
  model,      // none of this benchmark, model, checkpoint, effort and number of samples
  precision,  // only in other precisions
  several,    // checkpoints or efforts that the scenario does not choose between
  curve,      // outside the user's points
};
std::string_view reason(ScoreGap gap);  // empty when there is a score or nobody asked

struct KnownScore {
  ScoreGap gap = ScoreGap::not_asked;
  double percent = std::numeric_limits<double>::quiet_NaN();
  double tokens = std::numeric_limits<double>::quiet_NaN();  // of one sample
  double samples = 1.0;
  double rounds = 1.0;  // that the clients of a closed loop take for the samples of one question
};

KnownScore score_of(const ScenarioView& scenario);

// Of requests that are the samples of questions: those of one question come together, so that all but the first
// find its prompt in the KV cache, which takes the mean of new tokens to a share. That its blocks are held once
// is not modelled.
workloads::Traffic sampled_traffic(const workloads::Traffic& traffic, std::int64_t samples);

}  // namespace roofcast::sim
