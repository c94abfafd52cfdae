// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep/shard_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

namespace roofcast::cli {
namespace {

bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// `shard` is what the shell or the engine fills in.
std::string task(const ShardJobs& jobs, const std::string& shard) {
  return fmt::format("{} sweep {} --csv {} --shard {} --threads {} --quiet",
                     shell_word(jobs.program), shell_word(jobs.sweep), shell_word(jobs.csv), shard,
                     jobs.threads);
}

// The name of the sweep's file with small letters, digits and dashes alone, as the names of Kubernetes are.
std::string job_name(const ShardJobs& jobs) {
  constexpr std::size_t kLongest = 40;  // Kubernetes adds an index and five letters, up to 63
  std::string name = "roofcast";
  for (const char c : "-" + std::filesystem::path(jobs.sweep).stem().string()) {
    if (is_letter_or_digit(c)) {
      name.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    } else if (name.back() != '-') {
      name.push_back('-');
    }
  }
  name.resize(std::min(name.size(), kLongest));
  while (name.back() == '-') {
    name.pop_back();
  }
  return name;
}

// A text in YAML.
std::string quoted(const std::string& text) {
  std::string all = "'";
  for (const char c : text) {
    all += c == '\'' ? "''" : std::string(1, c);
  }
  return all + "'";
}

}  // namespace

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain = "_-./=:,@%+";
  if (!text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
        return is_letter_or_digit(c) || kPlain.find(c) != std::string_view::npos;
      })) {
    return text;
  }
  std::string word = "'";
  for (const char c : text) {
    word += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return word + "'";
}

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
  script +=
      fmt::format("cd {} || exit\nexec {}\n", shell_word(jobs.directory), task(jobs, "slurm"));
  return script;
}

std::string shell_commands(const ShardJobs& jobs) {
  std::string lines;
  for (std::size_t i = 1; i <= jobs.shards; ++i) {
    lines += task(jobs, fmt::format("{}/{}", i, jobs.shards)) + "\n";
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
      "          resources:\n"
      "            requests: {{cpu: \"{}\"}}\n"
      "          volumeMounts:\n"
      "            - {{name: work, mountPath: /work}}\n"
      "      volumes:\n"
      "        - name: work\n"
      "          persistentVolumeClaim:\n"
      "            claimName: {}\n",
      job_name(jobs), jobs.shards, jobs.shards, kStartsOfAShard * jobs.shards, quoted(jobs.image),
      quoted(line), jobs.threads, quoted(jobs.claim));
}

}  // namespace roofcast::cli
