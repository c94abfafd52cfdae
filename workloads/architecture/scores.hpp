// SPDX-License-Identifier: Apache-2.0
//
// What models score in benchmarks, as published: data, one file a model of the catalog, never computed.
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
// A score holds for that model, precision, checkpoint, effort and number of samples and for no other. What a
// scenario asks for is its section accuracy:
//
//   accuracy: {benchmark: aime_2025, effort: high}
//   accuracy: {benchmark: gpqa, measured_in: bf16}         # an assumption: taken for every precision
//   accuracy: {curve: [{tokens: 2000, score: 50}, {tokens: 16000, score: 80}]}      # one's own
//
// A curve is read at traffic.output_tokens, linear in the logarithm of the tokens, between its points only:
// budget-forced reasoning lengths. Of `samples` answers to a question one is selected: by a majority `vote`, or by
// somebody who knows the right one, which is the `coverage` (pass@k) that a verifier can reach at most.
#pragma once

#include <string>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"

namespace roofcast::workloads {

enum class Selection : std::uint8_t { unsaid, vote, coverage };

struct ScorePoint {
  std::string benchmark;
  std::string
      checkpoint;      // of several with one architecture; empty: the one the model is named after
  std::string effort;  // of reasoning, as its makers call it; empty: there is no choice
  std::int64_t samples = 1;
  Selection select = Selection::unsaid;  // of several samples
  double score = 0.0;                    // percent
  double tokens = 0.0;                   // mean output tokens of a sample; 0 when not published
  std::string precision;
};

struct Scores {
  std::vector<ScorePoint> points;
};

// Of a curve of the user's own.
struct CurvePoint {
  double tokens = 0.0;
  double score = 0.0;
  std::int64_t samples = 1;
};

// The section accuracy.
struct Accuracy {
  std::string benchmark;  // empty: nothing is asked
  std::string checkpoint;
  std::string effort;
  std::int64_t samples = 1;
  Selection select = Selection::unsaid;  // matches any
  std::string measured_in;  // a precision whose scores are taken for any; empty: the scenario's
  double tokens = 0.0;      // output tokens of a sample, assumed where none are published; 0: none
  std::vector<CurvePoint> curve;  // by tokens
};

void read(base::Fields& f, Scores& scores);
void read(base::Fields& f, Accuracy& accuracy);

base::Catalog score_catalog();

}  // namespace roofcast::workloads
