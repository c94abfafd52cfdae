// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/document/output_file.hpp"
#include "base/document/problems.hpp"
#include "base/document/standard_streams.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/file_hashes.hpp"
#include "cli/provenance/provenance.hpp"
#include "cli/provenance/version.hpp"
#include "cli/tables/say.hpp"
#include "cli/text/json_answer.hpp"

namespace roofcast::cli {
namespace {

namespace fs = std::filesystem;

struct ReproduceOptions {
  std::string file;
  bool quiet = false;
  bool json = false;
};

// A folder that is removed with what is in it.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "roofcast.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw base::InputError(fmt::format("error: cannot make a folder {}\n", name));
    }
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// What a command that runs again prints.
fs::path printed(const fs::path& folder) { return folder / "stdout"; }

// Runs a command in a process of its own, which writes below `folder` and nowhere else. Its stdin is what it was, if that
// was kept, else empty. Returns its exit code.
int run_again(const Provenance& made, const fs::path& folder) {
  std::fflush(nullptr);
  fs::path input = "/dev/null";
  if (made.standard_input) {
    input = folder / "stdin";
    std::ofstream(input, std::ios::binary) << *made.standard_input;
  }
  const pid_t child = fork();
  if (child == 0) {
    constexpr mode_t kOwn = 0600;
    dup2(open(input.c_str(), O_RDONLY), STDIN_FILENO);
    dup2(open(printed(folder).c_str(), O_WRONLY | O_CREAT, kOwn), STDOUT_FILENO);
    base::redirect_outputs(folder);
    std::vector<std::string> arguments = made.command;
    arguments.insert(arguments.begin(), "roofcast");
    std::vector<char*> argv;
    for (std::string& argument : arguments) {
      argv.push_back(argument.data());
    }
    const auto count = static_cast<int>(argv.size());
    argv.push_back(nullptr);
    const int code = run(count, argv.data());
    std::fflush(nullptr);
    _exit(code);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    throw base::InputError("error: cannot start roofcast again\n");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kBug;
}

// The catalog of the user that there was. Returns what differs from now, in a line; empty if nothing.
std::string restore_catalog(const Provenance& made) {
  constexpr const char* kVariable = "ROOFCAST_CATALOG";
  const std::string& then = made.user_catalog;
  const std::string& now = base::user_catalog_directory();
  std::error_code error;
  if (!then.empty() && !fs::is_directory(then, error)) {
    base::use_user_catalog(now.empty() ? now : fs::absolute(now).string());
    return fmt::format("{} was {}, which is not there\n", kVariable, then);
  }
  const bool is_same =
      then.empty() ? now.empty() : !now.empty() && fs::equivalent(then, now, error);
  base::use_user_catalog(then);
  return is_same        ? ""
         : then.empty() ? fmt::format("without {}, as then\n", kVariable)
                        : fmt::format("with {}={}, as then\n", kVariable, then);
}

bool same_bytes(const fs::path& a, const fs::path& b) {
  std::ifstream one(a, std::ios::binary);
  std::ifstream other(b, std::ios::binary);
  return one && other &&
         std::equal(std::istreambuf_iterator<char>(one), {}, std::istreambuf_iterator<char>(other),
                    {});
}

// Whether it is there and has the hash that was recorded.
bool is_as_recorded(const fs::path& file, const RecordedFile& recorded) {
  const std::vector<HashedFile> now = hashed({file});
  return !now.empty() && hexadecimal(now.front().hash) == recorded.hash;
}

// Inputs that are not what they were.
std::vector<std::string> changed_inputs(const Provenance& made) {
  std::vector<std::string> changed;
  for (const RecordedFile& input : made.inputs) {
    if (!is_as_recorded(input.path, input)) {
      changed.push_back(input.path.string());
    }
  }
  return changed;
}

struct Output {
  RecordedFile recorded;
  fs::path file;  // that is judged
};

// What was written, and the file that is judged as it: `given`, what lies beside it under the name that was recorded, or
// else what lies where it was written.
std::vector<Output> outputs_of(const Provenance& made, const fs::path& given) {
  if (!made.file.empty()) {  // it is a part of the file
    return {{{made.file, ""}, given}};
  }
  std::vector<Output> outputs;
  const auto is_given = [&](const RecordedFile& output) {
    return output.path.filename() == given.filename();
  };
  const auto is_alike = [&](const RecordedFile& output) {
    return output.path.extension() == given.extension();
  };
  const bool is_provenance = given.extension() == ".json";
  auto as = made.outputs.end();
  if (!is_provenance) {
    as = std::find_if(made.outputs.begin(), made.outputs.end(), is_given);
    as = as != made.outputs.end()
             ? as
             : std::find_if(made.outputs.begin(), made.outputs.end(), is_alike);
  }
  if (made.outputs.empty() || (!is_provenance && as == made.outputs.end())) {
    throw base::InputError(
        fmt::format("error: {} is none of the files that its provenance names\n", given.string()));
  }
  for (auto output = made.outputs.begin(); output != made.outputs.end(); ++output) {
    std::error_code error;
    const fs::path beside = given.parent_path() / output->path.filename();
    outputs.push_back({*output, output == as                ? given
                                : fs::exists(beside, error) ? beside
                                                            : output->path});
  }
  return outputs;
}

// How a file relates to what was recorded of it, and to what is made now.
std::string verdict(const Output& output, const fs::path& now) {
  if (same_bytes(output.file, now)) {
    return "the same bytes";
  }
  std::error_code error;
  const bool is_there = fs::exists(output.file, error);
  if (is_there && (output.recorded.hash.empty() || is_as_recorded(output.file, output.recorded))) {
    return "other bytes than now";
  }
  return fmt::format("{}; {}", is_there ? "it was changed after it was made" : "it is not there",
                     is_as_recorded(now, output.recorded)
                         ? "what is made now is what was made then"
                         : "what is made now has other bytes than what was made then");
}

// A page of `report` has the provenance of its own: that beside it may be of the CSV alone.
bool names_a_page(const Provenance& made) {
  return std::any_of(made.outputs.begin(), made.outputs.end(),
                     [](const RecordedFile& output) { return output.path.extension() == ".html"; });
}

int run_reproduce(const ReproduceOptions& options) {
  const fs::path given = fs::absolute(options.file);
  const fs::path beside = provenance_beside(given);
  std::error_code error;
  const bool is_own = given.extension() == ".json" ||
                      (given.extension() == ".html" &&
                       !(fs::exists(beside, error) && names_a_page(read_provenance(beside))));
  const fs::path file = is_own ? given : beside;
  if (!fs::exists(file, error)) {
    throw base::InputError(
        fmt::format("error: there is no {}; a CSV has one beside it\n",
                    (fs::path(options.file).parent_path() / file.filename()).string()));
  }
  if (base::outputs_are_redirected()) {
    throw base::InputError("error: reproduce does not run reproduce\n");
  }
  const Provenance made = read_provenance(file);
  const auto print = [&](const std::string& text) {
    if (!options.json) {
      say("{}", text);
    }
  };
  if (made.version != version()) {
    print(fmt::format("made by version {}; this is {}\n", made.version, version()));
  }
  const Folder folder;
  const std::string catalog = restore_catalog(made);
  if (!made.directory.empty()) {
    fs::current_path(made.directory, error);  // relative inputs start there; else here
  }
  const std::vector<Output> outputs = outputs_of(made, given);
  const std::vector<std::string> changed = changed_inputs(made);
  if (!options.quiet) {
    print(fmt::format("roofcast {}\n", fmt::join(made.command, " ")));
  }
  const std::string foreign = given == file ? "" : foreign_provenance(given);
  print(foreign);
  print(catalog);
  for (const std::string& input : changed) {
    print(fmt::format("{} has changed since\n", input));
  }
  if (const int code = run_again(made, folder.path()); code != kDone && code != kInfeasible) {
    const bool read_stdin =
        !made.standard_input &&
        std::find(made.command.begin(), made.command.end(), "-") != made.command.end();
    fmt::print(stderr, "error: the command ended with {}{}\n", code,
               read_stdin ? ": what it read from stdin is not kept" : "");
    return kBadInput;
  }
  bool same = true;
  nlohmann::ordered_json json = {{"made_by", made.version},
                                 {"made_with", made.command},
                                 {"changed_inputs", changed},
                                 {"catalog", catalog},
                                 {"foreign_provenance", foreign}};
  for (const Output& output : outputs) {
    const fs::path now =
        base::is_standard_stream(output.recorded.path)
            ? printed(folder.path())
            : folder.path() / fs::absolute(output.recorded.path).lexically_normal().relative_path();
    const std::string said = verdict(output, now);
    const bool equal = same_bytes(output.file, now);
    same = same && equal;
    const std::string difference =
        equal ? "" : difference_of_makers(file, made.file.empty() ? provenance_beside(now) : now);
    const std::string name = output.file.filename().string();
    print(fmt::format("{}: {}\n{}", name, said, difference));
    json["files"].push_back({{"file", name},
                             {"same_bytes", equal},
                             {"verdict", said},
                             {"difference_of_makers", difference}});
  }
  if (options.json) {
    json["same_bytes"] = same;
    print_json(json);
  }
  return same ? kDone : kInfeasible;
}

}  // namespace

void add_reproduce(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "reproduce",
      "Runs the command of a result again, and says whether it gives the same bytes\n"
      "Each CSV has a file beside it, OUT.provenance.json: the version, the command, and every "
      "catalog entry and file that it read, with hashes. Pages and JSON answers have it within. "
      "The file that is named is compared. "
      "Nothing "
      "is written over. Exit code 3: the bytes differ; it says whether the file was changed, and "
      "which inputs and entries of the catalog were.");
  auto options = std::make_shared<ReproduceOptions>();
  command
      ->add_option("result", options->file,
                   "a CSV of roofcast or its OUT.provenance.json, an HTML page, or a "
                   "JSON answer")
      ->type_name(kFile)
      ->required();
  command->add_json(options->json);
  command->add_flag("--quiet", options->quiet, "do not print the command")->group("Output");
  command->footer(examples(
      {"roofcast show example llama-70b > llama-70b.yaml",
       "roofcast simulate llama-70b.yaml --csv requests.csv", "roofcast reproduce requests.csv",
       "roofcast estimate llama-70b.yaml --json > answer.json", "roofcast reproduce answer.json"}));
  command->callback([&chosen, options] { chosen = [options] { return run_reproduce(*options); }; });
}

}  // namespace roofcast::cli
