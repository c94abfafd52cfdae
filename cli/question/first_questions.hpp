// SPDX-License-Identifier: Apache-2.0
//
// The five questions of `roofcast init`, and the scenario that their answers make.
#pragma once

#include <iosfwd>
#include <string>

#include "base/document/node.hpp"
#include "cli/question/scenario_options.hpp"

namespace roofcast::cli {

struct FirstAnswers {
  ScenarioOptions said;
  std::string find;  // a name of kFindable
};

struct Findable {
  const char* name;
  const char* what;
};
inline constexpr Findable kFindable[] = {
    {"speed", "how fast it is, what it costs and what limits it"},
    {"clients", "how many clients it carries within the limits"},
    {"deployment", "the best deployment of these GPUs"},
    {"limits", "what one more percent of each resource buys"},
    {"requests", "tails and queues, request by request"}};

// Asks for what is not said yet, again after an answer that cannot be. Throws InputError at the end of the input.
void ask(std::istream& in, std::ostream& out, FirstAnswers& answers);

// What must be said and is not, as options: "--model, --input".
std::string missing_options(const FirstAnswers& answers);

// The command that finds the answer in this file.
std::string next_command(const FirstAnswers& answers, const std::string& file);

// The scenario as YAML, with a comment on each section. Throws InputError.
std::string commented_scenario(const FirstAnswers& answers, const std::string& next);

}  // namespace roofcast::cli
