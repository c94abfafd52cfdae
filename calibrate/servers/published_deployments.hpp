// SPDX-License-Identifier: Apache-2.0
//
// The disaggregated deployments that are published for a run: calibrate/conventions/disaggregated.yaml.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "calibrate/conventions/conventions.hpp"
#include "workloads/serving/deployment.hpp"

namespace roofcast::calibrate {

struct PublishedDeployment {
  bool speculates = false;  // multi-token prediction
  workloads::Pools pools;
  std::vector<std::int64_t> concurrencies;  // of the whole deployment
};

class PublishedDeployments {
 public:
  // Those of a stack, chip, model and lengths in a year, in the order of the file; none where nothing is published.
  const std::vector<PublishedDeployment>& of(const Facts& facts);

 private:
  Conventions conventions_{"disaggregated"};
  std::map<Settings, std::vector<PublishedDeployment>> known_;
};

}  // namespace roofcast::calibrate
