// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>

#include "base/document/catalog.hpp"
#include "base/document/notes.hpp"
#include "base/document/output_file.hpp"
#include "base/document/problems.hpp"
#include "base/document/standard_streams.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/sweep_parts.hpp"
#include "cli/sweep/finished_sweep.hpp"
#include "cli/sweep/shard_jobs.hpp"
#include "cli/tables/result_csv.hpp"
#include "cli/tables/say.hpp"
#include "cli/text/quoted.hpp"

namespace roofcast::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostShards = 10'000;

struct SubmitOptions {
  ShardJobs jobs;
  std::string program;
  bool slurm = false;
  bool commands = false;
  bool kubernetes = false;
  bool dry_run = false;
};

// The file that runs now: the tasks of this machine's cluster run the same.
std::string own_path() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  return error ? "roofcast" : path.string();
}

// The path from this folder to a file in it; empty where it is outside. Pods see the volume that has this folder.
fs::path from_here(const fs::path& file) {
  const fs::path path =
      fs::absolute(file).lexically_normal().lexically_relative(fs::current_path());
  return path.empty() || *path.begin() == ".." ? fs::path() : path;
}

std::string in_volume(const std::string& file) {
  const fs::path path = from_here(file);
  if (path.empty()) {
    throw base::InputError(
        fmt::format("error: {} is outside this folder, and the pods see the volume of this folder "
                    "alone: submit from a folder that has it\n",
                    file));
  }
  return path.string();
}

// The pods read the same files, by the same names.
void refuse_files_outside() {
  const std::string& own = base::user_catalog_directory();
  for (const fs::path& file : base::files_read()) {
    const bool is_own = !own.empty() && file.string().starts_with(own + "/");
    if (!is_own && file.is_absolute()) {
      throw base::InputError(fmt::format(
          "error: the sweep names {}, and the pods have this folder elsewhere: name it by a path "
          "from the file that names it\n",
          file.string()));
    }
    if (!is_own) {
      in_volume(file.string());
    }
  }
}

// Where the tasks find the catalog of the user: also in what the image has.
std::string catalog_of_tasks(bool in_pods) {
  const std::string& own = base::user_catalog_directory();
  if (own.empty()) {
    return own;
  }
  const fs::path whole = fs::absolute(own).lexically_normal();
  if (!in_pods) {
    return whole.string();
  }
  const fs::path path = from_here(whole);
  if (path.empty()) {
    base::add_note(fmt::format(
        "note: ROOFCAST_CATALOG is outside this folder: the image must have {}", whole.string()));
    return whole.string();
  }
  return path.string();
}

// No option of sbatch or line of YAML may end in a name of the user's.
void refuse_line_ends(const ShardJobs& jobs) {
  for (const std::string* text :
       {&jobs.program, &jobs.catalog, &jobs.asked.sweep, &jobs.csv, &jobs.directory,
        &jobs.partition, &jobs.time, &jobs.image, &jobs.claim}) {
    if (text->find_first_of("\n\r") != std::string::npos) {
      throw base::InputError("error: a name with a line end has no place in a job\n");
    }
  }
}

// A folder may take no file that is made in it, whatever its permissions say.
void refuse_unwritable(const std::string& csv) {
  const base::OutputFile result(csv);
  errno = 0;
  if (!std::ofstream(result.path())) {
    throw base::InputError(
        fmt::format("error: cannot write {}: {}\n", csv, std::generic_category().message(errno)));
  }
}

// sbatch says the number of the job on stdout.
void submit(const std::string& script) {
  std::fflush(stdout);
  FILE* sbatch = popen("sbatch", "w");
  if (sbatch == nullptr) {
    throw base::InputError("error: cannot start sbatch\n");
  }
  const auto before = std::signal(SIGPIPE, SIG_IGN);  // sbatch may end before it has read
  std::fwrite(script.data(), 1, script.size(), sbatch);
  const int status = pclose(sbatch);
  std::signal(SIGPIPE, before);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw base::InputError(
        "error: sbatch has not taken the job; --dry-run prints its script, for a machine of the "
        "cluster\n");
  }
}

int run_submit(const SubmitOptions& options) {
  if (int{options.slurm} + int{options.commands} + int{options.kubernetes} != 1) {
    throw base::InputError("error: name one of --slurm, --commands and --kubernetes\n");
  }
  ShardJobs jobs = options.jobs;
  if (!options.slurm && (options.dry_run || !jobs.time.empty() || !jobs.partition.empty())) {
    throw base::InputError("error: --dry-run, --partition and --time are of --slurm\n");
  }
  if (!options.kubernetes && (!jobs.image.empty() || !jobs.claim.empty())) {
    throw base::InputError("error: --image and --claim are of --kubernetes\n");
  }
  if (base::is_standard_stream(jobs.csv) || base::is_standard_stream(jobs.asked.sweep)) {
    throw base::InputError("error: the tasks read and write files: name them\n");
  }
  if (options.kubernetes && (jobs.image.empty() || jobs.claim.empty())) {
    throw base::InputError(
        "error: --kubernetes needs --image, with roofcast in it, and --claim, the volume of the "
        "sweep\n");
  }
  if (options.kubernetes) {
    jobs.asked.sweep = in_volume(jobs.asked.sweep);
    jobs.csv = in_volume(jobs.csv);
  }
  // A mistake in the sweep is reported here, and not by every task.
  const base::Node document = document_of(jobs.asked);
  const sim::SweepPoints points(sim::read_sweep(document));
  const std::string text = sweep_text(document, points.sweep());
  check_sweep_beside(jobs.csv, text);
  refuse_unwritable(jobs.csv);
  const SweepParts parts(points, text, jobs.asked.simulate);
  if (jobs.shards > parts.count()) {
    throw base::InputError(fmt::format("error: --shards {}: the sweep has {} point{}, {} part{}\n",
                                       jobs.shards, points.size(), points.size() == 1 ? "" : "s",
                                       parts.count(), parts.count() == 1 ? "" : "s"));
  }
  if (options.kubernetes) {
    refuse_files_outside();
  }
  jobs.directory = fs::current_path().string();
  jobs.program = !options.program.empty() ? options.program
                 : options.kubernetes     ? "roofcast"
                                          : own_path();
  jobs.catalog = catalog_of_tasks(options.kubernetes);
  refuse_line_ends(jobs);
  if (options.slurm && !options.dry_run) {
    submit(slurm_script(jobs));
    say("When all tasks are done: roofcast merge {} --csv {}{}\n",
        shell_word(parts_folder(jobs.csv).string()), shell_word(jobs.csv),
        base::is_regular(jobs.csv) ? " --force" : "");
    return kDone;
  }
  say("{}", options.slurm      ? slurm_script(jobs)
            : options.commands ? shell_commands(jobs)
                               : kubernetes_job(jobs));
  return kDone;
}

}  // namespace

void add_submit(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "submit",
      "Hands the shards of a sweep to Slurm, GNU parallel or Kubernetes\n"
      "Each task does one shard: roofcast sweep --shard. All tasks write into one folder, "
      "OUT.csv.parts, and roofcast merge joins what they have written. A task that was lost is "
      "started again with the same line, and goes on. Only --slurm without --dry-run starts "
      "anything.");
  auto options = std::make_shared<SubmitOptions>();
  ShardJobs& jobs = options->jobs;
  add_asked_sweep(*command, jobs.asked);
  command->add_option("--csv", jobs.csv, "the result, beside which the parts are kept")
      ->written()
      ->required();
  command->add_option("--shards", jobs.shards, "number of tasks")
      ->type_name(kNumber)
      ->within(std::size_t{1}, kMostShards)
      ->required();
  command->add_option("--threads", jobs.threads, "threads of a task")
      ->type_name(kNumber)
      ->within(std::size_t{1}, kMostThreads)
      ->capture_default_str();
  command
      ->add_option("--program", options->program,
                   "the path of roofcast where the tasks run; default: that of this one, in an "
                   "image roofcast")
      ->type_name(kText);
  command->add_flag("--slurm", options->slurm, "submit a job array with sbatch")->group("Engine");
  command->add_flag("--dry-run", options->dry_run, "of Slurm: print the script alone")
      ->group("Engine");
  command->add_option("--partition", jobs.partition, "of Slurm")->type_name(kText)->group("Engine");
  command->add_option("--time", jobs.time, "of Slurm: the limit of a task, \"2:00:00\"")
      ->type_name(kText)
      ->group("Engine");
  command
      ->add_flag("--commands", options->commands,
                 "print a command a line, for GNU parallel or xargs")
      ->group("Engine");
  command->add_flag("--kubernetes", options->kubernetes, "print the manifest of an indexed job")
      ->group("Engine");
  command->add_option("--image", jobs.image, "of Kubernetes: the image, with roofcast in it")
      ->type_name(kText)
      ->group("Engine");
  command
      ->add_option("--claim", jobs.claim,
                   "of Kubernetes: the claim of the volume that has the sweep, as /work")
      ->type_name(kText)
      ->group("Engine");
  command->footer(
      examples({"roofcast show example llama-70b > llama-70b.yaml",
                "roofcast show example llama70b_million > million.yaml",
                "roofcast submit million.yaml --csv million.csv --shards 8 --slurm --dry-run",
                "roofcast submit million.yaml --csv million.csv --shards 8 --commands > tasks.txt",
                "roofcast submit million.yaml --csv million.csv --shards 8 --kubernetes --image "
                "roofcast:latest --claim sweeps > job.yaml"}));
  command->callback([&chosen, options] { chosen = [options] { return run_submit(*options); }; });
}

}  // namespace roofcast::cli
