// SPDX-License-Identifier: Apache-2.0
//
// Options that write a Kubernetes manifest of a deployment (cli/launch/kubernetes.hpp). recommend and estimate have them.
#pragma once

#include <string>
#include <string_view>

#include "cli/launch/kubernetes.hpp"
#include "cli/program/command.hpp"

namespace roofcast::cli {

struct ManifestFile {
  std::string file;  // empty: none is written
  ManifestOptions options;
};

void add_manifest_options(Command& command, ManifestFile& manifest);

// Throws InputError where an option of the manifest is given and no manifest is asked for.
void check(const ManifestFile& manifest);

// Where --kubernetes names a file. `command`: who asks. Throws InputError.
void write_manifest(const ManifestFile& manifest, const sim::Scenario& scenario,
                    std::string_view command);

}  // namespace roofcast::cli
