// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/document/problems.hpp"
#include "calibrate/imports/import.hpp"
#include "calibrate/operators/operator_rows.hpp"
#include "cli/calibrate/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/say.hpp"
#include "cli/tables/text_table.hpp"

namespace roofcast::cli {
namespace {

struct Options {
  std::vector<std::string> sources;
  std::string output;
  std::string format, kind, chip, stack, version;
  std::vector<std::string> map, fill, kernels;
  std::int64_t runs = 0;
  calibrate::Origin origin;
};

// "m=M,n=N"
calibrate::Pairs pairs(const std::vector<std::string>& lists, std::string_view option) {
  calibrate::Pairs all;
  for (const std::string& list : lists) {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      const std::string one = list.substr(begin, end - begin);
      const std::size_t equals = one.find('=');
      if (equals == std::string::npos || equals == 0 || equals + 1 == one.size()) {
        throw base::InputError(
            fmt::format("error: {} {}: expects COLUMN={}, for example {}\n", option, list,
                        option == "--map" ? "COLUMN" : "VALUE",
                        option == "--map" ? "m=rows,time_us=latency" : "gemm_dtype=bfloat16"));
      }
      all.emplace_back(one.substr(0, equals), one.substr(equals + 1));
      begin = end + 1;
    }
  }
  return all;
}

int import(const Options& options) {
  const calibrate::Imported imported = calibrate::import_rows(
      {options.sources.begin(), options.sources.end()},
      {options.format, options.kind, pairs(options.map, "--map"), pairs(options.fill, "--fill"),
       options.chip, options.stack, options.version, options.kernels, options.runs});
  const auto manifest = calibrate::write_imported(imported, options.output, options.origin);
  TextTable table({"source", "format", "rows", "kept"});
  for (const calibrate::ReadSource& source : imported.sources) {
    table.add({source.file, source.format, fmt::format("{}", source.rows),
               fmt::format("{}", source.kept)});
  }
  say("{}\n", table.text());
  if (!imported.refused.empty()) {
    TextTable refused({"left out, because", "rows"});
    for (const auto& [reason, count] : imported.refused) {
      refused.add({reason, fmt::format("{}", count)});
    }
    say("{}\n", refused.text());
  }
  std::vector<std::string> stacks;
  for (const auto& [stack, versions] : imported.versions) {
    stacks.push_back(versions.empty() ? stack
                                      : fmt::format("{} {}", stack, fmt::join(versions, ", ")));
  }
  say("{}: {} rows of {} on {}, {}\nmanifest: {}\n", options.output, imported.rows.size(),
      imported.kind, fmt::join(imported.chips, ", "), fmt::join(stacks, "; "), manifest.string());
  return kDone;
}

}  // namespace

void add_import(Command& calibrate, Run& chosen) {
  auto* command = calibrate.add_subcommand(
      "import",
      "Turns measurements of other tools into a table that `validate` and `fit` read\n"
      "Reads CSV of AIConfigurator's collector, what nccl-tests print, CSV of nsys stats "
      "(cuda_gpu_kern_sum, cuda_gpu_trace) and ncu, traces of the PyTorch profiler, tables of "
      "roofcast-bench, and any other CSV with --map. The content of a source tells its format. "
      "Writes the table and a manifest beside it. Rows that mean nothing are left out and counted "
      "by reason.");
  auto options = std::make_shared<Options>();
  command->add_option("sources", options->sources, "what was measured; several are joined")
      ->type_name(kFile)
      ->required();
  command->add_option("-o,--output", options->output, "the table: .csv, .csv.gz or .csv.zst")
      ->written()
      ->required();
  command->add_option("--format", options->format, "of all sources, whatever they look like")
      ->one_of(calibrate::import_formats());
  command->add_option("--kind", options->kind, "of the operators, where no column tells it")
      ->one_of(calibrate::operator_kinds());
  command->add_option("--chip", options->chip, "chip of all rows, an id or a name in known_as")
      ->type_name(kText);
  command->add_option("--stack", options->stack, "stack of all rows, an id or a name in known_as")
      ->type_name(kText);
  command->add_option("--version", options->version, "version of the stack")->type_name(kText);
  command
      ->add_option(
          "--map", options->map,
          "OURS=THEIRS, with commas between: columns of the source under our names; time_s, "
          "time_ms, time_us and time_ns are times")
      ->type_name(kText)
      ->take_all();
  command
      ->add_option(
          "--fill", options->fill,
          "COLUMN=VALUE, with commas between: cells of all rows, where a source has no such "
          "column")
      ->type_name(kText)
      ->take_all();
  command
      ->add_option("--kernel", options->kernels,
                   "a part of the name of a kernel in a profile that belongs to the operator")
      ->type_name(kText)
      ->take_all()
      ->group("Profiles");
  command->add_option("--runs", options->runs, "how often the operator ran in a profile")
      ->type_name(kNumber)
      ->group("Profiles");
  command->add_option("--source", options->origin.source, "a text: where the rows come from")
      ->type_name(kText)
      ->group("Manifest");
  command->add_option("--licence", options->origin.licence, "of the rows")
      ->type_name(kText)
      ->group("Manifest");
  command->add_option("--timer", options->origin.timer, "what the clock saw")
      ->type_name(kText)
      ->group("Manifest");
  command->footer(examples(
      {"roofcast calibrate import gemm.csv -o rows.csv --licence Apache-2.0",
       "roofcast calibrate import collector.txt -o collected.csv --chip h200_sxm",
       "roofcast calibrate import nccl_8.txt -o nccl.csv --chip h100_sxm --version 2.27.3",
       "roofcast calibrate import timings.csv -o timed.csv --chip h100_sxm --stack vllm --map "
       "m=M,n=N,k=K,time_us=latency --fill gemm_dtype=bfloat16",
       "roofcast calibrate import kernels.csv -o traced.csv --chip h100_sxm --stack vllm --kind "
       "gemm "
       "--kernel gemm --fill m=64,n=4096,k=1024,gemm_dtype=bfloat16"}));
  command->callback([&chosen, options] { chosen = [options] { return import(*options); }; });
}

}  // namespace roofcast::cli
