// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <nlohmann/json.hpp>

#include "base/document/text_file.hpp"
#include "cli/kernels/kernel_answer.hpp"
#include "cli/kernels/kernel_page.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/tables/say.hpp"
#include "cli/text/json_answer.hpp"

namespace roofcast::cli {
namespace {

struct KernelOptions {
  KernelQuestion question;
  std::deque<std::string> values;  // of the dimensions of the kind, in their order
  std::deque<bool> flags;
  bool json = false;
  std::string csv;
  std::string report;
};

int run_kernel(const KernelOptions& options) {
  KernelQuestion question = options.question;
  for (std::size_t i = 0; i < question.kind->dimensions.size(); ++i) {
    const Dimension& d = question.kind->dimensions[i];
    if (d.unit == Unit::flag ? options.flags[i] : !options.values[i].empty()) {
      question.shape[d.name] = d.unit == Unit::flag ? "yes" : options.values[i];
    }
  }
  note_asked();
  const KernelCurve curve = kernel_curve(question);
  if (!options.csv.empty()) {
    write_kernel_csv(question, curve, options.csv);
  }
  if (!options.report.empty()) {
    base::write_text(options.report,
                     html(kernel_page(question, curve), provenance_element(options.report)));
  }
  if (options.json) {
    print_json(kernel_json(question, curve));
  } else {
    say("{}", kernel_text(question, curve));
  }
  return kDone;
}

void add_dimensions(Command& command, KernelOptions& options) {
  for (const Dimension& d : options.question.kind->dimensions) {
    std::string& value = options.values.emplace_back();
    bool& flag = options.flags.emplace_back(false);
    if (d.unit == Unit::flag) {
      command.add_flag("--" + d.name, flag, d.meaning)->group("Shape");
      continue;
    }
    const std::string preset = d.preset.empty()            ? ""
                               : d.preset.starts_with('=') ? " [--" + d.preset.substr(1) + "]"
                                                           : " [" + d.preset + "]";
    Argument* option = command.add_option("--" + d.name, value, d.meaning + preset)->group("Shape");
    if (d.unit == Unit::format) {
      option->one_of(choices_of(d));
    } else {
      option->type_name(d.unit == Unit::bytes ? kText : kNumber);
    }
  }
}

// "ring-ll, ring-ll128, …": what --algorithm takes; each system, stack and kind of collective has some of them.
std::string algorithms_text() {
  std::vector<std::string> names;
  for (int i = 1; i < models::kAlgorithms; ++i) {
    std::string name(models::name(static_cast<models::Algorithm>(i)));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
      return c == ' ' ? '-' : static_cast<char>(std::tolower(c));
    });
    names.push_back(std::move(name));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// A command for each kind below `name`.
void add_kinds(Command& app, Run& chosen, const std::string& name, const std::string& description,
               const std::vector<KernelKind>& kinds, bool sends) {
  auto* all = app.add_subcommand(name, description);
  all->require_subcommand();
  for (const KernelKind& kind : kinds) {
    const auto options = std::make_shared<KernelOptions>();
    options->question.kind = &kind;
    auto* command = all->add_subcommand(kind.name, kind.summary);
    add_dimensions(*command, *options);
    PlatformNames& on = options->question.platform;
    if (!sends) {
      command->add_option("--chip", on.chip, "the chip: an id or a file")
          ->type_name(kChip)
          ->group("Hardware");
    }
    command->add_option("--system", on.system, "the system: an id or a file")
        ->type_name(kSystem)
        ->group("Hardware");
    command->add_option("--stack", on.stack, "the serving stack, whose kernels these are")
        ->type_name(kStack)
        ->capture_default_str()
        ->group("Hardware");
    command
        ->add_option("--set", on.set, "change a knob of the system: system.chip.hbm.bandwidth=x1.5")
        ->type_name(kKnobValue)
        ->take_all()
        ->group("Hardware");
    if (sends) {
      command
          ->add_option("--algorithm", options->question.choices.algorithm,
                       "force an algorithm, or the fastest of a kind (ring, tree, direct): " +
                           algorithms_text())
          ->type_name(kText);
    }
    if (kind.sends) {
      command
          ->add_option("--protocol", options->question.choices.protocol,
                       "force a protocol of the library: LL, LL128 or Simple")
          ->type_name(kText);
    }
    if (kind.tiles) {
      command
          ->add_option("--tile", options->question.choices.tile,
                       "force a tile, ROWSxCOLUMNS; of gemm also with the depth in parts, "
                       "ROWSxCOLUMNSxPARTS")
          ->type_name(kText);
    }
    command->add_flag("--eager", options->question.choices.eager,
                      "the host launches it, without a CUDA graph");
    command
        ->add_option("--vary", options->question.vary,
                     fmt::format("a curve: a dimension, {}system, stack, {} or a knob, = and its "
                                 "values a,b,c; or a range: A..B doubles from A, A..B+STEP adds. "
                                 "Twice: every value with every other",
                                 sends ? "" : "chip, ", sends ? "algorithm, protocol" : "tile"))
        ->type_name(kText)
        ->take_all();
    command->add_json(options->json);
    command->add_option("--csv", options->csv, "also write rows as CSV")->written();
    command
        ->add_option("--report", options->report,
                     "also write a page with a roofline, waves and the table")
        ->written();
    command->footer(
        examples({fmt::format("roofcast {} {} {} {}", name, kind.name, kind.example,
                              sends ? "--system hgx_h100" : "--chip h100_sxm"),
                  fmt::format("roofcast {} {} {} --json --vary {}", name, kind.name, kind.example,
                              sends ? "system=hgx_h100,hgx_h200" : "chip=h100_sxm,b200_sxm")}));
    command->callback([&chosen, options] { chosen = [options] { return run_kernel(*options); }; });
  }
}

}  // namespace

void add_kernel(Command& app, Run& chosen) {
  add_kinds(app, chosen, "kernel",
            "Explains one kernel: time, tile, waves, bytes in flight, roofs\n"
            "The time is the one that an estimate uses for the same operator. It is cut into parts "
            "that each have a cause, and the cause with the greatest share is what limits the "
            "kernel. docs/kernels.md explains ten kernels.",
            kernel_kinds(), false);
}

void add_collective(Command& app, Run& chosen) {
  add_kinds(app, chosen, "collective",
            "Explains one collective: time, algorithms, busbw, hops\n"
            "Every algorithm and protocol that the library or the stack has for it is timed; the "
            "fastest is taken, or the one that --algorithm names.",
            collective_kinds(), true);
}

}  // namespace roofcast::cli
