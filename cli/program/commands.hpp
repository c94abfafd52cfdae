// SPDX-License-Identifier: Apache-2.0
//
// The commands of roofcast, one file each. add_x declares the command's options on the application
// and stores in `chosen` what to run when the user picked it; it returns the exit code. Its footer
// is examples (cli/program/usage.hpp), which a test runs.
#pragma once

#include <functional>
#include <memory>

#include "cli/text/exit_code.hpp"

namespace CLI {
class App;
}

namespace roofcast::cli {

using Run = std::function<int()>;

void add_list(CLI::App& app, Run& chosen);
void add_show(CLI::App& app, Run& chosen);
void add_check(CLI::App& app, Run& chosen);
void add_estimate(CLI::App& app, Run& chosen);
void add_simulate(CLI::App& app, Run& chosen);
void add_sweep(CLI::App& app, Run& chosen);
void add_solve(CLI::App& app, Run& chosen);
void add_sensitivity(CLI::App& app, Run& chosen);
void add_pareto(CLI::App& app, Run& chosen);
void add_compare(CLI::App& app, Run& chosen);
void add_brief(CLI::App& app, Run& chosen);
void add_report(CLI::App& app, Run& chosen);
void add_calibrate(CLI::App& app, Run& chosen);
void add_claims(CLI::App& calibrate, Run& chosen);  // of calibrate
void add_schema(CLI::App& app, Run& chosen);
void add_completion(CLI::App& app, Run& chosen);
void add_man(CLI::App& app, Run& chosen);

// Every command, declared; `chosen` outlives it.
std::unique_ptr<CLI::App> make_program(Run& chosen);

// The whole program: parses, runs, turns exceptions into messages on stderr and an exit code.
int run(int argc, char** argv);

}  // namespace roofcast::cli
