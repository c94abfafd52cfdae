// SPDX-License-Identifier: Apache-2.0
#include "cli/program/commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/csv/csv.hpp"
#include "base/document/notes.hpp"
#include "base/document/output_file.hpp"
#include "base/document/problems.hpp"
#include "base/document/standard_streams.hpp"
#include "base/nearest.hpp"
#include "cli/catalog/catalogs.hpp"
#include "cli/program/interrupt.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/provenance/provenance.hpp"
#include "cli/provenance/sweep_parts.hpp"
#include "cli/provenance/unfinished_sweep.hpp"
#include "cli/provenance/version.hpp"
#include "cli/tables/say.hpp"
#include "cli/tables/terminal.hpp"

namespace roofcast::cli {
namespace {

constexpr const char* kSurroundings =
    "\n\n"
    "Exit status:\n"
    "  0  done\n"
    "  1  an error in roofcast itself\n"
    "  2  bad input or usage; stderr says where and what\n"
    "  3  with --strict: the scenario does not fit, nothing meets the conditions, or\n"
    "     a comparison found a loss. With simulate --breach: the alarm. With\n"
    "     reproduce: other bytes\n"
    "\n"
    "Environment:\n"
    "  ROOFCAST_CATALOG  a directory with folders chips/, systems/, models/, ...\n"
    "                    Their files <id>.yaml are added to the built-in catalog. An\n"
    "                    entry with the same id as a built-in one replaces it.\n"
    "  ROOFCAST_DATA     the directory of measured tables that `calibrate` reads\n"
    "                    where none is named, in place of the shipped ones\n"
    "  NO_COLOR          any value: no colour, unless --color always\n"
    "\n"
    "Files:\n"
    "  -               as a file that is read: stdin. As one that is written: stdout,\n"
    "                  and nothing else goes there.\n"
    "  OUT.sweep.yaml  the sweep that made OUT.csv, base included. It is written\n"
    "                  beside OUT.csv, and `roofcast report OUT.csv` reads it.\n"
    "  Nothing that exists is replaced without --force, and an input never is.";

class Help : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* command, std::string, CLI::AppFormatMode) const override {
    return help(*command);
  }
};

// Of the command line that the process runs.
bool replaces_files = false;
struct TerminalOptions {
  std::string color = "auto";
  std::size_t width = 0;
};
TerminalOptions terminal_options;

// Options that name files that the command writes.
std::vector<const CLI::Option*> written_files(const CLI::App& command) {
  std::vector<const CLI::Option*> written;
  for (const CLI::Option* option : command.get_options()) {
    if (is_written(*option)) {
      written.push_back(option);
    }
  }
  return written;
}

// What was given, or else the default.
std::vector<std::string> values(const CLI::Option& option) {
  return !option.empty()                    ? option.results()
         : option.get_default_str().empty() ? std::vector<std::string>()
                                            : std::vector{option.get_default_str()};
}

constexpr std::size_t kNarrowest = 20;
constexpr std::size_t kWidest = 10000;

// Every command prints to the same terminal, and those that write files keep the ones that there are.
void add_shared_options(CLI::App& app) {
  for (CLI::App* each : app.get_subcommands({})) {
    add_shared_options(*each);
  }
  if (!app.get_subcommands({}).empty()) {
    return;
  }
  Command command(app);
  if (!written_files(app).empty()) {
    command.add_flag("--force", replaces_files, "replace files that are there")->group(kOutput);
  }
  command
      .add_option("--color", terminal_options.color,
                  "bold headers, and the best row of a table in green; auto: on a terminal, unless "
                  "NO_COLOR is set")
      ->one_of({"auto", "always", "never"})
      ->capture_default_str()
      ->group("Terminal");
  command
      .add_option("--columns", terminal_options.width,
                  "write the last columns of wider tables below each row; default: the terminal")
      ->type_name(kNumber)
      ->within(kNarrowest, kWidest)
      ->group("Terminal");
}

const CLI::App& chosen_command(const CLI::App& program) {
  const CLI::App* last = &program;
  while (last->get_subcommands().size() == 1) {
    last = last->get_subcommands().front();
  }
  return *last;
}

// Files of the chosen command that hold a table.
std::vector<std::string> tables(const CLI::App& program) {
  std::vector<std::string> files;
  for (const char* name : {"--csv", "--timeline"}) {
    const CLI::Option* option = chosen_command(program).get_option_no_throw(name);
    if (option != nullptr) {
      files.insert(files.end(), option->results().begin(), option->results().end());
    }
  }
  return files;
}

void check_tables(const CLI::App& program) {
  for (const std::string& file : tables(program)) {
    base::check_csv_name(file);
    if (!base::is_standard_stream(file)) {
      note_table(file);
    }
  }
}

// Before the work is done that the files are for.
void check_written_files(const CLI::App& program) {
  const CLI::App& command = chosen_command(program);
  const auto is_given = [&](const char* name) {
    const CLI::Option* option = command.get_option_no_throw(name);
    return option != nullptr && !option->empty();
  };
  if (is_given("--shard")) {  // it writes parts of the file
    for (const std::string& csv : tables(program)) {
      base::check_folder_of(csv);
    }
    return;
  }
  std::vector<std::filesystem::path> all;
  std::vector<std::filesystem::path> files;
  for (const CLI::Option* option : written_files(command)) {
    for (const std::string& file : values(*option)) {
      const bool is_stream = base::is_standard_stream(file);
      all.push_back(is_stream ? std::filesystem::path(file) : base::real_path(file));
      if (std::find(all.begin(), all.end() - 1, all.back()) != all.end() - 1) {
        throw base::InputError(fmt::format("error: {} is named twice\n", file));
      }
      if (!is_stream) {
        files.emplace_back(file);
      }
    }
  }
  const bool works_in_parts = command.get_option_no_throw("--resume") != nullptr;
  if (works_in_parts && (is_given("--resume") || is_given("--memory"))) {
    for (const std::string& csv : tables(program)) {
      allow_replacing_unfinished(parts_folder(csv), files);
    }
  }
  for (const std::filesystem::path& file : files) {
    base::check_output(file);
    check_provenance_beside(file);
    if (has_provenance(file)) {
      const std::filesystem::path beside = base::real_path(provenance_beside(file));
      if (std::find(all.begin(), all.end(), beside) != all.end()) {
        throw base::InputError(fmt::format("error: {} is written beside {}: choose another name\n",
                                           provenance_beside(file).string(), file.string()));
      }
    }
  }
}

// Whether a file that the chosen command writes is "-".
bool writes_standard_output(const CLI::App& program) {
  const auto files = written_files(chosen_command(program));
  return std::any_of(files.begin(), files.end(), [](const CLI::Option* option) {
    return option->results() == std::vector<std::string>{"-"};
  });
}

// "the option "--explian"; did you mean "--explain"?"
std::string unexpected(const CLI::App& command, const std::string& word) {
  const bool is_option = word.starts_with("-") && word.size() > 1;
  std::vector<std::string> names;
  for (const CLI::Option* option : options(command)) {
    for (const std::string& name : long_names(*option)) {
      names.push_back("--" + name);
    }
  }
  const auto near =
      is_option ? base::nearest_name(word.substr(0, word.find('=')), names) : std::nullopt;
  return fmt::format("{} takes no {} \"{}\"{}", full_name(command),
                     is_option ? "option" : "argument", word,
                     near ? fmt::format("; did you mean \"{}\"?", *near) : "");
}

// What the user gave may stand in it.
void complain(std::string_view text) {
  if (is_pipe_closed()) {
    return;  // the program ends by that, without words
  }
  tell("{}{}", text, text.empty() || text.ends_with('\n') ? "" : "\n");
}

// What CLI11 has no good words for: no command at all, one that there is not, and arguments too many.
int refuse(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* last = &chosen_command(app);
  if (subcommands(*last).empty() || last->remaining_size() == 0) {
    if (!subcommands(*last).empty() && error.get_name() == "RequiredError") {
      fmt::print(stderr, "{}", last->help());
      return kBadInput;
    }
    // A mistyped option comes before one that lacks: they may be the same.
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) ||
        (error.get_name() == "RequiredError" && last->remaining_size() > 0)) {
      const std::vector<std::string> extras = last->remaining();
      std::string problems;
      for (const std::string& word : extras) {
        // the value of an option that there is not is no mistake of its own
        if (problems.empty() || word.starts_with('-')) {
          problems += fmt::format("error: {}\n", unexpected(*last, word));
        }
      }
      complain(problems + "Run with --help for more information.\n");
      return kBadInput;
    }
    std::ostringstream said;
    const int code = app.exit(error, std::cout, said);
    complain(said.str());
    return code == 0 ? kDone : kBadInput;
  }
  const std::string wrong = last->remaining().front();
  complain(fmt::format(
      "error: {}\nRun with --help for more information.\n",
      wrong.starts_with('-') ? unexpected(*last, wrong) : unknown_command(*last, wrong)));
  return kBadInput;
}

}  // namespace

std::unique_ptr<CLI::App> make_program(Run& chosen) {
  auto program = std::make_unique<CLI::App>(
      "Forecasts speed, cost and size of AI workloads on GPU systems, built or not\n"
      "A scenario is a YAML file: system, model, precision, parallelism, traffic. roofcast can "
      "estimate it, simulate it, or sweep any of its figures. Each figure has a dotted path: "
      "system.chip.hbm.bandwidth is the memory bandwidth of the chip of the scenario's system. "
      "Every command has its own --help, with examples.",
      "roofcast");
  CLI::App& app = *program;
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "print this text");
  app.set_version_flag("-V,--version", "roofcast " + version(), "print the version");
  app.formatter(std::make_shared<Help>());
  Command root(app);
  for (const auto add :
       {add_list,     add_explain,    add_show,        add_check,  add_init,         add_estimate,
        add_simulate, add_sweep,      add_merge,       add_submit, add_solve,        add_recommend,
        add_kernel,   add_collective, add_sensitivity, add_scale,  add_blast_radius, add_compare,
        add_pareto,   add_pack,       add_brief,       add_report, add_reproduce,    add_calibrate,
        add_schema,   add_completion, add_man}) {
    add(root, chosen);
  }
  add_help(root, chosen);
  add_shared_options(app);
  // Last: commands inherit the footer that there is when they are added.
  app.footer(examples({"roofcast list systems", "roofcast show example llama-70b > llama-70b.yaml",
                       "roofcast estimate llama-70b.yaml --set system.chip.hbm.bandwidth=x1.5",
                       "roofcast show example llama70b_what_if > what_if.yaml",
                       "roofcast sweep what_if.yaml --csv out.csv --report out.html"}) +
             kSurroundings);
  return program;
}

namespace {

// What a command that fails would replace stays as it was. What is new stays too, and says what made it.
int run_with_provenance(const Run& chosen) {
  const base::OutputSet outputs;
  try {
    const int code = chosen();
    if (code == kDone || code == kInfeasible) {
      finish_outputs();
    }
    return code;
  } catch (...) {
    try {
      if (!base::OutputSet::replaces()) {
        finish_outputs();
      }
    } catch (const std::exception&) {  // the first failure is the one to tell
    }
    throw;
  }
}

int parse_and_run(int argc, char** argv) {
  Run chosen;
  std::unique_ptr<CLI::App> program;
  try {
    program = make_program(chosen);
    CLI::App& app = *program;
    app.parse(argc, argv);
    check_tables(app);
    if (!replaces_files) {
      base::refuse_replacing("--force replaces it");
    }
    check_written_files(app);
    if (writes_standard_output(app)) {
      base::keep_standard_output();
    }
    use_terminal(terminal_options.color, terminal_options.width);
    note_unread_entries();
    return run_with_provenance(chosen);
  } catch (const CLI::ParseError& error) {
    return refuse(*program, error);
  } catch (const base::InputError& error) {
    complain(error.what());
    return kBadInput;
  } catch (const std::system_error& error) {  // a full disk behind stdout, no memory for a thread
    complain(fmt::format("error: the system refuses: {}", error.what()));
    return kBadInput;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: there is not enough memory for so much\n");
    return kBadInput;
  } catch (const std::exception& error) {
    complain(fmt::format("roofcast: internal error, please report it: {}", error.what()));
    return kBug;
  }
}

}  // namespace

int run(int argc, char** argv) {
  base::open_closed_streams();
  base::protect_inputs();
  leave_nothing_unfinished();
  survive_failed_writes();
  note_command({argv + 1, argv + argc});
  int code = parse_and_run(argc, argv);
  errno = 0;
  if (code != kBadInput &&
      (!std::cout.flush() || std::fflush(stdout) != 0 || std::ferror(stdout) != 0)) {
    complain(
        fmt::format("error: cannot write the output: {}\n",
                    errno != 0 ? std::generic_category().message(errno) : "the stream failed"));
    code = kBadInput;
  }
  for (const std::string& note : base::take_notes()) {
    complain(note);
  }
  if (is_pipe_closed()) {
    end_by(SIGPIPE);
  }
  return code;
}

}  // namespace roofcast::cli
