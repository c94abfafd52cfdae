// SPDX-License-Identifier: Apache-2.0
//
// The commands that start the servers of a deployment (cli/launch/servers.hpp). Ports, addresses and what a server of
// several nodes needs are left to the reader.
#pragma once

#include <string>

#include "sim/scenario/scenario.hpp"

namespace roofcast::cli {

// Lines of a shell, with comments. What has no command, such as another stack, is said in a comment.
std::string launch_commands(const sim::Scenario& scenario);

}  // namespace roofcast::cli
