// SPDX-License-Identifier: Apache-2.0
//
// Which deployment of a budget of GPUs is best: the scan's best rows (sim/recommend/scan.hpp), replayed.
//
// Each system with one pool, and each with two, is a group. Its rows that meet the conditions are tried, of those that
// differ in clients alone the best one first, and more clients only where they make it better by 1 %. The next row is the
// one that promises most. It promises what the estimate says, but no more than
//
//   - a broken replay of the same deployment has reached with more clients
//   - until there is one: the best of the broken replays with equal attention DP, precision and stack have reached
//
// This ends when there are three answers and no row promises more than the third, or after kMostTries replays.
//
// A row that cannot be replayed is an answer only where a group has no other.
//
// A row that the replay breaks is out, and so are those of its deployment with more clients. Of the others, those with a
// few clients less are passed over, as far as the row is from its bounds, and the deployment still promises what they do.
// Once a row with fewer clients is confirmed, bisection finds the most clients that the replay confirms. It looks a quarter
// of an octave beyond what the estimate allows.
//
// A condition must hold by two standard errors of the replay. Answers are ranked by the objective as it was replayed. Of those
// that its standard error cannot tell apart the one with fewer GPUs is first, then that with more slack, then that with
// less TPOT.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "sim/confirm/replayed_rows.hpp"
#include "sim/recommend/scan.hpp"

namespace roofcast::sim {

inline constexpr std::size_t kWantedAnswers = 3;  // of a group, and to be shown
inline constexpr std::size_t kMostTries = 40;     // of a group

struct RankedRow {
  std::size_t scan = 0;
  std::size_t row = 0;
  Judgement judgement;
  ServingEstimate estimate;  // the replayed one where there is one
  double value = 0.0;        // of the objective, in it
  double error = 0.0;        // its standard error
};

struct Group {
  std::size_t scan = 0;
  std::size_t system = 0;
  std::vector<RankedRow> best;  // of unlike deployments, the best first
  std::size_t met = 0;          // rows that meet the conditions by the estimate
  std::size_t tries = 0;        // replays
  std::size_t broken = 0;       // of them
  std::string broken_note;      // of the first
  // Where there is no answer: the row that comes nearest by the estimate, unless none fits; then `reason` is that
  // of most rows.
  bool has_nearest = false;
  std::size_t nearest = 0;
  std::string reason;
};

struct Recommendation {
  std::vector<Scan> scans;
  std::vector<Group> groups;              // those with an answer first, by it
  std::vector<const RankedRow*> answers;  // of all groups, the best first
  std::size_t rows = 0;                   // that were estimated and are legal
  std::size_t replays = 0;

  bool found() const { return !answers.empty(); }
};

struct RecommendOptions {
  unsigned threads = 0;  // 0: all cores
  bool replay = true;    // else answers are estimated only
  ReplayProgress* progress = nullptr;
};

// Throws InputError. The same on any number of threads.
Recommendation recommend(const Question& question, const RecommendOptions& options);

}  // namespace roofcast::sim
