// SPDX-License-Identifier: Apache-2.0
//
// Scores of models in benchmarks, as published. They are data, one file a model of the catalog, and never
// computed.
//
//   reports:
//     - source: "gpt-oss model card, table 3 (arXiv 2508.10925)"
//       precision: mxfp4_experts           # what was evaluated: an id of the catalog of precisions
//       conditions: without tools
//       points:
//         - {benchmark: aime_2025, effort: low, score: 50.4}
//         - {benchmark: aime_2025, effort: high, score: 92.5, tokens: 21000}
//         - {benchmark: aime_2025, effort: low, samples: 64, select: vote, score: 71.0}
//
// A score holds for that model, precision, checkpoint, effort and number of samples and for no other. A
// scenario asks for a score in its section accuracy:
//
//   accuracy: {benchmark: aime_2025, effort: high}
//   accuracy: {benchmark: gpqa, measured_in: bf16}         # an assumption: used for every precision
//   accuracy: {curve: [{tokens: 2000, score: 50}, {tokens: 16000, score: 80}]}      # the user's own
//
// A curve is read at traffic.output_tokens. It is linear in the logarithm of the tokens and holds between its
// points only: budget-forced reasoning lengths. Of `samples` answers to a question one is selected: by a
// majority `vote`, or by a verifier that knows the right one. The second is the `coverage` (pass@k), the most
// that any verifier can reach.
#pragma once

#include <string>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"

namespace roofcast::workloads {

enum class Selection : std::uint8_t { unsaid, vote, coverage };

struct ScorePoint {
  std::string benchmark;
  // One of several with this architecture; empty: the one with the name of the model.
  std::string checkpoint;
  std::string effort;  // of reasoning, as its makers call it; empty: there is no choice
  std::int64_t samples = 1;
  Selection select = Selection::unsaid;  // how one of several samples is selected
  double score = 0.0;                    // percent
  double tokens = 0.0;                   // mean output tokens of a sample; 0 when not published
  std::string precision;
};

struct Scores {
  std::vector<ScorePoint> points;
};

// A point of a curve of the user.
struct CurvePoint {
  double tokens = 0.0;
  double score = 0.0;
  std::int64_t samples = 1;
};

// The section accuracy.
struct Accuracy {
  std::string benchmark;  // empty: the scenario asks for no score
  std::string checkpoint;
  std::string effort;
  std::int64_t samples = 1;
  Selection select = Selection::unsaid;  // unsaid matches any selection
  std::string measured_in;  // the precision of the scores to use; empty: that of the scenario
  double tokens = 0.0;      // output tokens of a sample, assumed where none are published; 0: none
  std::vector<CurvePoint> curve;  // sorted by tokens
};

void read(base::Fields& f, Scores& scores);
Scores read_scores(const base::Node& document);  // InputError with every problem
void read(base::Fields& f, Accuracy& accuracy);

base::Catalog score_catalog();

}  // namespace roofcast::workloads
