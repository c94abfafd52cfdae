// SPDX-License-Identifier: Apache-2.0
//
// Input that once broke the program (tests/cases/attacks, and others of the same audit), as a user would give it. Each
// command ends by itself, with exit code 0, 2 or 3, without "nan", "inf" or an internal error.
#include <fmt/format.h>

#include <filesystem>
#include <regex>
#include <string>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_attacks {
namespace {

// Far above what any of them takes; a loop without end takes it all.
constexpr int kMostSeconds = 100;  // of the processor

struct Attack {
  std::string command;
  int code;
  std::string said;  // a part of what is printed
};

void provide(const Program& roofcast) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(example("any")).parent_path().parent_path();
  fs::create_directory_symlink(root / "tests" / "cases", roofcast.path("cases"));
  fs::create_directory_symlink(root / "examples", roofcast.path("examples"));
  roofcast.write("word.yaml", "fp8\n");
  roofcast.write("infinite.csv", "a,b\n1,inf\n2,3\n");
  roofcast.write("epoch.csv",
                 "arrival_s,input_tokens,output_tokens\n1700000000,900,9\n1700000001,90,90\n");
  roofcast.write("wrong_year.csv",
                 "arrival_s,input_tokens,output_tokens\n0,900,9\n63800000000,90,90\n");
  roofcast.write("stages.yaml", R"(system: hgx_h200
model: llama-3.1-8b
precision: fp8
deployment: {tensor_parallel: 1}
serving: {stack: vllm}
traffic:
  agents: {concurrent: 4, tasks: 20, turns: 1, initial_context: 900, output_tokens: 9, stages: [{time: 10 ms, servers: 100000}]}
)");
  roofcast.write(
      "no_data_ranks.csv",
      R"(id,backend,backend_version,model_path,system,precision,mode,isl,osl,gemm_quant_mode,moe_quant_mode,batch_size,tp_size,pp_size,attention_dp_size,moe_tp_size,moe_ep_size,prefill_batch_size,prefill_num_workers,prefill_tp_size,prefill_pp_size,prefill_attention_dp_size,prefill_moe_tp_size,prefill_moe_ep_size,decode_batch_size,decode_num_workers,decode_tp_size,decode_pp_size,decode_attention_dp_size,decode_moe_tp_size,decode_moe_ep_size,silicon_ttft_ms,silicon_tpot_ms,concurrency,measured_date,image,source
m,vllm,0.19.0,MiniMaxAI/MiniMax-M2.5,b200_sxm,fp8,agg,1024,1024,fp8,fp8,64,4,1,4,1,0.9,,,,,,,,,,,,,,,388.043,23.6705,256,2026-04-22,vllm/vllm-openai:v0.19.0-cu130,inferencex 2026-04-27
)");
  roofcast.write(
      "no_ranks.csv",
      R"(system,fw,fw_version,kernel_source,moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_size,distribution,latency_ms
h200_sxm,vllm,0.24.0,vllm_fused_moe,bfloat16,32,4096,2048,8,256,1,0,balanced,0.1
)");
}

const std::regex kNoNumber(R"(\b-?(nan|inf)\b)");

void check(const Program& roofcast, const Attack& attack) {
  const Outcome outcome =
      roofcast.shell(fmt::format("ulimit -t {}; roofcast {}", kMostSeconds, attack.command));
  INFO(attack.command << "\n" << outcome.out << outcome.err);
  CHECK(outcome.code == attack.code);
  CHECK(contains(outcome.out + outcome.err, attack.said));
  CHECK(!contains(outcome.err, "internal error"));
  CHECK(!contains(outcome.out + outcome.err, "\x1b"));
  CHECK(!std::regex_search(outcome.out, kNoNumber));
}

}  // namespace

TEST_CASE("What once broke the program is answered or refused in words", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  const std::string one = " examples/llama-70b.yaml ";
  const Attack attacks[] = {
      {"estimate cases/attacks/short_prompts.yaml --set system.chip.hbm.bandwidth=x1.5", 0, "TPOT"},
      {"simulate cases/attacks/short_prompts.yaml", 0, "TPOT"},
      {"estimate cases/attacks/short_answers.yaml", 0, "TPOT"},
      {"simulate cases/attacks/short_answers.yaml", 0, "TPOT"},
      {"estimate cases/attacks/edge_of_memory.yaml --set system.chip.hbm.bandwidth=x1.5", 0,
       "TPOT"},
      {"simulate cases/attacks/edge_of_memory.yaml", 0, "TPOT"},
      {"estimate cases/attacks/two_clients.yaml --set system.chip.hbm.capacity=x2", 0, "TPOT"},
      {"simulate cases/attacks/two_clients.yaml", 0, "TPOT"},
      {"estimate cases/attacks/drafts_without_end.yaml", 2, "must be at most 64, not 4294967296"},
      {"check cases/attacks/drafts_without_end.yaml", 2, "must be at most 64, not 4294967296"},
      {"calibrate validate serving cases/attacks/clients_without_end.csv", 0,
       "more than 100000 clients are not simulated"},
      {"estimate" + one + "--set precision=./word.yaml", 2, "a precision is a map of keys"},
      {"estimate" + one + "--set system=./word.yaml", 2, "a system is a map of keys"},
      {"estimate" + one + "--set model=./word.yaml", 2, "a model is a map of keys"},
      {"estimate" + one + "--set serving.stack=./word.yaml", 2, "is a map of keys"},
      {"simulate" + one + "--trace epoch.csv", 0, "2 requests"},
      {"simulate" + one + "--trace wrong_year.csv", 0, "more than 100 days"},
      {"simulate examples/llama-70b_arrivals.yaml --set 'traffic.arrivals.rate=1e-9 /s' "
       "--set traffic.requests=10",
       0, "more than 100 days"},
      {"simulate" + one + "--trace /dev/zero", 2, "no text"},
      {"estimate" + one + "--set 'traffic={trace: /dev/zero}'", 2, "no text"},
      {"pareto /dev/zero --maximize x", 2, "no text"},
      {"pareto <(yes 1,2) --maximize 1", 2, "longer than 256 MiB"},
      {"report /dev/zero -o page.html", 2, "no text"},
      {"compare" + one + "/dev/zero", 2, "no text"},
      {"calibrate validate serving /dev/zero", 2, "no text"},
      {"estimate /dev/zero", 2, "larger than 4 MiB"},
      {"sweep /dev/zero --csv x.csv", 2, "larger than 4 MiB"},
      {"solve" + one + "--vary traffic.concurrency=1..512 --until 'step_s <= 10'", 2,
       "it is of training, and the scenario serves"},
      {"pareto infinite.csv --maximize a --maximize b", 0, "1 of 2 rows on the front"},
      {"simulate" + one +
           "--set system.chips=1000000 --set serving.replicas=125000 "
           "--set traffic.concurrency=1000000 --set traffic.requests=1000",
       0, "125000 replicas"},
  };
  for (const Attack& attack : attacks) {
    check(roofcast, attack);
  }
}

TEST_CASE("A figure, a factor or an objective that nothing has is refused by name", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  const std::string one = " examples/llama-70b.yaml ";
  for (const char* command : {"estimate", "estimate --format csv", "simulate"}) {
    for (const auto& [set, said] :
         {std::pair{"system.chip.hbm.bandwidth=x1e-320", "a factor is from 1e-12 to 1e+12"},
          std::pair{"system.chip.hbm.bandwidth=x1e-400", "a factor is from 1e-12 to 1e+12"},
          std::pair{"system.chip.tensor.*=x1e-200", "a factor is from 1e-12 to 1e+12"},
          std::pair{"system.chip.compute.clock=x1e+100", "a factor is from 1e-12 to 1e+12"},
          std::pair{"system.chip.compute.clock=x1e-100", "a factor is from 1e-12 to 1e+12"},
          std::pair{"'system.chip.hbm.bandwidth=1e-300 TB/s'", "a bandwidth is from 0.001 B/s"},
          std::pair{"'system.price.per_gpu_hour=1e308 USD/h'", "a price rate is from"}}) {
      check(roofcast, {command + one + "--set " + set, 2, said});
    }
  }
  check(roofcast, {"kernel gemm --m 8192 --n 8192 --k 8192 --chip h100_sxm "
                   "--set system.chip.hbm.bandwidth=x1e-320",
                   2, "a factor is from"});
  check(roofcast, {"show example llama70b_h200_hbm > hbm.yaml", 0, ""});
  check(roofcast, {"show example llama-70b > llama-70b.yaml", 0, ""});
  roofcast.write("mfu.yaml", R"(base: llama-70b.yaml
axes: {traffic.concurrency: [1, 2]}
pareto: {maximize: [mfu]}
)");
  check(roofcast,
        {"sweep mfu.yaml --csv o.csv", 2,
         "pareto.maximize: no point has a value of mfu, so no point is on the front: it is "
         "of training, and the scenario serves"});
}

TEST_CASE("A sweep of training steps without objectives has a front of throughput and step time",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  check(roofcast, {"show example llama-405b_run > run.yaml", 0, ""});
  roofcast.write("bandwidths.yaml", R"(base: run.yaml
axes: {system.chip.hbm.bandwidth: [x1, x2]}
)");
  check(roofcast, {"sweep bandwidths.yaml --csv o.csv", 0, "1 on the Pareto front"});
}

TEST_CASE("A log with a number that no machine has is refused in words", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  const std::string one = " examples/llama-70b.yaml ";
  const std::string log =
      R"({"model_id": "m", "completed": 10, "total_input_tokens": 100, "total_output_tokens": 100,
"request_rate": "inf", "max_concurrency": CLIENTS, "mean_ttft_ms": TTFT})";
  const auto with = [&](const std::string& clients, const std::string& ttft) {
    std::string text = log;
    text.replace(text.find("CLIENTS"), 7, clients);
    text.replace(text.find("TTFT}"), 4, ttft);
    return text;
  };
  roofcast.write("large.json", with("4", "1e400"));
  roofcast.write("lines.json", with("4", "1") + "\n" + with("4", "1e400") + "\n");
  roofcast.write("clients.json", with("1e300", "1"));
  check(roofcast,
        {"compare" + one + "large.json", 2, "large.json:1: error: a number is too large"});
  check(roofcast, {"compare" + one + "lines.json", 2, "error: "});
  check(roofcast, {"compare" + one + "clients.json", 2, "1e+300 clients: more than"});
  roofcast.write("none.csv",
                 "Start (ns),Duration (ns),Device,Name\n0,0,0,gemm\n5,1e-320,0,other\n");
  check(roofcast, {"compare" + one + "none.csv", 2, "its kernels take no time"});
  roofcast.write(
      "trace.json",
      R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1e400, "dur": 1}]})");
  check(roofcast, {"compare" + one + "trace.json", 2, "no JSON at byte"});
  for (const char* times : {R"("ts": 1e300, "dur": 1)", R"("ts": 1, "dur": 1e300)"}) {
    roofcast.write("trace.json", R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", )" +
                                     std::string(times) + "}]}");
    check(roofcast, {"compare" + one + "trace.json", 2, "kernel \"k\": no clock has ts"});
  }
  roofcast.write("megatron.txt",
                 " iteration 1/ 2 | elapsed time per iteration (ms): 900.0 |\n"
                 " iteration 2/ 2 | elapsed time per iteration (ms): 0.0 |\n");
  check(roofcast, {"compare" + one + "megatron.txt", 2,
                   "megatron.txt:2: error: an iteration that takes 0 ms"});
}

TEST_CASE("A broken file of the user's catalog hides no other entry, and a missing catalog is told",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  std::filesystem::create_directories(roofcast.path("own/chips"));
  std::filesystem::create_directories(roofcast.path("own/models"));
  roofcast.write("own/chips/broken.yaml", "name: [\n");
  roofcast.write("own/models/broken.yaml", "fp8\n");
  for (const char* list : {"list", "list chips", "list models", "list --csv"}) {
    INFO(list);
    const Outcome outcome = roofcast.shell("ROOFCAST_CATALOG=own roofcast " + std::string(list));
    CHECK(outcome.code == 0);
    CHECK((contains(outcome.out, "h100_sxm") || contains(outcome.out, "llama-3.1-70b")));
    CHECK(contains(outcome.err, "broken is left out, it cannot be read"));
  }
  const Outcome missing = roofcast.shell("ROOFCAST_CATALOG=/nowhere roofcast list chips");
  CHECK(missing.code == 0);
  CHECK(contains(missing.err, "ROOFCAST_CATALOG is /nowhere, which is no directory"));
}

TEST_CASE("An entry of the user's catalog that is there and cannot be read is refused", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  const std::string own = "own/chips own/systems own/stacks own/models";
  roofcast.shell("mkdir -p " + own + "; for kind in " + own +
                 "; do ln -s gone $kind/mine.yaml; done; ln -s gone own/systems/hgx_h200.yaml");
  const auto refuse = [&](const std::string& command, const std::string& file) {
    INFO(command);
    const Outcome outcome = roofcast.shell("ROOFCAST_CATALOG=own roofcast " + command);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(contains(outcome.err, "cannot read own/" + file));
  };
  const std::string one = "examples/llama-70b.yaml";
  refuse("show chip mine", "chips/mine.yaml");
  refuse("estimate " + one + " --set model=mine --set system=hgx_h100", "models/mine.yaml");
  refuse("estimate " + one + " --set serving.stack=mine --set system=hgx_h100", "stacks/mine.yaml");
  // No built-in figures in place of the user's.
  refuse("estimate " + one + " --set system=hgx_h200", "systems/hgx_h200.yaml");
  const Outcome list = roofcast.shell("ROOFCAST_CATALOG=own roofcast list chips");
  CHECK(list.code == 0);
  CHECK(contains(list.err, "the chip mine is left out, it cannot be read"));
  roofcast.shell("rm -r own/models; ln -s gone own/models");
  refuse("list models", "models");
  roofcast.shell("rm -r own/stacks; ln -s gone own/stacks");
  refuse("estimate " + one, "stacks");
}

TEST_CASE("A line end in a name begins no line of a file that is written", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  const std::string named = R"( --set 'system.name="a\nb: 1\rc: 1\Nd: 1\Le: 1"' )";
  for (const char* command : {"estimate examples/llama-70b.yaml --save out.yaml",
                              "estimate examples/llama-70b.yaml --kubernetes out.yaml"}) {
    INFO(command);
    check(roofcast, {command + named + "--force", 0, ""});
    const std::string head = lines_of(roofcast.read("out.yaml")).front();
    CHECK(head.starts_with("# "));
    CHECK(contains(head, "on a b: 1 c: 1 d: 1 e: 1 "));
  }
}

TEST_CASE("What the user gave reaches the terminal without control characters", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  roofcast.write("red.csv", "job,\x1b[2Jmemory,time\na,20 GB,30 min\n");
  check(roofcast, {"list chips --color $(printf '\\033[31mred')", 2, "?[31mred"});
  check(roofcast, {"estimate $(printf '\\033[31m').yaml", 2, "?[31m.yaml"});
  check(roofcast, {"list chips --$(printf '\\033[31m')", 2, "takes no option"});
  check(roofcast, {"$(printf '\\033[31m')", 2, "?[31m"});
  roofcast.write("cells.csv", "name,speed\n\x1b[2Ja,1\n");
  check(roofcast, {"pareto cells.csv --maximize speed", 0, "?[2Ja"});
  check(roofcast, {"pack red.csv --memory '80 GB'", 2, "unknown column \"?[2Jmemory\""});
  const std::string named = R"( --set 'system.name="\e]0;pwn\a\e[31mred"' )";
  for (const char* command :
       {"estimate", "estimate --explain", "estimate --format csv", "estimate --json", "simulate",
        "sensitivity", "estimate --kubernetes -", "estimate --save -"}) {
    check(roofcast, {command + std::string(" examples/llama-70b.yaml") + named, 0, ""});
  }
  roofcast.shell("cp examples/llama-70b.yaml $(printf '\\033[31m').yaml");
  check(roofcast, {"check $(printf '\\033[31m').yaml", 0, "?[31m.yaml"});
  roofcast.write("model.json",
                 "{\"model_id\": \"\\u001b[31m\", \"completed\": 10, "
                 "\"total_input_tokens\": 100, \"total_output_tokens\": 100, "
                 "\"request_rate\": \"inf\", \"mean_ttft_ms\": 3}");
  check(roofcast, {"compare examples/llama-70b.yaml model.json --anyway", 0, "?[31m"});
  roofcast.write("kernels.csv",
                 "Start (ns),Duration (ns),Device,Name\n0,9000,0,\x1b[31mk\n9000,9,0,gemm\n");
  check(roofcast, {"compare examples/llama-70b.yaml kernels.csv --iterations 1", 0, "?[31mk"});
}

TEST_CASE("A damaged identity or provenance of a result is refused in words", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  check(roofcast, {"show example llama-70b > llama-70b.yaml", 0, ""});
  check(roofcast, {"show example llama70b_h200_hbm > hbm.yaml", 0, ""});
  check(roofcast, {"sweep hbm.yaml --csv s.csv --shard 1/1 --quiet", 0, ""});
  for (const char* identity : {"", "[]", "{simulate", R"({"simulate": 3})", R"({"version": []})",
                               R"({"simulate": false, "catalog": 7})"}) {
    roofcast.write("s.csv.parts/identity.json", identity);
    check(roofcast, {"merge s.csv.parts --csv all.csv", 2, "has no parts of this sweep"});
  }
  for (const char* provenance :
       {"", "[]", "{",
        R"({"version": "1", "directory": ".", "command": ["reproduce", "r.csv"],)"
        R"( "outputs": [{"path": "r.csv"}]})",
        R"({"version": "1", "directory": ".", "outputs": [{"path": "r.csv"}], "command":)"
        R"( ["submit", "s.yaml", "--csv", "s.csv", "--shards", "1", "--slurm"]})"}) {
    roofcast.write("r.provenance.json", provenance);
    check(roofcast, {"reproduce r.csv", 2, "is no provenance that roofcast wrote"});
  }
}

TEST_CASE("A measured row whose cells are no shape is left out with its reason", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  check(roofcast, {"calibrate validate moe no_ranks.csv", 0,
                   "moe_ep_size is not a whole number from 1 to 100000000"});
}

TEST_CASE("A measured server whose parallel sizes do not fit is left out with its reason",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  check(roofcast,
        {"calibrate validate serving no_data_ranks.csv", 0, "parallel sizes do not fit together"});
}

TEST_CASE("A change from nothing has no share in the CSV of a comparison", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("old.csv", "name,speed\na,0\n");
  roofcast.write("new.csv", "name,speed\na,5\n");
  check(roofcast, {"compare old.csv new.csv --key name --maximize speed --csv moved.csv", 0, ""});
  CHECK(roofcast.read("moved.csv") ==
        "name,change,metric,moved,old_speed,new_speed\na,gain,speed,,0,5\n");
}

TEST_CASE("A number that no machine has is refused before anything is made of it", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  const std::string one = " examples/llama-70b.yaml ";
  for (const Attack& attack : {
           Attack{"simulate stages.yaml", 0, "TTFT"},
           Attack{"sweep examples/llama70b_h200_hbm.yaml --csv x.csv --threads 2147483647", 2,
                  "--threads"},
           Attack{"simulate" + one + "--set traffic.requests=1000000000", 2,
                  "traffic.requests: must be at most 10000000, not 1000000000"},
           Attack{"simulate" + one + "--set traffic.concurrency=1000000000", 2,
                  "10000000000 requests are more than 10000000, the most that are drawn"},
           Attack{
               "simulate" + one + "--set traffic.concurrency=1000000000 --set traffic.requests=9",
               0, "9 requests"},
           Attack{"simulate stages.yaml --set traffic.agents.tasks=1000000000", 2,
                  "set traffic.agents.tasks"},
           Attack{"estimate stages.yaml --set traffic.agents.concurrent=1000000000", 2,
                  "traffic.agents.concurrent: must be at most 1000000, not 1000000000"},
           Attack{"simulate" + one + "--set system.chips=8000000 --set serving.replicas=1000000", 0,
                  "more than 200000 data-parallel ranks or front ends"},
           Attack{"kernel gemm --m 8192 --n =1+1 --k 8192 --chip h100_sxm", 2,
                  "expects a whole number, not \"=1+1\""},
       }) {
    check(roofcast, attack);
  }
}

}  // namespace roofcast::cli::cli_attacks
