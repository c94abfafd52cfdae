// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/measured_log.hpp"

namespace roofcast::cli::cli_compare_measured {
namespace {

using Json = nlohmann::json;

std::string log(const std::string& name) { return measured_log(name).string(); }

std::size_t row_of(const base::CsvTable& table, const std::string& column,
                   const std::string& value) {
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (cell(table, row, column) == value) {
      return row;
    }
  }
  FAIL(value << " is not in the table");
  return 0;
}

}  // namespace

TEST_CASE("Beside a benchmark stands the estimate of the scenario under the log's load", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("s.yaml", base::read_text(example("llama-70b")));
  const std::string out =
      roofcast.output({"compare", "s.yaml", log("vllm_result.json"), "--anyway", "--csv", "m.csv"});
  CHECK(contains(out,
                 "set from the log: traffic.input_tokens 1024, traffic.output_tokens 1024, "
                 "traffic.concurrency 128\n"));
  const Json estimate = Json::parse(roofcast.output(
      {"estimate", "s.yaml", "--format", "json", "--set", "traffic.input_tokens=1024",
       "traffic.output_tokens=1024", "traffic.concurrency=128"}));
  const base::CsvTable rows = base::read_csv(roofcast.path("m.csv"));
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    const std::string metric = cell(rows, row, "metric");
    CHECK(number(rows, row, "forecast") == Approx(estimate[metric].get<double>()));
    CHECK(number(rows, row, "ratio") ==
          Approx(number(rows, row, "forecast") / number(rows, row, "measured")));
  }
  const std::size_t tpot = row_of(rows, "metric", "tpot_mean_s");
  CHECK(number(rows, tpot, "low90_forecast") ==
        Approx(estimate["low90_tpot_mean_s"].get<double>()));
  const double measured = number(rows, tpot, "measured");
  CHECK(measured == Approx(0.014871257350024614));
  CHECK(cell(rows, tpot, "inside") == (measured < number(rows, tpot, "low90_forecast")    ? "below"
                                       : measured > number(rows, tpot, "high90_forecast") ? "above"
                                                                                          : "yes"));
}

TEST_CASE("A knob on the command line wins over what a log says, and JSON says what the CSV does",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("s.yaml", base::read_text(example("llama-70b")));
  const Json json = Json::parse(
      roofcast.output({"compare", "s.yaml", log("sglang_output.txt"), "--format", "json", "--csv",
                       "m.csv", "--set", "traffic.concurrency=8", "traffic.input_tokens=100"}));
  const Json logs = json["logs"];
  REQUIRE(logs.size() == 1);
  CHECK(contains(logs[0]["said"].dump(), "set from the log: traffic.output_tokens 517\""));
  CHECK(contains(logs[0]["notes"].dump(), "the log's means"));
  CHECK(!contains(roofcast.output({"compare", "s.yaml", log("sglang_output.txt"), "--set",
                                   "traffic.output_tokens={uniform: [1, 1024]}",
                                   "traffic.input_tokens={uniform: [1, 1024]}"}),
                  "the log's means"));
  const base::CsvTable rows = base::read_csv(roofcast.path("m.csv"));
  REQUIRE(logs[0]["rows"].size() == rows.rows());
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    CHECK(logs[0]["rows"][row]["metric"] == cell(rows, row, "metric"));
    CHECK(logs[0]["rows"][row]["forecast"].get<double>() == number(rows, row, "forecast"));
  }
}

TEST_CASE("A log at a rate turns clients into arrivals, and one of trtllm-bench cuts the model",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("s.yaml", base::read_text(example("llama-70b")));
  roofcast.write(
      "rate.json",
      R"({"request_rate": 2.0, "burstiness": 0.25, "completed": 10, "mean_ttft_ms": 90})");
  CHECK(contains(roofcast.output({"compare", "s.yaml", "rate.json"}),
                 "set from the log: traffic.arrivals {process: gamma, rate: 2 /s, cv: 2}\n"));
  const std::string trtllm =
      roofcast.output({"compare", "s.yaml", log("trtllm_engine.txt"), "--anyway"});
  CHECK(contains(trtllm, "TP1 PP1"));
  CHECK(contains(trtllm, "All 3000 requests were sent at the start"));
}

TEST_CASE("Beside nccl-tests stands the collective of the scenario's system", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("s.yaml", base::read_text(example("llama-70b")));
  const std::string nccl = log("nccl_all_reduce_16.txt");
  roofcast.output(
      {"compare", "s.yaml", nccl, "--set", "system=h100_cluster_128", "--csv", "n.csv"});
  const base::CsvTable rows = base::read_csv(roofcast.path("n.csv"));
  REQUIRE(rows.rows() == 32);
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    const double bytes = number(rows, row, "bytes_b");
    CHECK(number(rows, row, "forecast_busbw_b_per_s") ==
          Approx(1.875 * bytes / number(rows, row, "forecast_s")));
    CHECK(number(rows, row, "measured_share_of_link") ==
          Approx(number(rows, row, "measured_busbw_b_per_s") / 450e9));
    CHECK((row == 0 || number(rows, row, "forecast_s") >= number(rows, row - 1, "forecast_s")));
  }
  const Outcome small = roofcast.run({"compare", "s.yaml", nccl});
  CHECK(small.code == 2);
  CHECK(contains(small.err, "16 ranks, and HGX/DGX H200, 8 GPUs has 8 GPUs"));
}

TEST_CASE(
    "Beside a profile stands one step: its operators add up, and nothing is below the roofline",
    "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("s.yaml", base::read_text(example("llama-70b")));
  const std::string trace = log("kineto_trace.json");
  const Outcome none = roofcast.run({"compare", "s.yaml", trace});
  CHECK(none.code == 2);
  CHECK(contains(none.err, "tells no iterations; --iterations says how many"));
  for (const char* step : {"decode", "prompts"}) {
    roofcast.output({"compare", "s.yaml", trace, "--iterations", "2", "--iteration", step, "--csv",
                     "k.csv", "--force"});
    const Outcome before = roofcast.run({"compare", "s.yaml", trace, "--steps", "2", "--step", step,
                                         "--csv", "before.csv", "--force"});
    CHECK(contains(before.err, "note: --step is now called --iteration"));
    CHECK(roofcast.read("before.csv") == roofcast.read("k.csv"));
    const base::CsvTable rows = base::read_csv(roofcast.path("k.csv"));
    const Json steps = Json::parse(
        roofcast.output({"estimate", "s.yaml", "--explain", "--format", "json"}))["iterations"];
    double forecast = 0.0;
    for (std::size_t row = 0; row < rows.rows(); ++row) {
      forecast += number(rows, row, "forecast_s");
      CHECK(number(rows, row, "roofline_s") <= number(rows, row, "forecast_s"));
    }
    CHECK(forecast == Approx(steps[step == std::string("decode") ? 0 : 1]["time_s"].get<double>()));
    // Three GEMMs of 3, 2 and 3 us, over two steps; 3928 us with 12 of them busy.
    const std::size_t gemm = row_of(rows, "kind", "gemm");
    CHECK(number(rows, gemm, "measured_s") == Approx(4e-6));
    CHECK(number(rows, gemm, "kernels") == Approx(1.5));
    CHECK(number(rows, row_of(rows, "kind", "host"), "measured_s") == Approx(1958e-6));
  }
}

TEST_CASE("Compare says which options are of which files, and what a log cannot be laid beside",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("s.yaml", base::read_text(example("llama-70b")));
  roofcast.write("agents.yaml", base::read_text(example("agents")));
  roofcast.write("t.csv", "a,b\n1,2\n");
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = roofcast.run(arguments);
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  const std::string bench = log("vllm_result.json");
  CHECK(contains(refused({"compare", "s.yaml", bench, "--key", "a"}), "are of two CSVs"));
  CHECK(contains(refused({"compare", "t.csv", "t.csv", "--steps", "3"}), "are of measured logs"));
  CHECK(contains(refused({"compare", "s.yaml", "t.csv"}), "t.csv: error: expects a log"));
  CHECK(contains(refused({"compare", "s.yaml", "missing.json"}), "missing.json"));
  CHECK(contains(refused({"compare", "agents.yaml", bench}), "traffic.agents"));
  CHECK(contains(refused({"compare", "s.yaml", bench, log("nsys_kernels.csv"), "--steps", "5",
                          "--anyway", "--csv", "x.csv"}),
                 "do not go into one table"));
  // What does not run is said, and is what --strict is for.
  const std::vector<std::string> large = {"compare",  "s.yaml", bench,
                                          "--anyway", "--set",  "deployment.tensor_parallel=16"};
  const Outcome outcome = roofcast.run(large);
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "does not run: "));
  std::vector<std::string> strict = large;
  strict.emplace_back("--strict");
  CHECK(roofcast.run(strict).code == 3);
}

TEST_CASE("A log that contradicts its scenario is an error that names both values", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string scenario = example("llama-70b");
  const std::string bench = log("vllm_result.json");  // of gpt-oss-120b
  const Outcome other = roofcast.run({"compare", scenario, bench});
  CHECK(other.code == 2);
  for (const char* part : {"model: gpt-oss-120b in the log, Llama-3.1-70B in the scenario",
                           "traffic.input_tokens: 1024 in the log, 2048 in the scenario",
                           "traffic.output_tokens: 1024 in the log, 512 in the scenario"}) {
    INFO(other.err);
    CHECK(contains(other.err, part));
  }
  const Outcome forced = roofcast.run({"compare", scenario, bench, "--anyway", "--strict"});
  CHECK(forced.code == 3);
  CHECK(contains(forced.out, "model: gpt-oss-120b in the log"));
  const Outcome same = roofcast.run(
      {"compare", scenario, bench, "--strict", "--set", "model=gpt-oss-120b", "precision=bf16",
       "traffic.input_tokens=1024", "traffic.output_tokens={uniform: [512, 1536]}"});
  CHECK(same.code == 0);
  CHECK(!contains(same.out, "in the scenario"));
  CHECK(contains(roofcast.run({"compare", scenario, log("trtllm_engine.txt")}).err,
                 "deployment.tensor_parallel: 1 in the log, 8 in the scenario"));
}

TEST_CASE("A log of nccl-tests on another GPU than the scenario's is an error", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("nccl.txt",
                 "$ ./build/all_gather_perf -b 1G -e 1G -g 2\n"
                 "#  Rank  0 Group  0 Pid 1 on    host device  0 [0x1b] NVIDIA H100 80GB HBM3\n"
                 "#  Rank  1 Group  0 Pid 1 on    host device  1 [0x43] NVIDIA H100 80GB HBM3\n"
                 "#       size count type redop root time algbw busbw #wrong\n"
                 "  1073741824 134217728 float none -1 4027.3 266.61 133.31 0\n");
  const Outcome other = roofcast.run({"compare", example("llama-70b"), "nccl.txt"});
  CHECK(other.code == 2);
  CHECK(contains(other.err, "the log is of NVIDIA H100 80GB HBM3, the scenario of HGX/DGX H200"));
  CHECK(roofcast.run({"compare", example("llama-70b"), "nccl.txt", "--anyway"}).code == 0);
  CHECK(roofcast.run({"compare", example("llama-70b"), "nccl.txt", "--set", "system=hgx_h100"})
            .code == 0);
}

TEST_CASE("Beside a trace of a training step stand the passes of all its micro-batches", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("s.yaml", base::read_text(example("llama-8b_training")));
  roofcast.write("t.json",
                 R"({"traceEvents": [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1",
"ts": 0, "dur": 900, "pid": 0, "tid": 1}, {"ph": "X", "cat": "kernel", "name":
"nvjet_hsh_gemm", "ts": 10, "dur": 500, "pid": 0, "tid": 7, "args": {"device": 0}}]})");
  const auto forecast = [&](const std::string& kind, const std::string& batch) {
    const std::string out =
        roofcast.output({"compare", "s.yaml", "t.json", "--iterations", "1", "--csv", "m.csv",
                         "--force", "--set", "training.global_batch=" + batch});
    CHECK(contains(out, "beside one optimizer step: passes of "));
    const base::CsvTable rows = base::read_csv(roofcast.path("m.csv"));
    return number(rows, row_of(rows, "kind", kind), "forecast_s");
  };
  CHECK(forecast("gemm", "512") > 0.0);
  CHECK(forecast("gemm", "1024") == Approx(2.0 * forecast("gemm", "512")));
  const Json estimate = Json::parse(roofcast.output({"estimate", "s.yaml", "--json"}));
  CHECK(forecast("gemm", "512") + forecast("attention", "512") < estimate["step_s"].get<double>());
}

TEST_CASE("A scenario or a result alone gets a line of what compare wants", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("t.csv", "a,b\n1,2\n");
  for (const auto& [file, wanted] :
       {std::pair{example("llama-70b"), "is one scenario: compare wants logs of its runs, too"},
        {example("llama70b_what_if"), "is a sweep: compare wants the CSVs of two of them"},
        {std::string("t.csv"), "is one CSV of results: compare wants the other one, too"}}) {
    const Outcome alone = roofcast.run({"compare", file});
    CHECK(alone.code == 2);
    CHECK(contains(alone.err, wanted));
    CHECK(lines_of(alone.err).size() == 1);
  }
}

TEST_CASE("A log and options are the scenario that they describe together", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string bench =
      log("vllm_result.json");  // of gpt-oss-120b, 1024 in and out, 128 clients
  const std::string out = roofcast.output(
      {"compare", bench, "--system", "hgx_h200", "--gpus", "2", "--csv", "line.csv"});
  CHECK(contains(out,
                 "set from the log: model gpt-oss-120b, traffic.input_tokens 1024, "
                 "traffic.output_tokens 1024, traffic.concurrency 128\n"));
  roofcast.output({"estimate", "--model", "gpt-oss-120b", "--system", "hgx_h200", "--gpus", "2",
                   "--input", "1024", "--output", "1024", "--clients", "128", "--no-replay",
                   "--save", "s.yaml"});
  roofcast.output({"compare", "s.yaml", bench, "--csv", "file.csv"});
  CHECK(roofcast.read("line.csv") == roofcast.read("file.csv"));
  // What an option says wins over the log, as --set does.
  const std::string overridden =
      roofcast.output({"compare", bench, "--system", "hgx_h200", "--gpus", "2", "--clients", "32",
                       "--input", "{uniform: [512, 1536]}"});
  CHECK(!contains(overridden, "traffic.concurrency"));
  CHECK(!contains(overridden, "traffic.input_tokens"));
  CHECK(contains(overridden, "traffic.output_tokens 1024"));
  // A file and options: what differs from the file.
  roofcast.output({"compare", "s.yaml", bench, "--gpus", "4", "--csv", "four.csv"});
  CHECK(roofcast.read("four.csv") != roofcast.read("file.csv"));
  const Outcome other = roofcast.run(
      {"compare", bench, "--model", "llama-3.1-8b", "--system", "hgx_h200", "--gpus", "1"});
  CHECK(other.code == 2);
  CHECK(contains(other.err, "model: gpt-oss-120b in the log, Llama-3.1-8B in the scenario"));
}

TEST_CASE("A log of an engine tells its parallel sizes, its model and its stack", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome line = roofcast.run(
      {"compare", log("trtllm_engine.txt"), "--model", "llama-3.1-8b", "--system", "hgx_h100"});
  INFO(line.err);
  CHECK(line.code == 0);
  CHECK(contains(line.out, "serving.stack trtllm"));
  CHECK(contains(line.out, "deployment.tensor_parallel 1"));
  CHECK(!contains(line.err, "one GPU"));
}

TEST_CASE("What neither a log nor an option says is asked for by the option's name", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = roofcast.run(arguments);
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  const std::string bench = log("vllm_result.json");
  const std::string nothing = refused({"compare", bench});
  CHECK(contains(nothing, "--system is needed: " + bench + " does not say on which system it ran"));
  CHECK(contains(nothing, "--gpus is needed: "));
  CHECK(!contains(nothing, "--model"));
  CHECK(!contains(nothing, "--input"));
  const std::string text = refused({"compare", log("sglang_output.txt"), "--gpus", "8"});
  CHECK(contains(text, "--model is needed: "));
  CHECK(!contains(text, "--gpus"));
  roofcast.write("other.json",
                 "{\"model_id\": \"nobody/unknown-3b\", \"completed\": 5, \"mean_tpot_ms\": 20}");
  const std::string other =
      refused({"compare", "other.json", "--system", "hgx_h200", "--gpus", "1"});
  CHECK(contains(other, "but \"nobody/unknown-3b\""));
  CHECK(contains(other, "--input is needed"));
  CHECK(contains(other, "--output is needed"));
  CHECK(contains(other, "--clients or --rate is needed"));
  const std::string nccl = refused({"compare", log("nccl_all_reduce_16.txt")});
  CHECK(contains(nccl, "--system is needed"));
  CHECK(!contains(nccl, "--model"));
  CHECK(roofcast.run({"compare", log("nccl_all_reduce_16.txt"), "--system", "h100_cluster_128"})
            .code == 0);
  const std::string profile = refused({"compare", log("nsys_kernels.csv"), "--system", "hgx_h200"});
  for (const char* option : {"--model", "--gpus", "--input", "--output", "--clients or --rate"}) {
    CHECK(contains(profile, std::string(option) + " is needed"));
  }
  roofcast.write("t.csv", "a,b\n1,2\n");
  CHECK(contains(refused({"compare", "t.csv", "t.csv", "--set", "system=hgx_h200"}),
                 "are of measured logs"));
}

}  // namespace roofcast::cli::cli_compare_measured
