// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_simulate_command {
namespace {

using nlohmann::json;

const std::string kStream =
    "traffic={input_tokens: {uniform: [500, 1500]}, output_tokens: {uniform: [50, 150]}, arrivals: "
    "{process: poisson, rate: 6 /s}, requests: 200, objectives: {ttft: 200 ms, tpot: 20 ms}}";

std::vector<std::string> simulate(const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {"simulate", example("llama-70b"), "--set", kStream};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return arguments;
}

}  // namespace

TEST_CASE("simulate tells percentiles, load and goodput", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome outcome = roofcast.run(simulate({"--warm-up", "20"}));
  CHECK(outcome.code == 0);
  CHECK(outcome.err.empty());
  for (const char* part : {"Llama-3.1-70B on ", "200 requests", "p99", "TTFT", "TPOT", "end to end",
                           "waiting", "running", "KV cache", "attainment ", "goodput",
                           "tok/s out per GPU", "Without the first 20 requests"}) {
    INFO(part);
    CHECK(contains(outcome.out, part));
  }
}

TEST_CASE("simulate says that a run is too short for a steady state", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const auto notes = [&](const std::string& requests) {
    return contains(roofcast.run(simulate({"--set", "traffic.requests=" + requests})).out,
                    "Not a steady state: requests arrive for ");
  };
  CHECK(notes("20"));
  CHECK(!notes("200"));
}

TEST_CASE("simulate tells TTFT without the start in which all clients begin at once", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::vector<std::string> words = {"simulate", example("llama-70b"), "--set",
                                          "traffic={input_tokens: 2000, output_tokens: {uniform: "
                                          "[50, 150]}, concurrency: 64, requests: 800}"};
  const std::string all = roofcast.output(words);
  const std::string told =
      "All 64 clients begin at once. Without the first 128 requests TTFT p95 is ";
  REQUIRE(contains(all, told));
  const auto begin = all.find(told) + told.size();
  const std::string value = all.substr(begin, all.find(" (--warm-up 128).") - begin);
  std::vector<std::string> later = words;
  later.insert(later.end(), {"--warm-up", "128"});
  const std::string after = roofcast.output(later);
  CHECK(!contains(after, "begin at once"));
  CHECK(contains(after.substr(after.find("Without the first 128")), value));
}

TEST_CASE("The tables of simulate have every request and every second, and agree with the summary",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json all = json::parse(roofcast.output(
      simulate({"--csv", "requests.csv", "--timeline", "seconds.csv", "--format", "json"})));
  const base::CsvTable requests = base::read_csv(roofcast.path("requests.csv"));
  CHECK(requests.rows() == 200);
  double sum = 0.0;
  double tokens = 0.0;
  for (std::size_t row = 0; row < requests.rows(); ++row) {
    sum += number(requests, row, "ttft_s");
    tokens += number(requests, row, "output_tokens");
  }
  CHECK(all["all"]["ttft_s"]["mean"].get<double>() == Approx(sum / 200.0));
  const base::CsvTable seconds = base::read_csv(roofcast.path("seconds.csv"));
  double output = 0.0;
  for (std::size_t row = 0; row < seconds.rows(); ++row) {
    output += number(seconds, row, "output_tokens");
  }
  CHECK(output == tokens);
}

TEST_CASE("The same seed gives the same bytes", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string first = roofcast.output(simulate({"--seed", "3"}));
  CHECK(first == roofcast.output(simulate({"--seed", "3"})));
  CHECK(first != roofcast.output(simulate({"--seed", "4"})));
}

TEST_CASE("Times, attainment and goodput are told by class where requests differ in it", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  std::vector<std::string> mix = {"--set",
                                  "traffic.classes=[{name: chat, priority: 5, weight: 1}, {name: "
                                  "batch, priority: 0, weight: 3, "
                                  "objectives: {end_to_end: 1 min}}]",
                                  "--set", "serving.scheduler={queue: priority}"};
  const std::string out = roofcast.output(simulate(mix));
  CHECK(contains(out, "\nclass  priority  requests  TTFT p50"));
  CHECK(out.find("\nchat ") < out.find("\nbatch "));
  mix.insert(mix.end(), {"--format", "json", "--csv", "requests.csv"});
  const json all = json::parse(roofcast.output(simulate(mix)));
  const base::CsvTable requests = base::read_csv(roofcast.path("requests.csv"));
  std::size_t chats = 0;
  std::size_t good = 0;
  for (std::size_t row = 0; row < requests.rows(); ++row) {
    const bool chat = cell(requests, row, "class") == "chat";
    CHECK(cell(requests, row, "priority") == (chat ? "5" : "0"));
    chats += chat ? 1 : 0;
    good += chat && cell(requests, row, "meets") == "true" ? 1 : 0;
  }
  CHECK(chats > 20);
  const json& of_chat = all["by_class"]["chat"];
  CHECK(of_chat["requests"] == chats);
  CHECK(of_chat["attainment"].get<double>() ==
        Approx(static_cast<double>(good) / static_cast<double>(chats)));
  CHECK(all["by_class"]["batch"]["requests"] == 200 - chats);
  CHECK(all["by_class"]["batch"]["attainment"] == 1.0);
  CHECK(of_chat["goodput"].get<double>() + all["by_class"]["batch"]["goodput"].get<double>() ==
        Approx(all["all"]["goodput"].get<double>()));
  CHECK(!contains(roofcast.output(simulate({})), "\nclass"));
}

TEST_CASE("The alarm exits with 3 when a window breaches too probably, and with 0 when not",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const auto alarm = [&](const std::string& ttft, std::vector<std::string> options) {
    options.insert(options.end(), {"--set", "traffic.objectives={ttft: " + ttft + "}", "--window",
                                   "10 s", "--replications", "10"});
    return roofcast.run(simulate(options));
  };
  const Outcome loose = alarm("10 s", {"--breach", "5%"});
  CHECK(loose.code == 0);
  CHECK(contains(loose.out, "breach probability 0.0 % (95 % interval 0.0 % to 27.8 %): 0 of 10"));
  CHECK(contains(loose.out, "within the limit of 5.0 %, but the interval includes it"));
  const Outcome tight = alarm("1 ms", {"--breach", "5%", "--format", "json", "--report", "r.html"});
  CHECK(tight.code == 3);
  const json breach = json::parse(tight.out)["breach"];
  CHECK(breach["breach_probability"] == 1.0);
  CHECK(breach["windows"] == 10);
  CHECK(breach["alarm"] == true);
  CHECK(breach["sure"] == true);
  CHECK(alarm("1 ms", {"--breach", "1"}).code == 0);  // no probability is above 1
  CHECK(alarm("10 s", {"--breach", "0.05", "--set", "deployment.tensor_parallel=16"}).code == 3);
  CHECK(alarm("150 ms", {"--breach", "0.5", "--threads", "1"}).out ==
        alarm("150 ms", {"--breach", "0.5", "--threads", "3"}).out);
}

TEST_CASE("The alarm counts the windows of a trace", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  std::string trace = "arrival_s,input_tokens,output_tokens\n";
  for (int i = 0; i < 60; ++i) {
    trace += std::to_string(i) + (i >= 20 && i < 30 ? ",9000,10\n" : ",100,10\n");
  }
  roofcast.write("trace.csv", trace);
  const Outcome outcome =
      roofcast.run(simulate({"--set", "traffic.objectives={ttft: 100 ms}", "--trace", "trace.csv",
                             "--breach", "10%", "--window", "10 s", "--format", "json"}));
  CHECK(outcome.code == 3);
  const json breach = json::parse(outcome.out)["breach"];
  CHECK(breach["windows"] == 4);  // of five whole ones the first fills the server
  CHECK(breach["breached"] == 1);
  CHECK(breach["least_attainment"].get<double>() < 0.5);
}

TEST_CASE("An alarm that cannot be given is an error that says why", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("trace.csv", "arrival_s,input_tokens,output_tokens\n0,100,10\n9,100,10\n");
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"--window", "10 s"}, "are of --breach, which is missing"},
      {{"--breach", "5 percent"}, "--breach: a share from 0 to 1 is expected"},
      {{"--breach", "5"}, "for example 5% or 0.05, not \"5\""},
      {{"--breach", "5%", "--share", "x"}, "--share: a share from 0 to 1"},
      {{"--breach", "5%", "--window", "10 GB"}, "--window: "},
      {{"--breach", "5%", "--window", "0 s"}, "a time above 0 is expected"},
      {{"--breach", "5%", "--set", "traffic.objectives=null"}, "traffic.objectives is expected"},
      {{"--breach", "5%", "--trace", "trace.csv"}, "no whole window of 5 min after the first"},
      {{"--breach", "5%", "--trace", "trace.csv", "--replications", "5"}, "a trace has its own"},
      {{"--breach", "5%", "--window", "1000 h"}, "a shorter window has fewer"},
  };
  for (const auto& [options, message] : cases) {
    INFO(message);
    const Outcome outcome = roofcast.run(simulate(options));
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, message));
  }
}

TEST_CASE("Host memory for the KV cache needs a link whose rate is known", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::vector<std::string> unknown = {"--set",
                                            "system.chip.pcie.bandwidth_per_direction=null",
                                            "--set", "serving.kv_offload={capacity: 1 TB}"};
  const Outcome refused = roofcast.run(simulate(unknown));
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "needs a bandwidth: the chip has no pcie or cpu_link that is known"));
  std::vector<std::string> known = unknown;
  known.back() = "serving.kv_offload={capacity: 1 TB, bandwidth: 50 GB/s}";
  CHECK(contains(roofcast.output(simulate(known)), "TTFT"));
}

TEST_CASE("A trace is replayed at its own times", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("trace.csv",
                 "arrival_s,input_tokens,output_tokens\n0,1000,10\n0.5,2000,20\n7,100,1\n");
  roofcast.run({"simulate", example("llama-70b"), "--trace", "trace.csv", "--csv", "out.csv"});
  const base::CsvTable out = base::read_csv(roofcast.path("out.csv"));
  REQUIRE(out.rows() == 3);
  CHECK(cell(out, 1, "arrival_s") == "0.5");
  CHECK(cell(out, 1, "input_tokens") == "2000");
  CHECK(cell(out, 2, "arrival_s") == "7");
  CHECK(cell(out, 2, "tpot_s").empty());  // of one token
}

TEST_CASE("simulate says why a scenario does not run", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::vector<std::string> arguments = {"simulate", example("llama-70b"), "--set",
                                              "deployment.tensor_parallel=16"};
  const Outcome outcome = roofcast.run(arguments);
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "does not run: needs 16 GPUs"));
}

TEST_CASE("estimate takes the stream that simulate serves", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string text = roofcast.output({"estimate", example("llama-70b"), "--set", kStream});
  CHECK(contains(text, "requests a second"));
  CHECK(contains(text, "Utilisation"));
}

TEST_CASE("simulate draws training runs, and their mean is that of the closed form", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::vector<std::string> command = {
      "simulate", example("llama-405b_run"), "--replications", "200", "--format", "json"};
  const json drawn = json::parse(roofcast.output(command));
  CHECK(drawn["runs"] == 200);
  for (const char* metric : {"run_s", "interruptions", "useful_share"}) {
    INFO(metric);
    CHECK(drawn[metric]["mean"].get<double>() ==
          Approx(drawn[metric]["closed_form"].get<double>()).epsilon(0.02));
    CHECK(drawn[metric]["p5"] < drawn[metric]["p95"]);
  }
  const json estimated =
      json::parse(roofcast.output({"estimate", example("llama-405b_run"), "--format", "json"}));
  CHECK(estimated["run_s"].get<double>() ==
        Approx(drawn["run_s"]["closed_form"].get<double>()).epsilon(1e-9));
  const Outcome without = roofcast.run({"simulate", example("llama-8b_training")});
  CHECK(without.code == 2);
  CHECK(contains(without.err, "which the section run describes"));
}

TEST_CASE("simulate draws what runs train in the days that they have", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("days.yaml",
                 "system: {base: h100_cluster_128, chips: 1024, name: 1024 H100}\n"
                 "model: llama-3.1-8b\nprecision: bf16\ndeployment: {data_parallel: 1024}\n"
                 "training: {sequence_length: 8192, global_batch: 1024, recompute: [mlp], trainer: "
                 "megatron}\nrun: {days: 20, failures: llama3_h100, restart: {time: 30 min}, "
                 "checkpoint: {interval: 30 min, write: 100 GB/s}}\n");
  const json drawn = json::parse(roofcast.output({"simulate", "days.yaml", "--format", "json"}));
  CHECK(drawn["run_s"]["p5"].get<double>() == Approx(20.0 * 86400.0).epsilon(1e-9));
  const json& tokens = drawn["run_tokens"];
  CHECK(tokens["mean"].get<double>() == Approx(tokens["closed_form"].get<double>()).epsilon(0.002));
  CHECK(tokens["p5"] < tokens["p95"]);
  const json estimated =
      json::parse(roofcast.output({"estimate", "days.yaml", "--format", "json"}));
  CHECK(estimated["run_tokens"].get<double>() ==
        Approx(tokens["closed_form"].get<double>()).epsilon(1e-9));
  CHECK(estimated["run_tokens_p5"].get<double>() ==
        Approx(tokens["p5"].get<double>()).epsilon(0.002));
}

TEST_CASE("simulate writes a page of drawn training runs", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.output(
      {"simulate", example("llama-405b_run"), "--replications", "50", "--report", "runs.html"});
  const std::string page = roofcast.read("runs.html");
  CHECK(contains(page, "50 runs drawn"));
  CHECK(contains(page, "Runs that are done"));
  CHECK(contains(page, "\"total_rows\":50"));
}

TEST_CASE("simulate refuses for a training run what is for requests, and too many runs", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const auto refused = [&](const std::vector<std::string>& options) {
    std::vector<std::string> command = {"simulate", example("llama-405b_run")};
    command.insert(command.end(), options.begin(), options.end());
    const Outcome outcome = roofcast.run(command);
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK(contains(refused({"--csv", "requests.csv"}), "--csv is for requests"));
  CHECK(contains(refused({"--trace", "none.csv"}), "--trace is for requests"));
  CHECK(contains(refused({"--breach", "5%"}), "--breach is for requests"));
  CHECK(contains(
      refused({"--replications", "1000000", "--set", "run.failures.per_thousand_gpu_days.gpu=x10"}),
      "too many to draw"));
  CHECK_FALSE(std::filesystem::exists(roofcast.path("requests.csv")));
}

}  // namespace roofcast::cli::cli_simulate_command
