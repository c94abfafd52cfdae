// SPDX-License-Identifier: Apache-2.0
//
// The disaggregated deployments that are published for a run (calibrate/conventions/disaggregated.yaml), and what is known
// of single runs (calibrate/conventions/published_runs.yaml).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "calibrate/conventions/read_settings.hpp"
#include "workloads/serving/deployment.hpp"

namespace roofcast::calibrate {

struct PublishedDeployment {
  std::int64_t draft_tokens = 0;  // of multi-token prediction; 0: it does not speculate
  workloads::Pools pools;
  std::vector<std::int64_t> concurrencies;  // of the whole deployment

  bool has(std::int64_t concurrency) const {
    return std::find(concurrencies.begin(), concurrencies.end(), concurrency) !=
           concurrencies.end();
  }
};

// Of a stack, chip, model and lengths in a year, in the order of the file; none where nothing is published.
struct PublishedDeployments : ReadSettings<std::vector<PublishedDeployment>> {
  PublishedDeployments();
};

// Nothing of a run that no rule names.
struct PublishedRun {
  std::optional<bool> speculates;
  std::optional<workloads::Pools> workers;
};

struct PublishedRuns : ReadSettings<PublishedRun> {
  PublishedRuns();
};

}  // namespace roofcast::calibrate
