// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>
#include <vector>

#include "base/document/problems.hpp"
#include "base/document/standard_streams.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/parts_folder.hpp"
#include "cli/sweep/finished_sweep.hpp"
#include "cli/tables/result_csv.hpp"
#include "sim/decide/sweep.hpp"
#include "sim/decide/sweep_run.hpp"

namespace roofcast::cli {
namespace {

struct MergeOptions {
  std::vector<std::string> folders;
  SweepOutputs outputs;
  bool no_replay = false;
};

// What is read is not written.
void refuse_parts(const std::vector<std::filesystem::path>& folders, const SweepOutputs& outputs) {
  for (const std::string& file : {outputs.csv, outputs.report}) {
    if (file.empty() || base::is_standard_stream(file)) {
      continue;
    }
    const std::filesystem::path into = std::filesystem::absolute(file).parent_path();
    std::error_code error;
    for (const std::filesystem::path& folder : folders) {
      if (std::filesystem::equivalent(into, folder, error)) {
        throw base::InputError(
            fmt::format("error: {} is in a folder of parts, which are read\n", file));
      }
    }
  }
}

int run_merge(const MergeOptions& options) {
  SweepOutputs outputs = options.outputs;
  outputs.replay = !options.no_replay;
  std::vector<std::filesystem::path> folders(options.folders.begin(), options.folders.end());
  const PartsFolder first(folders.front());
  outputs.simulate = first.parts().simulates();
  for (const std::filesystem::path& folder : folders) {
    first.parts().check(folder);
  }
  refuse_parts(folders, outputs);
  base::CsvWriter csv = open_result(first.points(), first.text(), outputs);
  finish_parts(first.points(), {first.parts(), folders}, first.text(), outputs, csv);
  return kDone;
}

}  // namespace

void add_merge(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "merge",
      "Joins the shards of a sweep: CSV, front, report\n"
      "Folders are those that roofcast sweep --shard has filled, one that all machines share or "
      "one of each. They must be of one sweep, made by one version with one catalog, and together "
      "whole. The result is byte for byte that of the sweep without shards: the front is found "
      "over all rows, and what is recommended is replayed here.");
  auto options = std::make_shared<MergeOptions>();
  command->add_option("folders", options->folders, "folders of parts, OUT.csv.parts")
      ->type_name(kFile)
      ->required();
  command
      ->add_option("--csv", options->outputs.csv,
                   "write the rows to this file; compressed if it ends in .gz or .zst")
      ->written()
      ->required();
  command->add_option("--report", options->outputs.report, "write a self-contained HTML report")
      ->written();
  command->add_flag("--no-replay", options->no_replay, "replay nothing: rows are estimated only");
  command->add_json(options->outputs.json);
  command
      ->add_flag("--made-by", options->outputs.made_by,
                 "write a last column, made_by: the id of what made the rows, which "
                 "OUT.provenance.json has too")
      ->group("Output");
  command->add_flag("--quiet", options->outputs.quiet, "print nothing")->group("Output");
  command->add_option("--threads", options->outputs.threads, "number of threads; 0: all cores")
      ->type_name(kNumber)
      ->within(std::size_t{0}, kMostThreads)
      ->capture_default_str();
  command->footer(examples({"roofcast show example llama-70b > llama-70b.yaml",
                            "roofcast show example llama70b_h200_hbm > hbm.yaml",
                            "roofcast sweep hbm.yaml --csv shards.csv --shard 1/2 --quiet",
                            "roofcast sweep hbm.yaml --csv shards.csv --shard 2/2 --quiet",
                            "roofcast merge shards.csv.parts --csv hbm.csv"}));
  command->callback([&chosen, options] { chosen = [options] { return run_merge(*options); }; });
}

}  // namespace roofcast::cli
