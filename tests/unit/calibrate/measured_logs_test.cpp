// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/csv/csv.hpp"
#include "base/document/notes.hpp"
#include "calibrate/logs/collective_log.hpp"
#include "calibrate/logs/kernel_profile.hpp"
#include "calibrate/logs/serving_log.hpp"
#include "tests/catch.hpp"
#include "tests/measured_log.hpp"
#include "tests/scratch_file.hpp"

namespace roofcast::unit_calibrate_measured_logs {

using calibrate::LogFormat;

namespace {

namespace fs = std::filesystem;

double metric(const calibrate::ServingLog& log, const std::string& name) {
  for (const calibrate::MeasuredMetric& each : log.metrics) {
    if (each.name == name) {
      return each.value;
    }
  }
  FAIL(name << " is not in the log");
  return 0.0;
}

calibrate::ServingLog one_log(const fs::path& file) {
  auto logs = calibrate::read_serving_logs(file, calibrate::format_of(file));
  REQUIRE(logs.size() == 1);
  return logs.front();
}

// Reads whatever it is, as the command does.
void read_any(const fs::path& file) {
  const LogFormat format = calibrate::format_of(file);
  if (format == LogFormat::nccl_tests) {
    calibrate::read_collective_log(file);
  } else if (format == LogFormat::kernel_summary || format == LogFormat::kernel_list ||
             format == LogFormat::kernel_counters || format == LogFormat::kernel_trace) {
    calibrate::read_kernel_profile(file, format);
  } else {
    calibrate::read_serving_logs(file, format);
  }
}

std::string refused(const std::string& text) {
  const Scratch scratch(text);
  try {
    read_any(scratch.file());
  } catch (const base::InputError& error) {
    const std::string what = error.what();
    CHECK(what.starts_with(scratch.file().string() + ":"));
    CHECK(what.find("error: ") != std::string::npos);
    return what;
  }
  FAIL("the log is read");
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string trace(const std::string& events) {
  return fmt::format(R"({{"schemaVersion": 1, "traceEvents": [{}]}})", events);
}

std::string kernel(const std::string& name, double start, double duration, int device = 0) {
  return fmt::format(
      R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 9, "tid": 7, "ts": {}, "dur": {}, "args": {{"device": {}, "stream": 7}}}})",
      name, start, duration, device);
}

}  // namespace

TEST_CASE("A log is known by its content", "[unit]") {
  const std::pair<const char*, LogFormat> formats[] = {
      {"vllm_result.json", LogFormat::client_json},
      {"vllm_output.txt", LogFormat::client_text},
      {"sglang_output.txt", LogFormat::client_text},
      {"trtllm_engine.txt", LogFormat::trtllm_bench},
      {"trtllm_requests.txt", LogFormat::trtllm_bench},
      {"nccl_all_reduce_16.txt", LogFormat::nccl_tests},
      {"nsys_kernels.csv", LogFormat::kernel_summary},
      {"kineto_trace.json", LogFormat::kernel_trace},
  };
  for (const auto& [name, format] : formats) {
    INFO(name);
    CHECK(calibrate::format_of(measured_log(name)) == format);
  }
  CHECK(has(refused("system: hgx_h200\n"), "expects a log"));
  CHECK(has(refused("{\"a\": 1}"), "expects a log"));
  CHECK(has(refused(""), "expects a log"));
}

TEST_CASE("A client's result says what load it put on the server and what it measured", "[unit]") {
  const auto result = one_log(measured_log("vllm_result.json"));
  CHECK(result.clients == 128);
  CHECK(!result.rate);
  CHECK(!result.all_at_once);
  CHECK(result.requests == 1280);
  CHECK(result.input_tokens == 1024.0);
  CHECK(result.output_tokens == 1024.0);
  CHECK(metric(result, "ttft_mean_s") == Approx(0.32205012791437184));
  CHECK(metric(result, "ttft_p50_s") == Approx(0.1684953118674457));
  CHECK(metric(result, "tpot_mean_s") == Approx(0.014871257350024614));
  CHECK(metric(result, "tpot_p99_s") == Approx(0.015061890008918056));
  CHECK(metric(result, "e2e_mean_s") == Approx(15.535346396989553));
  CHECK(metric(result, "throughput_tok_per_s") == Approx(8368.280252140186));

  const auto text = one_log(measured_log("vllm_output.txt"));
  CHECK(!text.clients);
  CHECK(!text.rate);
  CHECK(text.requests == 10);
  CHECK(*text.input_tokens == Approx(136.9));
  CHECK(metric(text, "ttft_p99_s") == Approx(0.07949));

  const auto sglang = one_log(measured_log("sglang_output.txt"));
  CHECK(sglang.clients == 256);
  CHECK(*sglang.output_tokens == Approx(2116125.0 / 4096.0));
  CHECK(metric(sglang, "e2e_mean_s") == Approx(11.23374));
  CHECK(metric(sglang, "requests_per_s") == Approx(22.36));
}

TEST_CASE("trtllm-bench says how its engine is cut, in the words of each version", "[unit]") {
  const auto engine = one_log(measured_log("trtllm_engine.txt"));
  CHECK(engine.model == "meta-llama/Llama-3.1-8B");
  CHECK(engine.tensor_parallel == 1);
  CHECK(!engine.expert_parallel);
  CHECK(engine.max_sequences == 4096);
  CHECK(engine.all_at_once);
  CHECK(metric(engine, "throughput_tok_per_s") == Approx(28390.4265));

  const auto requests = one_log(measured_log("trtllm_requests.txt"));
  CHECK(requests.clients == 5);
  CHECK(!requests.all_at_once);
  CHECK(!requests.expert_parallel);  // "None"
  CHECK(metric(requests, "throughput_tok_per_s") == Approx(185.8351));
  CHECK(metric(requests, "e2e_mean_s") == Approx(3.6718441));
}

TEST_CASE("Results one a line are several, with Python's numbers that JSON has not", "[unit]") {
  const std::string one =
      R"({"backend": "sglang", "request_rate": Infinity, "max_concurrency": null, "completed": 4, "total_input_tokens": 40, "total_output_tokens": 8, "mean_ttft_ms": 10.0, "mean_itl_ms": NaN, "tag": "Infinity \" NaN"})";
  const std::string other =
      R"({"backend": "sglang", "request_rate": 2.5, "burstiness": 0.25, "completed": 4, "mean_tpot_ms": 5.0})";
  const Scratch scratch(one + "\n\n" + other + "\n");
  const auto logs = calibrate::read_serving_logs(scratch.file(), LogFormat::client_json);
  REQUIRE(logs.size() == 2);
  CHECK(logs[0].all_at_once);
  CHECK(logs[0].requests == 4);
  CHECK(logs[1].rate == 2.5);
  CHECK(logs[1].burstiness == 0.25);
  CHECK(logs[1].name == scratch.file().string() + ":3");
  CHECK(!logs[1].input_tokens);
}

TEST_CASE("Requests that a run lost, and sizes with wrong results, are told with their numbers",
          "[unit]") {
  base::take_notes();
  const Scratch lost(
      R"({"num_prompts": 250, "completed": 100, "failed": 150, "max_concurrency": 4, "mean_ttft_ms": 10.0})");
  CHECK(calibrate::read_serving_logs(lost.file(), LogFormat::client_json).size() == 1);
  CHECK(base::take_notes() ==
        std::vector{"note: " + lost.file().string() +
                    ": 100 requests were completed and 150 were lost: what is measured is of the "
                    "100"});
  const Scratch printed(
      "============ Serving Benchmark Result ============\n"
      "Successful requests:      16\nFailed requests:      4\nMean TTFT (ms):   10.0\n"
      "==================================================\n");
  CHECK(calibrate::read_serving_logs(printed.file(), LogFormat::client_text).size() == 1);
  CHECK(base::take_notes().size() == 1);
  const std::string head =
      "# all_gather_perf\n#  Rank  0 on a device  0 [0x1b] GPU\n#  Rank  1 on a device  1 [0x43] "
      "GPU\n# size count type redop root time algbw busbw #wrong\n";
  const Scratch wrong(head +
                      "1024 256 float none -1 40 26.6 13.3 0\n2048 512 float none -1 50 26.6 "
                      "13.3 7\n4096 1024 float none -1 60 26.6 13.3 N/A\n");
  CHECK(calibrate::read_collective_log(wrong.file()).times.size() == 2);
  CHECK(base::take_notes() ==
        std::vector{"note: " + wrong.file().string() +
                    ": 1 of 3 sizes have wrong results (#wrong) and are left out"});
  const Scratch none(head + "1024 256 float none -1 40 26.6 13.3 7\n");
  CHECK_THROWS_WITH(calibrate::read_collective_log(none.file()),
                    Catch::Matchers::ContainsSubstring("every size has wrong results"));
}

TEST_CASE("What a client prints of two runs is two results, each with its own settings", "[unit]") {
  const std::string text =
      "Traffic request rate: inf\nMaximum request concurrency: 8\n"
      "============ Serving Benchmark Result ============\n"
      "Successful requests:      16\nMean TTFT (ms):   10.0\nP95 TTFT (ms):   30.0\n"
      "==================================================\n"
      "Traffic request rate: 4.0\nBurstiness factor: 1.0 (Poisson process)\n"
      "Maximum request concurrency: None\n"
      "============ Serving Benchmark Result ============\n"
      "Successful requests:      16\nMean TTFT (ms):   20.0\n"
      "==================================================\n";
  const Scratch scratch(text);
  const auto logs = calibrate::read_serving_logs(scratch.file(), LogFormat::client_text);
  REQUIRE(logs.size() == 2);
  CHECK(logs[0].clients == 8);
  CHECK(!logs[1].clients);
  CHECK(logs[1].rate == 4.0);
  CHECK(logs[1].metrics.size() == 1);
  CHECK(metric(logs[1], "ttft_mean_s") == Approx(0.02));
}

TEST_CASE("nccl-tests without ranks tells them by its two bandwidths", "[unit]") {
  const auto log = calibrate::read_collective_log(measured_log("nccl_all_reduce_16.txt"));
  CHECK(log.kind == workloads::CollectiveKind::all_reduce);
  CHECK(log.ranks == 16);
  CHECK(log.hosts == 0);
  REQUIRE(log.times.size() == 32);
  for (const calibrate::CollectiveTime& time : log.times) {
    CHECK(time.algorithm == Approx(time.bytes / time.seconds).margin(0.006e9).epsilon(1e-3));
    CHECK(time.bus == Approx(calibrate::bus_factor(log.kind, log.ranks) * time.bytes / time.seconds)
                          .margin(0.006e9)
                          .epsilon(1e-3));
  }
}

TEST_CASE("nccl-tests tells its ranks, their hosts and GPU, and the program its collective",
          "[unit]") {
  const Scratch scratch(
      "$ ./build/all_gather_perf -b 1G -e 1G -g 2\n"
      "#  Rank  0 Group  0 Pid 1 on    host device  0 [0x1b] NVIDIA H100 80GB HBM3\n"
      "#  Rank  1 Group  0 Pid 1 on    host device  1 [0x43] NVIDIA H100 80GB HBM3\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
      "  1073741824     134217728     float    none      -1   4027.3  266.61  133.31      0\n"
      "# Avg bus bandwidth    : 133.31\n");
  const auto log = calibrate::read_collective_log(scratch.file());
  CHECK(log.kind == workloads::CollectiveKind::all_gather);
  CHECK(log.ranks == 2);
  CHECK(log.hosts == 1);
  CHECK(log.gpu == "NVIDIA H100 80GB HBM3");
  REQUIRE(log.times.size() == 1);
  CHECK(log.times[0].seconds == Approx(4027.3e-6));
}

TEST_CASE("A summary of Nsight Systems is its kernels, whatever nsys says around them", "[unit]") {
  const std::string text = base::read_text(measured_log("nsys_kernels.csv"));
  for (const std::string& around : {text, "Generating SQLite file x.sqlite\n\n" + text + "\n",
                                    "Processing [x.sqlite] with [y.py]...\n" + text}) {
    const Scratch scratch(around);
    const auto profile =
        calibrate::read_kernel_profile(scratch.file(), calibrate::format_of(scratch.file()));
    REQUIRE(profile.kernels.size() == 1);
    CHECK(profile.kernels[0].name == "burn(float *, int, int)");
    CHECK(profile.kernels[0].runs == 5);
    CHECK(profile.kernels[0].seconds == Approx(28918591e-9));
    CHECK(profile.iterations == 0);
    CHECK(std::isnan(profile.span.si()));
  }
}

TEST_CASE("A list of Nsight Systems is its kernels, and the time without one", "[unit]") {
  const Scratch scratch(
      "Processing [x.sqlite] with [cuda_gpu_trace.py]...\n"
      "Start (ns),Duration (ns),CorrId,GrdX,Device,Strm,Name\n"
      "1000,500,1,2,GPU (0),7,\"void gemm<float, 2>(int)\"\n"
      "1200,500,2,2,GPU (0),8,fill\n"
      "2000,300,3,2,GPU (0),7,\"void gemm<float, 2>(int)\"\n"
      "900,100,4,,GPU (1),7,[CUDA memcpy HtoD]\n\nsomething else\n");
  REQUIRE(calibrate::format_of(scratch.file()) == LogFormat::kernel_list);
  const auto profile = calibrate::read_kernel_profile(scratch.file(), LogFormat::kernel_list);
  REQUIRE(profile.kernels.size() == 3);
  CHECK(profile.kernels[0].name == "void gemm<float, 2>(int)");
  CHECK(profile.kernels[0].runs == 2);
  CHECK(profile.kernels[0].seconds == Approx(800e-9));
  CHECK(profile.gpus == 2);
  CHECK(profile.span.si() == Approx((1300 + 100) * 1e-9));
  CHECK(profile.busy.si() == Approx((700 + 300 + 100) * 1e-9));
}

TEST_CASE("Counters of Nsight Compute are the durations of its kernels, however they are laid out",
          "[unit]") {
  const std::string each_metric =
      "==PROF== Connected to process 7\nhello from the program\n"
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\","
      "\"Metric Value\"\n"
      "\"0\",\"7\",\"gemm\",\"a\",\"Duration\",\"us\",\"1,234.5\"\n"
      "\"0\",\"7\",\"gemm\",\"b\",\"gpu__time_duration.sum\",\"ns\",\"1,234,500\"\n"
      "\"0\",\"7\",\"gemm\",\"b\",\"SM Frequency\",\"Ghz\",\"1.1\"\n"
      "==PROF== in between\n"
      "\"1\",\"7\",\"gemm\",\"a\",\"Duration\",\"msecond\",\"0.7655\"\n"
      "\"2\",\"7\",\"fill\",\"a\",\"Duration\",\"ns\",\"900\"\n"
      "==PROF== Disconnected from process 7";
  const std::string each_kernel =
      "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"sm__cycles.sum\"\n"
      "\"\",\"\",\"ns\",\"cycle\"\n"
      "\"0\",\"gemm\",\"1,234,500\",\"5\"\n\"1\",\"gemm\",\"765,500\",\"5\"\n"
      "\"2\",\"fill\",\"900\",\"5\"\n";
  for (const std::string& text : {each_metric, each_kernel}) {
    const Scratch scratch(text);
    REQUIRE(calibrate::format_of(scratch.file()) == LogFormat::kernel_counters);
    const auto profile = calibrate::read_kernel_profile(scratch.file(), LogFormat::kernel_counters);
    REQUIRE(profile.kernels.size() == 2);
    CHECK(profile.kernels[0].name == "gemm");
    CHECK(profile.kernels[0].runs == 2);
    CHECK(profile.kernels[0].seconds == Approx(2e-3));
    CHECK(std::isnan(profile.span.si()));
  }
}

TEST_CASE("A trace of the PyTorch profiler is the kernels of its GPU, and the time without one",
          "[unit]") {
  const auto profile =
      calibrate::read_kernel_profile(measured_log("kineto_trace.json"), LogFormat::kernel_trace);
  REQUIRE(profile.kernels.size() == 4);
  CHECK(profile.kernels[0].name == "volta_sgemm_128x32_nt");
  CHECK(profile.kernels[0].runs == 2);
  CHECK(profile.kernels[0].seconds == Approx(6e-6));
  CHECK(profile.gpus == 1);
  CHECK(profile.iterations == 0);
  CHECK(profile.busy.si() == Approx(12e-6));
  CHECK(profile.span.si() == Approx(3928e-6));
}

TEST_CASE("Kernels that run side by side keep a GPU busy once, and steps are counted once",
          "[unit]") {
  const std::string step =
      R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 1, "tid": 1, "ts": 0, "dur": 50},)"
      R"({"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#3", "pid": 0, "tid": 7, "ts": 0, "dur": 50},)"
      R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 1, "tid": 1, "ts": 50, "dur": 50},)";
  const std::string events = kernel("b", 30, 10) + "," + kernel("a", 0, 20) + "," +
                             kernel("a", 10, 5) + "," + kernel("c", 15, 10) + "," +
                             kernel("a", 100, 10, 1);
  for (const bool bare : {false, true}) {
    for (const bool compressed : {false, true}) {
      const Scratch scratch(bare ? "[" + step + events + "]" : trace(step + events), compressed);
      const auto profile =
          calibrate::read_kernel_profile(scratch.file(), calibrate::format_of(scratch.file()));
      CHECK(profile.iterations == 2);
      CHECK(profile.gpus == 2);
      CHECK(profile.busy.si() == Approx(45e-6));  // 0 to 25 and 30 to 40; 10 of the other GPU
      CHECK(profile.span.si() == Approx(50e-6));
      REQUIRE(profile.kernels.size() == 3);
      CHECK(profile.kernels[0].name == "a");
      CHECK(profile.kernels[0].runs == 3);
      CHECK(profile.kernels[0].seconds == Approx(35e-6));
    }
  }
}

TEST_CASE("A kernel's name tells the operators whose time it is", "[unit]") {
  // Names as PyTorch, vLLM, TensorRT-LLM, FlashAttention, FlashInfer, cuBLAS, NCCL and DeepEP give them.
  const std::pair<const char*, const char*> kinds[] = {
      {"volta_sgemm_128x32_nt", "gemm"},
      {"nvjet_tst_128x64_64x6_2x1_v_bz_TNT", "gemm"},
      {"void "
       "cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x1_tn_align8>",
       "gemm"},
      {"std::enable_if<!T7, void>::type internal::gemvx::kernel<int, int, __nv_bfloat16>", "gemm"},
      {"void cublasLt::splitKreduce_kernel<(int)32, (int)16, int, __nv_bfloat16>", "gemm"},
      {"void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<(int)128>>",
       "attention"},
      {"void flash::compute_attn_ws<Flash_fwd_kernel_traits<192, 128, 128, 12, 2, false, 1>>",
       "attention"},
      {"void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90>>", "attention"},
      {"fmhaSm100aKernel_QkvBfloat16OBfloat16H128PagedKvCausal", "attention"},
      {"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>", "elementwise"},
      {"std::enable_if<true, void>::type vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>",
       "elementwise"},
      {"void vllm::act_and_mul_kernel<c10::BFloat16>", "elementwise"},
      {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>", "collective"},
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "collective"},
      {"void deep_ep::internode_ll::dispatch<false, 3, 10, 7168>", "collective"},
      {"fused_moe_kernel", "moe"},
      {"void vllm::moe::moe_align_block_size_kernel<int>", "moe"},
      {"_chunk_scan_fwd_kernel", "recurrence"},
      {"_selective_scan_update_kernel", "recurrence"},
      {"Memcpy HtoD (Pageable -> Device)", "copy"},
      {"burn(float *, int, int)", "other"},
  };
  for (const auto& [name, kind] : kinds) {
    INFO(name);
    CHECK(calibrate::kernel_kind(name) == kind);
  }
}

TEST_CASE("What is wrong with a log is said with its file, and its line where it has one",
          "[unit]") {
  CHECK(has(refused(R"({"completed": 0, "mean_ttft_ms": 1.0})"), "no request was completed"));
  CHECK(has(refused(R"({"completed": 3, "mean_ttft_ms": "soon"})"),
            "mean_ttft_ms: expects a number"));
  CHECK(has(refused(R"({"completed": 3, "mean_ttft_ms": 0})"), "nothing was measured"));
  CHECK(has(refused(R"({"completed": 3, "mean_ttft_ms": null})"), "none of the metrics"));
  CHECK(has(refused("{\"completed\": 3,\n \"mean_ttft_ms\": }"), ":2: error: no JSON at column"));
  CHECK(has(refused("{\"completed\": 3,\n \"mean_ttft_ms\": 1"), "the file is cut off"));
  CHECK(has(refused("{\"mean_ttft_ms\": 1}\n{\"mean_ttft_ms\": 1"), ":2: error: the JSON ends"));
  CHECK(has(refused("= PERFORMANCE OVERVIEW\nRequest Throughput (req/sec):  <value>\n"),
            ":2: error: Request Throughput (req/sec): expects a number"));
  CHECK(has(refused("= PERFORMANCE OVERVIEW\n"), "none of the metrics"));
  CHECK(has(refused("# size count type redop root time algbw busbw\n"), "no line with a size"));
  CHECK(has(refused("# time algbw busbw\n 1024 256 float sum -1 12.0\n"),
            ":2: error: expects size, count"));
  CHECK(
      has(refused("# time algbw busbw\n 1024 256 float sum -1 N/A 1.0 1.0 0\n"), "are no numbers"));
  CHECK(has(refused("# time algbw busbw\n 1024 256 float none -1 12.0 0.10 0.09 0\n"),
            "which collective"));
  CHECK(
      has(refused("all_reduce_perf\n# time algbw busbw\n 1024 256 float sum -1 12.0 0.09 0.1 0\n"),
          "lists no ranks"));
  CHECK(has(refused("all_reduce_perf all_gather_perf\n# time algbw busbw\n"
                    " 1024 256 float sum -1 12.0 9.00 9.9 0\n"),
            "more than one collective"));
  CHECK(has(refused("Total Time (ns),Instances,Name\nx,1,a\n"), "is no number"));
  CHECK(has(refused("Total Time (ns),Instances,Range\n5,1,a\n"), "Name"));
  CHECK(has(refused("Total Time (ns),Instances,Name\n"), "no kernel of a GPU"));
  CHECK(has(refused("Start (ns),Duration (ns),Name\nx,1,a\n"), "is no number"));
  CHECK(has(refused("Start (ns),Duration (ns),Name\n"), "no kernel of a GPU"));
  const std::string counters =
      "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
  CHECK(
      has(refused(counters + "0,a,Duration,cycle,5\n"), "expects a duration, in ns, us, ms or s"));
  CHECK(has(refused(counters + "0,a,Threads,thread,5\n"), "no kernel has a duration"));
  CHECK(has(refused(trace("")), "no kernel of a GPU"));
  CHECK(has(refused(trace(kernel("a", 0, 1) + ",]")), "no JSON at byte"));
  CHECK(has(refused(trace(R"({"ph": "X", "cat": "kernel", "name": "a", "dur": 1})")),
            "ts or dur is no number"));
}

TEST_CASE("A log that is cut off anywhere is read as far as it goes, or refused by name",
          "[unit]") {
  for (const char* name : {"vllm_result.json", "sglang_output.txt", "trtllm_engine.txt",
                           "nccl_all_reduce_16.txt", "nsys_kernels.csv", "kineto_trace.json"}) {
    const std::string text = base::read_text(measured_log(name));
    const std::size_t step = std::max<std::size_t>(text.size() / 60, 1);
    std::size_t refusals = 0;
    const Scratch scratch("");
    for (std::size_t size = 0; size < text.size(); size += step) {
      scratch.write(text.substr(0, size));
      try {
        read_any(scratch.file());
      } catch (const base::InputError& error) {
        INFO(error.what());
        CHECK(std::string_view(error.what()).starts_with(scratch.file().string() + ":"));
        ++refusals;
      }
    }
    INFO(name);
    CHECK(refusals > 0);
    const bool json = std::string_view(name).ends_with(".json");
    CHECK((!json || refusals == (text.size() + step - 1) / step));
  }
}

TEST_CASE("A compressed trace that is cut off is refused", "[unit]") {
  std::string events;
  for (int i = 0; i < 4000; ++i) {
    events += kernel(fmt::format("kernel_{}", i * 7919 % 4001), i, 0.5) + ",";
  }
  const Scratch scratch(trace(events + kernel("last", 5000, 1)), true);
  CHECK(calibrate::read_kernel_profile(scratch.file(), LogFormat::kernel_trace).kernels.size() ==
        4001);
  fs::resize_file(scratch.file(), fs::file_size(scratch.file()) / 2);
  CHECK_THROWS_AS(calibrate::read_kernel_profile(scratch.file(), LogFormat::kernel_trace),
                  base::InputError);
}

}  // namespace roofcast::unit_calibrate_measured_logs
