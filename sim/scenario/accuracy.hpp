// SPDX-License-Identifier: Apache-2.0
//
// The section `accuracy:` of a scenario, and the published scores of the catalog that it may name.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/document/node.hpp"
#include "base/document/problems.hpp"
#include "workloads/architecture/architecture.hpp"
#include "workloads/architecture/precision.hpp"
#include "workloads/architecture/scores.hpp"

namespace roofcast::sim {

struct ScoredModel {
  workloads::Architecture model;  // as the catalog has it
  std::vector<workloads::ScorePoint> points;
};

struct ScoreBook {
  std::map<std::string, ScoredModel, std::less<>> models;
  std::map<std::string, workloads::Precision, std::less<>> precisions;
  std::set<std::string> benchmarks;
};

// Every score of the catalog, loaded once; throws InputError.
const ScoreBook& score_book();

// The section may be absent; a benchmark that nobody has a score of is a problem.
workloads::Accuracy read_accuracy(const base::Node& document, base::Problems& problems);

}  // namespace roofcast::sim
