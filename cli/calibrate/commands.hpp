// SPDX-License-Identifier: Apache-2.0
//
// The commands below `calibrate`.
#pragma once

#include "cli/program/commands.hpp"

namespace roofcast::cli {

void add_import(Command& calibrate, Run& chosen);
void add_fit(Command& calibrate, Run& chosen);
void add_parameters(Command& calibrate, Run& chosen);

}  // namespace roofcast::cli
