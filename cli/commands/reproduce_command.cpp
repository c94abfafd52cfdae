// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/document/problems.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
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

// Runs this program with other arguments; stdout is thrown away. Returns its exit code.
int run_again(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  std::string self = "roofcast";
  argv.push_back(self.data());
  std::vector<std::string> copy = arguments;
  for (std::string& argument : copy) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error != 0 || waitpid(child, &status, 0) != child) {
    throw base::InputError("error: cannot start roofcast again\n");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kBug;
}

bool same_bytes(const fs::path& a, const fs::path& b) {
  std::ifstream one(a, std::ios::binary);
  std::ifstream other(b, std::ios::binary);
  return one && other &&
         std::equal(std::istreambuf_iterator<char>(one), {}, std::istreambuf_iterator<char>(other),
                    {});
}

int run_reproduce(const ReproduceOptions& options) {
  const fs::path given(options.file);
  const fs::path file = given.extension() == ".json" ? given : provenance_beside(given);
  if (std::error_code error; !fs::exists(file, error)) {
    throw base::InputError(
        fmt::format("error: there is no {}; a result has one beside it\n", file.string()));
  }
  const Provenance made = read_provenance(file);
  if (made.version != version() && !options.json) {
    say("made by version {}; this is {}\n", made.version, version());
  }
  const Folder folder;
  std::vector<std::pair<fs::path, fs::path>> files;  // as it was made, made again
  std::vector<std::string> arguments = made.command;
  std::error_code error;
  fs::current_path(made.directory, error);  // relative inputs start there; else here
  for (std::string& argument : arguments) {
    const std::size_t equals = argument.starts_with("--") ? argument.find('=') : std::string::npos;
    const std::size_t start = equals == std::string::npos ? 0 : equals + 1;
    const fs::path path = argument.substr(start);
    const bool is_output =
        std::any_of(made.outputs.begin(), made.outputs.end(), [&](const fs::path& output) {
          return !path.empty() &&
                 fs::weakly_canonical(output, error) == fs::weakly_canonical(path, error);
        });
    if (is_output) {
      files.emplace_back(fs::absolute(path), folder.path() / path.filename());
      argument = argument.substr(0, start) + files.back().second.string();
    }
  }
  if (files.empty()) {
    throw base::InputError(
        fmt::format("error: the command of {} names no file that it wrote\n", file.string()));
  }
  if (!options.quiet && !options.json) {
    say("roofcast {}\n", fmt::join(made.command, " "));
  }
  if (const int code = run_again(arguments); code != kDone && code != kInfeasible) {
    fmt::print(stderr, "error: the command ended with {}\n", code);
    return kBadInput;
  }
  bool same = true;
  nlohmann::ordered_json json = {{"made_by", made.version}, {"made_with", made.command}};
  for (const auto& [before, now] : files) {
    const bool equal = same_bytes(before, now);
    same = same && equal;
    const std::string difference = equal ? "" : difference_of_makers(before, now);
    if (options.json) {
      json["files"].push_back({{"file", before.filename().string()},
                               {"same_bytes", equal},
                               {"difference_of_makers", difference}});
      continue;
    }
    say("{}: {}\n", before.filename().string(), equal ? "the same bytes" : "other bytes than now");
    say("{}", difference);
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
      "catalog entry and file that it read, with hashes. Nothing is written over. Exit code 3: the "
      "bytes differ; it says which entries of the catalog do.");
  auto options = std::make_shared<ReproduceOptions>();
  command->add_option("result", options->file, "a CSV of roofcast, or its OUT.provenance.json")
      ->type_name(kFile)
      ->required();
  command->add_json(options->json);
  command->add_flag("--quiet", options->quiet, "do not print the command")->group("Output");
  command->footer(examples({"roofcast show example llama-70b > llama-70b.yaml",
                            "roofcast simulate llama-70b.yaml --csv requests.csv",
                            "roofcast reproduce requests.csv"}));
  command->callback([&chosen, options] { chosen = [options] { return run_reproduce(*options); }; });
}

}  // namespace roofcast::cli
