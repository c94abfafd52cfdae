// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep/shard_jobs.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cli/text/quoted.hpp"

namespace roofcast::cli {
namespace {

// `shard` is what the shell or the engine fills in.
std::string task(const ShardJobs& jobs, const std::string& shard) {
  return fmt::format("{} sweep {} --csv {} --shard {} --threads {} --quiet",
                     shell_word(jobs.program), shell_words(jobs.asked), shell_word(jobs.csv), shard,
                     jobs.threads);
}

// Before a command of a shell; empty where the tasks have no catalog of the user's.
std::string catalog_variable(const ShardJobs& jobs) {
  return jobs.catalog.empty() ? "" : "ROOFCAST_CATALOG=" + shell_word(jobs.catalog);
}

std::string job_name(const ShardJobs& jobs) {
  constexpr std::size_t kLongest = 40;  // Kubernetes adds an index and five letters, up to 63
  return kubernetes_name("roofcast-" + std::filesystem::path(jobs.asked.sweep).stem().string(),
                         kLongest);
}

}  // namespace

std::string slurm_script(const ShardJobs& jobs) {
  std::string script = fmt::format(
      "#!/bin/bash\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --array=1-{}\n"
      "#SBATCH --ntasks=1\n"
      "#SBATCH --cpus-per-task={}\n"
      "#SBATCH --requeue\n"
      "#SBATCH --output=%x.%A_%a.log\n",
      job_name(jobs), jobs.shards, jobs.threads);
  if (!jobs.partition.empty()) {
    script += fmt::format("#SBATCH --partition={}\n", jobs.partition);
  }
  if (!jobs.time.empty()) {
    script += fmt::format("#SBATCH --time={}\n", jobs.time);
  }
  script += fmt::format("cd {} || exit\n{}exec {}\n", shell_word(jobs.directory),
                        jobs.catalog.empty() ? "" : "export " + catalog_variable(jobs) + "\n",
                        task(jobs, "slurm"));
  return script;
}

std::string shell_commands(const ShardJobs& jobs) {
  std::string lines;
  for (std::size_t i = 1; i <= jobs.shards; ++i) {
    lines += catalog_variable(jobs) + (jobs.catalog.empty() ? "" : " ") +
             task(jobs, fmt::format("{}/{}", i, jobs.shards)) + "\n";
  }
  return lines;
}

std::string kubernetes_job(const ShardJobs& jobs) {
  constexpr std::size_t kStartsOfAShard = 4;  // before the job counts as failed
  const std::string line =
      "exec " + task(jobs, fmt::format("\"$((JOB_COMPLETION_INDEX + 1))/{}\"", jobs.shards));
  return fmt::format(
      "apiVersion: batch/v1\n"
      "kind: Job\n"
      "metadata:\n"
      "  name: {}\n"
      "spec:\n"
      "  completionMode: Indexed\n"
      "  completions: {}\n"
      "  parallelism: {}\n"
      "  backoffLimit: {}\n"
      "  template:\n"
      "    spec:\n"
      "      restartPolicy: OnFailure\n"
      "      containers:\n"
      "        - name: sweep\n"
      "          image: {}\n"
      "          workingDir: /work\n"
      "          command: [sh, -c, {}]\n"
      "{}"
      "          resources:\n"
      "            requests: {{cpu: \"{}\"}}\n"
      "          volumeMounts:\n"
      "            - {{name: work, mountPath: /work}}\n"
      "      volumes:\n"
      "        - name: work\n"
      "          persistentVolumeClaim:\n"
      "            claimName: {}\n",
      job_name(jobs), jobs.shards, jobs.shards, kStartsOfAShard * jobs.shards,
      yaml_text(jobs.image), yaml_text(line),
      jobs.catalog.empty() ? ""
                           : fmt::format("          env:\n"
                                         "            - {{name: ROOFCAST_CATALOG, value: {}}}\n",
                                         yaml_text(jobs.catalog)),
      jobs.threads, yaml_text(jobs.claim));
}

}  // namespace roofcast::cli
