// SPDX-License-Identifier: Apache-2.0
#include "cli/question/manifest_options.hpp"

#include <fmt/format.h>

#include "base/document/problems.hpp"
#include "base/document/text_file.hpp"
#include "cli/program/usage.hpp"
#include "cli/text/quoted.hpp"
#include "cli/text/scenario_text.hpp"

namespace roofcast::cli {

void add_manifest_options(Command& command, ManifestFile& manifest) {
  constexpr std::size_t kMostGpus = 1024;
  command
      .add_option("--kubernetes", manifest.file,
                  "write a manifest that starts the deployment to this file")
      ->written();
  command
      .add_option("--image", manifest.options.image,
                  "of --kubernetes: the image, with the serving stack")
      ->type_name(kText)
      ->capture_default_str()
      ->group("Output");
  command
      .add_option("--host-gpus", manifest.options.host_gpus,
                  "of --kubernetes: the GPUs of a node of the cluster")
      ->type_name(kNumber)
      ->within(std::size_t{1}, kMostGpus)
      ->capture_default_str()
      ->group("Output");
}

void check(const ManifestFile& manifest) {
  const ManifestOptions none;
  if (manifest.file.empty() &&
      (manifest.options.image != none.image || manifest.options.host_gpus != none.host_gpus)) {
    throw base::InputError("error: --image and --host-gpus are of --kubernetes\n");
  }
}

void write_manifest(const ManifestFile& manifest, const sim::Scenario& s,
                    std::string_view command) {
  if (manifest.file.empty()) {
    return;
  }
  ManifestOptions options = manifest.options;
  options.head = comment_line(title(s)) +
                 comment_line(fmt::format(
                     "Written by roofcast {}. MODEL is a checkpoint in this precision.", command));
  base::write_text(manifest.file, kubernetes_manifest(s, options));
}

}  // namespace roofcast::cli
