// SPDX-License-Identifier: Apache-2.0
//
// A scenario from options and from what a log says of the run that it measured, where there is no scenario file.
#pragma once

#include <string>
#include <vector>

#include "base/document/node.hpp"
#include "calibrate/logs/serving_log.hpp"
#include "cli/question/scenario_options.hpp"

namespace roofcast::cli {

// `log`: of a server. `from_log` gets what no option says: "model gpt-oss-120b". Options win over it. Throws InputError that names every option without which nothing can be said:
// what a log does not tell is never guessed but for the precision and the serving stack, with a note on stderr.
base::Node logged_scenario(const ScenarioOptions& options, const calibrate::ServingLog& log,
                           std::vector<std::string>& from_log);

// The same of a log that tells nothing of the model and its load: a profile, whose file is `log`.
base::Node profiled_scenario(const ScenarioOptions& options, const std::string& log);

// Of collectives, to which only the system matters.
base::Node collectives_scenario(const ScenarioOptions& options, const std::string& log);

}  // namespace roofcast::cli
