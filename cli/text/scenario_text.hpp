// SPDX-License-Identifier: Apache-2.0
//
// A scenario on the command line: the document with overridden knobs, and its name in an answer.
#pragma once

#include <string>
#include <vector>

#include "base/document/node.hpp"
#include "base/document/problems.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::cli {

// Throws InputError. `set`: dotted path, =, value; applied shortest path first.
base::Node scenario_document(const std::string& file, const std::vector<std::string>& set);

// A problem for each two of these settings, "path=value" by the name of their option, that are of one knob: none of them is
// the right one.
void refuse_two_of_one_knob(const std::vector<base::Source>& settings, base::Problems& problems);
// As the option --set says them.
std::vector<base::Source> set_options(const std::vector<std::string>& set);

// Changes knobs of a document in that order.
void set_knobs(base::Node& document, const std::vector<std::string>& set, base::Problems& problems);

// Sets as_if_unmeasured of the systems that the document names: "chip" or "architecture"; empty: nothing. Throws
// InputError.
void set_as_if_unmeasured(base::Node& document, const std::string& unmeasured);

// "Llama 3.1 70B on HGX H200 · fp8 · TP8 PP1 EP1 DP1 · vLLM"
std::string title(const sim::Scenario& scenario);

// "2048 tokens in (1024 of them cached), 512 out, concurrency 64", or the batches of a training step.
std::string load_text(const sim::Scenario& scenario);

}  // namespace roofcast::cli
