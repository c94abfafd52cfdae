// SPDX-License-Identifier: Apache-2.0
//
// How a measured server was run: what calibrate/conventions/servers.yaml sets for its row.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "calibrate/conventions/conventions.hpp"
#include "workloads/architecture/precision.hpp"
#include "workloads/serving/serving.hpp"
#include "workloads/traffic/lengths.hpp"

namespace roofcast::calibrate {

enum class Speculates : std::uint8_t { no, perhaps, yes };

// Each number of tokens between two shares of the nominal one.
struct LengthShares {
  double least = 1.0;
  double most = 1.0;

  workloads::Lengths of(std::int64_t nominal) const;
  std::int64_t mean(std::int64_t nominal) const;
};

// Tokens of an iteration: those of a prompt and those that decode, and some more, in units; at least so many.
struct IterationSettings {
  std::int64_t prompt = 0;  // at least
  std::int64_t more = 0;
  std::int64_t unit = 1;
  std::int64_t least = 0;
};

// Sequences of a rank: clients over a share, less some.
struct SequenceSettings {
  std::int64_t share = 0;  // 0: the ranks of attention
  std::int64_t less = 0;
};

// What is set of the run beside its scenario: `run.`
struct RunSettings {
  Speculates speculates = Speculates::no;
  LengthShares input;
  LengthShares output;
  bool cached_prompts = false;
  bool began_cold = false;
  std::optional<IterationSettings> iteration;
  std::optional<SequenceSettings> sequences;
  bool prompts_by_graph = false;
  std::int64_t prefill_iteration = 0;  // 0: the stack's
  std::int64_t requests = 10;          // of a client
};

struct ServerSettings {
  std::optional<workloads::Precision> precision;  // none: no rule knows it
  workloads::Serving serving;
  base::Node section;  // `serving:` of a scenario, without what `run.` sets
  RunSettings run;

  // The serving of a run of so many clients of a replica, whose attention is over so many ranks, and whose
  // longest prompt has so many tokens.
  workloads::Serving of(std::int64_t clients, std::int64_t attention_ranks,
                        std::int64_t longest_prompt) const;
};

class ServerConventions {
 public:
  // The same for runs of the same settings; owned here. A precision that no rule reads is an id of the catalog, if any.
  const ServerSettings& of(const std::string& stack, Facts facts);

 private:
  Conventions conventions_{"servers"};
  // By stack, precision that no rule reads, and what rules set.
  std::map<std::tuple<std::string, std::string, Settings>, ServerSettings> known_;
};

}  // namespace roofcast::calibrate
