// SPDX-License-Identifier: Apache-2.0
#include "base/document/node.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_sweep_submit {
namespace {

// 960 points, four parts. The name needs quotes in a shell.
constexpr const char* kFile = "it's a sweep.yaml";

void write_sweep(const Program& roofcast) {
  roofcast.write(kFile, kSweepBase +
                            "axes:\n"
                            "  system: [hgx_h100, hgx_h200]\n"
                            "  traffic.input_tokens: {from: 256, to: 3072, step: 256}\n"
                            "  traffic.output_tokens: {from: 64, to: 320, step: 64}\n"
                            "  traffic.concurrency: [1, 2, 4, 8, 16, 32, 64, 128]\n");
}

std::vector<std::string> submit(const std::vector<std::string>& more) {
  std::vector<std::string> all = {"submit", kFile, "--csv", "r.csv"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

TEST_CASE("The commands of the shards together make the sweep", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.output({"sweep", kFile, "--csv", "whole.csv", "--quiet", "--no-replay"});
  roofcast.write("tasks.sh", roofcast.output(submit({"--shards", "3", "--commands"})));
  CHECK(lines_of(roofcast.read("tasks.sh")).size() == 3);
  CHECK(roofcast.shell("bash -e tasks.sh").code == 0);
  roofcast.output({"merge", "r.csv.parts", "--csv", "r.csv", "--no-replay", "--quiet"});
  CHECK(roofcast.read("r.csv") == roofcast.read("whole.csv"));
}

TEST_CASE("A task of the Slurm script does its shard, and sbatch gets the script", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  const std::vector<std::string> more = {"--shards", "4",           "--slurm", "--time",
                                         "0:30:00",  "--partition", "small"};
  std::vector<std::string> dry = more;
  dry.emplace_back("--dry-run");
  const std::string script = roofcast.output(submit(dry));
  for (const char* line :
       {"#SBATCH --array=1-4\n", "#SBATCH --time=0:30:00\n", "#SBATCH --partition=small\n",
        "#SBATCH --cpus-per-task=1\n", "#SBATCH --job-name=roofcast-it-s-a-sweep\n"}) {
    CHECK(contains(script, line));
  }
  roofcast.write("job.sh", script);
  CHECK(roofcast
            .shell(
                "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=4 bash job.sh")
            .code == 0);
  CHECK(roofcast.shell("ls r.csv.parts/0*.csv").out == "r.csv.parts/00001.csv\n");

  // In place of Slurm's own: keeps what it is given.
  std::filesystem::create_directories(roofcast.path("bin"));
  roofcast.write("bin/sbatch", "#!/bin/bash\ncat > given.sh\necho Submitted batch job 7\n");
  std::string line = "chmod +x bin/sbatch; PATH=$PWD/bin:$PATH roofcast";
  for (const std::string& word : submit(more)) {
    line += " \"" + word + "\"";
  }
  const Outcome sent = roofcast.shell(line);
  CHECK(sent.code == 0);
  CHECK(contains(sent.out, "Submitted batch job 7"));
  CHECK(contains(sent.out, "roofcast merge r.csv.parts --csv r.csv"));
  CHECK(roofcast.read("given.sh") == script);
  roofcast.write("bin/sbatch", "#!/bin/bash\nexit 1\n");
  const Outcome refused = roofcast.shell(line);
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "sbatch has not taken the job"));
}

TEST_CASE("The Kubernetes job has an index for each shard and a shell line that does it", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  const std::string text =
      roofcast.output(submit({"--shards", "4", "--threads", "2", "--kubernetes", "--image",
                              "tools/roofcast:1", "--claim", "sweeps"}));
  const base::Node job = base::parse_document("job.yaml", text);
  const base::Node* spec = job.find("spec");
  REQUIRE(spec != nullptr);
  CHECK(job.find("apiVersion")->text == "batch/v1");
  CHECK(spec->find("completionMode")->text == "Indexed");
  CHECK(spec->find("completions")->text == "4");
  const base::Node& container =
      spec->find("template")->find("spec")->find("containers")->items.at(0);
  CHECK(container.find("image")->text == "tools/roofcast:1");
  const std::string line = container.find("command")->items.at(2).text;
  roofcast.write("pod.sh", line);
  CHECK(roofcast.shell("JOB_COMPLETION_INDEX=3 sh pod.sh").code == 0);
  CHECK(roofcast.shell("ls r.csv.parts/0*.csv").out == "r.csv.parts/00003.csv\n");
}

TEST_CASE("A Kubernetes job names files of this folder alone, by paths within it", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.shell("mkdir below; cp *.yaml below/s.yaml");
  roofcast.write("outside.yaml", "base: ../llama.yaml\naxes: {traffic.concurrency: [1, 2]}\n");
  roofcast.write("llama.yaml", roofcast.output({"show", "example", "llama-70b"}));
  roofcast.shell(
      "sed \"s|\\.\\.|$PWD|\" outside.yaml > below/absolute.yaml; cp outside.yaml below");
  const std::string end = " --shards 1 --kubernetes --image i --claim c";
  const auto submit = [&](const std::string& sweep, const std::string& csv) {
    return roofcast.shell("cd below && roofcast submit " + sweep + " --csv " + csv + end);
  };
  CHECK(contains(submit("$PWD/s.yaml", "$PWD/r.csv").out, "sweep s.yaml --csv r.csv "));
  for (const auto& [sweep, csv] : {std::pair{"../*sweep.yaml", "r.csv"},
                                   {"s.yaml", "../r.csv"},
                                   {"s.yaml", "/tmp/r.csv"},
                                   {"outside.yaml", "r.csv"}}) {
    INFO(sweep << " " << csv);
    const Outcome outside = submit(sweep, csv);
    CHECK(outside.code == 2);
    CHECK(contains(outside.err, " is outside this folder, and the pods see"));
  }
  CHECK(contains(submit("absolute.yaml", "r.csv").err, "the pods have this folder elsewhere"));
}

TEST_CASE("Options that change the rows of a sweep reach its tasks", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.shell(
      "sed -i 's/from: 256, to: 3072, step: 256/from: 256, to: 512, step: 256/; "
      "s/from: 64, to: 320, step: 64/from: 64, to: 64, step: 1/' " +
      std::string("\"") + kFile + "\"");
  const std::vector<std::string> options = {"--simulate", "--as-if-unmeasured", "chip",
                                            "--all-columns"};
  std::vector<std::string> whole = {"sweep", kFile, "--csv", "whole.csv", "--quiet"};
  whole.insert(whole.end(), options.begin(), options.end());
  roofcast.output(whole);
  std::vector<std::string> more = {"--shards", "2", "--commands"};
  more.insert(more.end(), options.begin(), options.end());
  roofcast.write("tasks.sh", roofcast.output(submit(more)));
  CHECK(roofcast.shell("bash -e tasks.sh").code == 0);
  roofcast.output({"merge", "r.csv.parts", "--csv", "r.csv", "--quiet"});
  CHECK(roofcast.read("r.csv") == roofcast.read("whole.csv"));
}

TEST_CASE("Tasks in a folder whose name has a blank find the sweep and the catalog of the user",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  roofcast.write(
      "run.sh",
      "set -e\n"
      "mkdir -p 'my runs/own catalog/chips'; mv \"it's a sweep.yaml\" 'my runs'\n"
      "cd 'my runs'\n"
      "roofcast show chip h100_sxm | sed 's/3.35 TB/20 TB/' > 'own "
      "catalog/chips/h100_sxm.yaml'\n"
      "roofcast sweep \"it's a sweep.yaml\" --csv shipped.csv --quiet --no-replay\n"
      "export ROOFCAST_CATALOG='own catalog'\n"
      "roofcast sweep \"it's a sweep.yaml\" --csv whole.csv --quiet --no-replay\n"
      "submit() { roofcast submit \"it's a sweep.yaml\" --csv r.csv --shards 2 \"$@\"; }\n"
      "submit --commands > tasks.txt\n"
      "submit --slurm --dry-run > job.sh\n"
      "submit --kubernetes --image i --claim c > job.yaml\n"
      "join() { ROOFCAST_CATALOG='own catalog' roofcast merge r.csv.parts --csv $1 "
      "--quiet --no-replay; cmp $1 whole.csv; rm -r r.csv.parts; }\n"
      "unset ROOFCAST_CATALOG\n"
      "xargs -d '\\n' -P 2 -I{} sh -c {} < tasks.txt\n"
      "join a.csv\n"
      "for i in 1 2; do (cd /; SLURM_ARRAY_TASK_ID=$i SLURM_ARRAY_TASK_MIN=1 "
      "SLURM_ARRAY_TASK_COUNT=2 bash \"$OLDPWD/job.sh\"); done\n"
      "join b.csv\n"
      "! cmp shipped.csv whole.csv\n");
  const Outcome outcome = roofcast.shell("bash run.sh");
  INFO(outcome.out << outcome.err);
  CHECK(outcome.code == 0);
  const base::Node job = base::parse_document("job.yaml", roofcast.read("my runs/job.yaml"));
  const base::Node* pod = job.find_path("spec.template.spec");
  REQUIRE(pod != nullptr);
  const base::Node& variable = pod->find("containers")->items.at(0).find("env")->items.at(0);
  CHECK(variable.find("name")->text == "ROOFCAST_CATALOG");
  CHECK(variable.find("value")->text == "own catalog");
}

TEST_CASE("A submission without an engine, with too many shards or with a bad sweep is refused",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_sweep(roofcast);
  const auto refusal = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = roofcast.run(arguments);
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK(contains(refusal(submit({"--shards", "2"})), "one of --slurm"));
  CHECK(contains(refusal(submit({"--shards", "2", "--slurm", "--commands"})), "one of --slurm"));
  CHECK(contains(refusal(submit({"--shards", "5", "--commands"})), "4 parts"));
  CHECK(contains(refusal(submit({"--shards", "2", "--kubernetes"})), "--image"));
  CHECK(contains(
      refusal(submit({"--shards", "2", "--slurm", "--dry-run", "--time", "1\n#SBATCH -w x"})),
      "line end"));
  CHECK(contains(refusal({"submit", kFile, "--csv", "-", "--shards", "2", "--commands"}),
                 "name them"));
  roofcast.write("bad.yaml", "base: nowhere.yaml\naxes: {traffic.concurrency: [1, 2]}\n");
  CHECK(contains(refusal({"submit", "bad.yaml", "--csv", "r.csv", "--shards", "1", "--commands"}),
                 "nowhere.yaml"));
}

TEST_CASE("A result that merge could not write is refused before anything is submitted", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("base.yaml", roofcast.output({"show", "example", "llama-70b"}));
  roofcast.write("s.yaml", "base: base.yaml\naxes: {traffic.concurrency: [1, 2]}\n");
  roofcast.write("there.csv", "precious\n");
  roofcast.write("o.sweep.yaml", "precious\n");
  for (const auto& [csv, words] : {std::pair{"none/o.csv", "there is no folder none"},
                                   {"/proc/o.csv", "cannot write"},
                                   {"there.csv", "there.csv is there already"},
                                   {"base.yaml --force", "would be lost"},
                                   {"o.csv", "o.sweep.yaml is there already"},
                                   {"o.parquet", "rows are written as CSV"}}) {
    INFO(csv);
    const Outcome refused =
        roofcast.shell("roofcast submit s.yaml --shards 1 --commands --csv " + std::string(csv));
    CHECK(refused.code == 2);
    CHECK(refused.out.empty());
    CHECK(contains(refused.err, words));
  }
}

}  // namespace roofcast::cli::cli_sweep_submit
