// SPDX-License-Identifier: Apache-2.0
#include "cli/program/commands.hpp"

int main(int argc, char** argv) { return roofcast::cli::run(argc, argv); }
