// SPDX-License-Identifier: Apache-2.0
//
// The commands of roofcast, one file each. add_x declares the command's options on the application
// and stores in `chosen` what to run when the user picked it; it returns the exit code. Its footer
// is examples (cli/program/usage.hpp), which a test runs.
#pragma once

#include <functional>
#include <memory>

#include "cli/program/command.hpp"
#include "cli/text/exit_code.hpp"

namespace CLI {
class App;
}

namespace roofcast::cli {

using Run = std::function<int()>;

void add_list(Command& app, Run& chosen);
void add_explain(Command& app, Run& chosen);
void add_show(Command& app, Run& chosen);
void add_check(Command& app, Run& chosen);
void add_init(Command& app, Run& chosen);
void add_estimate(Command& app, Run& chosen);
void add_simulate(Command& app, Run& chosen);
void add_sweep(Command& app, Run& chosen);
void add_merge(Command& app, Run& chosen);
void add_submit(Command& app, Run& chosen);
void add_solve(Command& app, Run& chosen);
void add_recommend(Command& app, Run& chosen);
void add_kernel(Command& app, Run& chosen);
void add_collective(Command& app, Run& chosen);
void add_sensitivity(Command& app, Run& chosen);
void add_pareto(Command& app, Run& chosen);
void add_reproduce(Command& app, Run& chosen);
void add_compare(Command& app, Run& chosen);
void add_pack(Command& app, Run& chosen);
void add_scale(Command& app, Run& chosen);
void add_blast_radius(Command& app, Run& chosen);
void add_brief(Command& app, Run& chosen);
void add_report(Command& app, Run& chosen);
void add_calibrate(Command& app, Run& chosen);
void add_claims(Command& calibrate, Run& chosen);  // of calibrate
void add_schema(Command& app, Run& chosen);
void add_completion(Command& app, Run& chosen);
void add_man(Command& app, Run& chosen);
void add_help(Command& app, Run& chosen);

// Every command, declared; `chosen` outlives it.
std::unique_ptr<CLI::App> make_program(Run& chosen);

// The whole program: parses, runs, turns exceptions into messages on stderr and an exit code.
int run(int argc, char** argv);

}  // namespace roofcast::cli
