// SPDX-License-Identifier: Apache-2.0
//
// Options that say a scenario without YAML, or what differs from a file: model, system, GPUs, lengths, load.
// recommend, estimate, simulate and init have the same.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document/node.hpp"
#include "base/document/problems.hpp"
#include "cli/program/command.hpp"

namespace roofcast::cli {

inline constexpr std::int64_t kMostRecommended =
    1'000'000;  // GPUs that recommend takes, of a training

struct ScenarioOptions {
  std::string scenario;  // a file; empty: the options say everything
  std::string model;
  std::string system;  // of recommend a list, as are precision and stack
  std::string precision;
  std::string stack;
  std::int64_t gpus = 0;  // 0: not said
  std::string input;
  std::string output;
  std::string rate;
  std::string clients;
  std::string ttft;  // limits on the 95th percentile; empty: none
  std::string tpot;
  std::vector<std::string> set;
  std::string save;
  bool notes = true;  // on stderr, for what nobody said
};

// Declares those that describe a scenario: all but `scenario`, `set` and `save`. Returns --gpus.
enum class Lists { no, yes };
Argument* add_scenario_options(Command& command, ScenarioOptions& options, Lists lists);
void add_scenario_file(Command& command, ScenarioOptions& options);
void add_set_and_save(Command& command, ScenarioOptions& options, const std::string& saved);

// The document of the file, or an empty one. Throws InputError, also where neither a file nor the options say enough.
base::Node started_document(const ScenarioOptions& options);

// Writes what the options say of model and traffic. A load of another kind goes.
void set_model_and_traffic(base::Node& document, const ScenarioOptions& options,
                           base::Problems& problems);

// A problem for each knob that two of the options set. `lists`: those that recommend has as lists say no knob.
void refuse_two_of_one_knob(const ScenarioOptions& options, Lists lists, base::Problems& problems);

// Whether a document is of a training.
bool trains(const base::Node& document);
// A problem for each option, of (name, value), that is given: a training has no use for it.
void refuse_in_training(
    std::initializer_list<std::pair<std::string_view, std::string_view>> options,
    base::Problems& problems);
// The same for all of these options that are of serving, if the document trains; responses have a stack.
void refuse_serving_options(const base::Node& document, const ScenarioOptions& options,
                            base::Problems& problems);

// Whether the document says clients, arrivals or a trace, or the options do.
bool says_load(const base::Node& document);

// A whole scenario, of which no two options may set one knob. Prints a note on stderr for everything that nobody said, and saves the scenario if --save asks for
// it. `command`: who asks. Throws InputError.
base::Node described_scenario(const ScenarioOptions& options, std::string_view command);
// The same where options may have been filled in from a log, and --set wins.
base::Node scenario_as_filled_in(const ScenarioOptions& options, std::string_view command);

// Writes a scenario: `head` as comments, then the document. References that are paths lead on from the file that they
// were written in.
void save_scenario(const std::string& file, const std::vector<std::string>& head,
                   base::Node document);

}  // namespace roofcast::cli
