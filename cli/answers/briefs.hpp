// SPDX-License-Identifier: Apache-2.0
//
// The work behind `brief`: the page about a document that is in memory.
#pragma once

#include <string>

#include "base/document/node.hpp"
#include "cli/pages/brief.hpp"

namespace roofcast::cli {

struct BriefQuestion {
  std::string name;    // of the document, for messages
  std::string metric;  // that decides; empty: the usual one
  std::string output;  // of the page, beside which the rows go that it cites; empty: no rows
  bool no_replay = false;
  bool quiet = false;  // shows no progress
};

// Of a roadmap, a sweep or a scenario. Throws InputError.
Brief brief(const base::Node& document, const BriefQuestion& question);

}  // namespace roofcast::cli
