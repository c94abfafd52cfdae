// SPDX-License-Identifier: Apache-2.0
#include "calibrate/servers/serving_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "calibrate/platforms/held_back.hpp"
#include "calibrate/servers/deepseek_servers.hpp"
#include "sim/replay/simulation_summary.hpp"

namespace roofcast::calibrate {
namespace {

using Name = std::pair<std::string_view, std::string_view>;

// As the table names models; R1 is V3 and M2.5 is M2 trained further, with the same shapes.
constexpr Name kModels[] = {
    {"meta-llama/Llama-3.1-70B", "llama-3.1-70b"},
    {"meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"},
    {"nvidia/Llama-3.1-8B-Instruct-FP8", "llama-3.1-8b"},
    {"Qwen/Qwen3-32B", "qwen3-32b"},
    {"nvidia/Qwen3-32B-NVFP4", "qwen3-32b"},
    {"Qwen/Qwen3-235B-A22B-FP8", "qwen3-235b-a22b"},
    {"deepseek-ai/DeepSeek-V3", "deepseek-v3"},
    {"deepseek-ai/DeepSeek-R1", "deepseek-v3"},
    {"nvidia/DeepSeek-R1-NVFP4", "deepseek-v3"},
    {"openai/gpt-oss-120b", "gpt-oss-120b"},
    {"MiniMaxAI/MiniMax-M2.5", "minimax-m2"},
};

// InferenceX's settings where they are not the stack's; "" fits every precision and chip.
struct Setting {
  std::string_view stack, model, precision, chip;
  std::int64_t step_tokens;
  std::int64_t batch_wait_iterations;  // at 1024/1024 on fewer than eight GPUs
  double batch_wait_fill;
  std::int64_t receive_iterations;  // with 16 clients and more; with fewer, a third
  std::int64_t stream_interval;
};
constexpr Setting kSettings[] = {
    {"trtllm", "llama-3.1-70b", "", "", 16384, 20, 0.9, 1, 10},
    {"trtllm", "gpt-oss-120b", "", "", 20000, 0, 0.0, 1, 20},
    {"sglang", "deepseek-v3", "fp8_block", "b200_sxm", 32768, 0, 0.0, 30, 30},
    {"sglang", "deepseek-v3", "nvfp4", "b200_sxm", 16384, 0, 0.0, 30, 10},
    {"sglang", "deepseek-v3", "", "", 32768, 0, 0.0, 1, 10},
};

constexpr std::int64_t kRequestsPerClient = 10;
constexpr double kTritonOperators = 55.0;  // of a layer, fitted to gpt-oss on H200
constexpr double kLeastOfNominal = 0.8;    // InferenceX's lengths
constexpr double kMeanOfNominal = 0.5 * (kLeastOfNominal + 1.0);
constexpr double kVendorsVariation = 0.1;  // of answers
constexpr std::int64_t kLeastBudget =
    1024;  // tokens a step of the vendor's TensorRT-LLM, beside decodes

// Each number of tokens between two shares of the nominal one.
workloads::Lengths between(std::int64_t nominal, double least, double most) {
  const auto tokens = [&](double share) {
    return std::max<std::int64_t>(1, std::llround(share * static_cast<double>(nominal)));
  };
  workloads::Lengths lengths;
  lengths.shape = workloads::Lengths::Shape::uniform;
  lengths.least = tokens(least);
  lengths.most = tokens(most);
  return lengths;
}

bool is_llama_8b(const MeasuredServer& server) { return server.model == "llama-3.1-8b"; }

std::string_view find(std::span<const Name> names, std::string_view name) {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const Name& n) { return n.first == name; });
  return found == names.end() ? std::string_view() : found->second;
}

// One section of a scenario, read from its catalog entry with the assignments made to it.
template <class T, class ReadFunction>
const T* section(std::map<std::string, T>& cache, const std::string& text,
                 const std::vector<std::string>& assignments, ReadFunction read) {
  std::string key = text;
  for (const std::string& assignment : assignments) {
    key += '\n' + assignment;
  }
  auto found = cache.find(key);
  if (found == cache.end()) {
    base::Problems problems;
    base::Node document = base::parse_document("serving row", text);
    for (const std::string& assignment : assignments) {
      sim::set_knob(document, assignment, problems);
    }
    sim::load_references(document, problems);
    T value = read(document, problems);
    problems.throw_if_any();
    found = cache.emplace(key, std::move(value)).first;
  }
  return &found->second;
}

bool is_blackwell(std::string_view chip) {
  return chip == "b200_sxm" || chip == "gb200" || chip == "b300_sxm";
}

}  // namespace

ServingRows::ServingRows(const base::CsvTable& table, const std::string& calibration,
                         hardware::Measured measured)
    : table_(table),
      mode_(table.column("mode")),
      model_(table.column("model_path")),
      system_(table.column("system")),
      backend_(table.column("backend")),
      precision_(table.column("precision")),
      gemm_(table.column("gemm_quant_mode")),
      source_(table.column("source")),
      version_(table.column("backend_version")),
      tp_(table.column("tp_size")),
      pp_(table.column("pp_size")),
      attention_dp_(table.column("attention_dp_size")),
      moe_tp_(table.column("moe_tp_size")),
      moe_ep_(table.column("moe_ep_size")),
      isl_(table.column("isl")),
      osl_(table.column("osl")),
      concurrency_(table.column("concurrency")),
      batch_(table.column("batch_size")),
      ttft_(table.column("silicon_ttft_ms")),
      tpot_(table.column("silicon_tpot_ms")),
      platforms_(calibration, measured) {}

std::string_view ServingRows::text(std::size_t row, std::size_t column) const {
  return table_.cell(row, column);
}

std::int64_t ServingRows::count(std::size_t row, std::size_t column) const {
  return std::llround(base::parse_number(text(row, column)).value_or(0.0));
}

bool ServingRows::is_inferencex(std::size_t row) const {
  return text(row, source_).starts_with("inferencex");
}

void ServingRows::read_pools(std::size_t row, MeasuredServer& server) {
  if (!disaggregated_) {
    disaggregated_.emplace(table_);
  }
  const DisaggregatedServer known = disaggregated_->row(row);
  server.reason = known.reason;
  server.may_speculate = known.may_speculate;
  server.pools = known.pools;
  server.mapping = known.pools.decode.mapping;
  server.traffic.concurrency = known.concurrency;
}

void ServingRows::read_mapping(std::size_t row, MeasuredServer& server) const {
  const std::int64_t tp = count(row, tp_);
  const std::int64_t dp = std::max<std::int64_t>(1, count(row, attention_dp_));
  const std::int64_t moe_tp = std::max<std::int64_t>(1, count(row, moe_tp_));
  const std::int64_t moe_ep = std::max<std::int64_t>(1, count(row, moe_ep_));
  if (tp < 1) {
    server.reason = "parallel sizes are not recorded";
    return;
  }
  const bool is_moe = server.architecture->moe.experts > 0;
  std::int64_t width = is_moe ? std::max(tp * dp, moe_tp * moe_ep) : tp * dp;
  std::int64_t data = width / tp;
  std::int64_t experts = moe_ep;
  if (is_inferencex(row)) {
    if (tp == dp && dp > 1) {
      width = dp;
      experts = moe_ep / dp;
    } else if (moe_tp > 1) {
      width = moe_tp;
    }
    data = dp > 1 ? width : 1;
  } else if (is_moe && text(row, attention_dp_).empty() &&
             count(row, concurrency_) == width * count(row, batch_)) {
    data = width;
  }
  if (!std::has_single_bit(static_cast<std::uint64_t>(width))) {
    server.reason = "a disaggregated deployment recorded as one server";
    return;
  }
  workloads::Mapping& mapping = server.mapping;
  mapping.tensor_parallel = width / data;
  mapping.data_parallel = data;
  mapping.pipeline_parallel = std::max<std::int64_t>(1, count(row, pp_));
  mapping.expert_parallel = is_moe ? experts : 1;
}

void ServingRows::read_traffic(std::size_t row, MeasuredServer& server) const {
  const bool inferencex = is_inferencex(row);
  const std::int64_t input = count(row, isl_);
  const std::int64_t output = count(row, osl_);
  const auto mean = [&](std::int64_t nominal) {
    return std::llround((inferencex ? kMeanOfNominal : 1.0) * static_cast<double>(nominal));
  };
  server.traffic.input_tokens = mean(input);
  server.traffic.output_tokens = mean(output);
  if (!server.pools) {
    server.traffic.concurrency = count(row, concurrency_);
  }
  const std::int64_t of_one_replica = count(row, attention_dp_) * count(row, batch_);
  if (!inferencex && of_one_replica > 0) {
    server.traffic.concurrency = of_one_replica;
  }
  if (server.traffic.concurrency < 1) {
    server.reason = "the concurrency is not recorded";
  } else if (server.traffic.input_tokens < 1 || server.traffic.output_tokens < 1) {
    server.reason = "the lengths are not recorded";
  }
  const bool in_iteration = server.stack != "vllm" && !is_llama_8b(server);
  server.stream.input =
      inferencex ? between(input, kLeastOfNominal, 1.0) : between(input, 1.0, 1.0);
  server.stream.output = inferencex ? between(output, kLeastOfNominal, 1.0)
                         : in_iteration
                             ? between(output, 1.0, 1.0)
                             : between(output, 1.0 - kVendorsVariation, 1.0 + kVendorsVariation);
  if (!inferencex && server.stack == "vllm" && is_llama_8b(server)) {
    server.traffic.cached_tokens = input - 1;
    server.stream.cached_tokens = input - 1;
  }
  server.stream.concurrency = server.traffic.concurrency;
  server.stream.requests = kRequestsPerClient * server.traffic.concurrency;
}

void ServingRows::read_scheduler(std::size_t row, MeasuredServer& server) const {
  const std::int64_t clients = server.traffic.concurrency;
  if (!is_inferencex(row)) {
    if (server.stack == "trtllm") {
      workloads::SchedulerLimits& limits = server.serving.limits;
      limits.max_tokens_per_iteration = std::max(count(row, isl_), kLeastBudget) + clients;
      if (is_llama_8b(server) && clients > 1) {
        limits.max_sequences =
            std::min(limits.max_sequences,
                     std::max<std::int64_t>(1, clients / server.mapping.data_parallel - 1));
      }
    }
    return;
  }
  const auto fits = [](std::string_view wanted, std::string_view value) {
    return wanted.empty() || wanted == value;
  };
  const auto* setting =
      std::find_if(std::begin(kSettings), std::end(kSettings), [&](const Setting& each) {
        return each.stack == server.stack && each.model == server.model &&
               fits(each.precision, server.precision->id) && fits(each.chip, server.chip);
      });
  if (setting == std::end(kSettings)) {
    return;
  }
  workloads::SchedulerPolicy& policy = server.serving.policy;
  server.serving.limits.max_tokens_per_iteration = setting->step_tokens;
  const bool holds_back =
      count(row, isl_) == 1024 && count(row, osl_) == 1024 && server.mapping.ranks() < 8;
  if (holds_back) {
    policy.batch_wait_iterations = setting->batch_wait_iterations;
    policy.batch_wait_fill = setting->batch_wait_fill;
  }
  policy.stream_interval = setting->stream_interval;
  policy.receive_iterations =
      clients >= 16 ? setting->receive_iterations : (setting->receive_iterations + 2) / 3;
}

const workloads::Precision* ServingRows::precision_of(std::size_t row,
                                                      const MeasuredServer& server) {
  const std::string_view named = text(row, precision_);
  const std::string_view path = text(row, model_);
  const bool published = path.starts_with("Qwen/") && path.ends_with("-FP8");
  const bool blocks = server.model == "deepseek-v3" || server.model == "minimax-m2" || published ||
                      text(row, gemm_) == "fp8_block";
  const bool cache_is_bf16 = !is_inferencex(row) || (server.stack == "sglang" &&  //
                                                     server.chip == "h200_sxm");
  std::string id;
  if (server.model == "gpt-oss-120b") {
    id = is_blackwell(server.chip) ? "mxfp4_experts_fp8" : "mxfp4_experts";
  } else if (named.empty()) {
    id = "bf16";
  } else if (named == "fp8") {
    id = blocks ? "fp8_block" : "fp8";
  } else if (named == "fp4") {
    id = "nvfp4";
  } else {
    return nullptr;
  }
  std::vector<std::string> assignments;
  if ((id == "fp8_block" || id == "fp8") && cache_is_bf16) {
    assignments.emplace_back("precision.kv_cache=bf16");
  }
  return section(precisions_, "precision: " + id, assignments, sim::read_precision);
}

void ServingRows::read_serving(std::size_t row, MeasuredServer& server) {
  server.serving = *section(servings_, fmt::format("serving: {{stack: {}}}", server.stack), {},
                            sim::read_serving);
  read_engine(row, server);
}

// What an older release, or a setting, does otherwise than the stack as it is described.
void ServingRows::read_engine(std::size_t row, MeasuredServer& server) const {
  workloads::Stack& stack = server.serving.stack;
  const std::string_view version = text(row, version_);
  const bool is_llama = server.model == "llama-3.1-70b";
  const bool is_gpt_oss = server.model == "gpt-oss-120b";
  if (server.stack == "vllm") {
    stack.asynchronous = !is_llama && !version.starts_with("0.12.");
    stack.fused_norm = is_inferencex(row) && is_blackwell(server.chip) && (is_llama || is_gpt_oss);
    if (stack.fused_norm && server.mapping.tensor_parallel > 1) {
      stack.fused_quantise = workloads::QuantiseFusion::all;
    }
    // max-cudagraph-capture-size of benchmarks/single_node/gptoss_fp4_{b200,h200}.sh (SemiAnalysisAI/InferenceX@34bc7c4)
    stack.graph_tokens = is_inferencex(row) && is_gpt_oss ? 2048 : stack.graph_tokens;
  } else if (server.stack == "trtllm") {
    // Triton's kernels (moe_config of gptoss_fp4_h200_trt.sh @187f575), launched from Python.
    stack.expert_operators = is_gpt_oss && !is_blackwell(server.chip) ? kTritonOperators : 0.0;
    const bool old = (version.empty() && !server.pools) || version.starts_with("1.0.") ||
                     version.starts_with("1.1.");
    if (old && (!is_gpt_oss || (version.empty() && server.chip == "h200_sxm"))) {
      stack.hidden_launch = 0.0;
    }
    if (version.starts_with("1.0.")) {
      stack.fused_quantise = workloads::QuantiseFusion::none;
    }
  }
  if (server.pools) {
    stack.intake_overhead = {};
    stack.message_overhead = {};
  }
}

MeasuredServer ServingRows::row(std::size_t row) {
  MeasuredServer server;
  const std::string_view model = find(kModels, text(row, model_));
  const bool disaggregated = text(row, mode_) != "agg";
  server.platform = disaggregated ? platforms_.find_cluster(text(row, system_), text(row, backend_))
                                  : platforms_.find(text(row, system_), text(row, backend_));
  server.model = model.empty() ? text(row, model_) : model;
  server.chip = text(row, system_);
  server.stack = text(row, backend_);
  server.ttft_ms = base::parse_number(text(row, ttft_)).value_or(0.0);
  server.tpot_ms = base::parse_number(text(row, tpot_)).value_or(0.0);
  server.may_speculate = model == "deepseek-v3" && server.stack != "vllm";
  const auto stacks = base::catalog_ids(workloads::stack_catalog());
  if (model.empty()) {
    server.reason = fmt::format("{} is not in the catalog", server.model);
  } else if (server.platform == nullptr) {
    server.reason = fmt::format("no system with {} in the catalog", server.chip);
  } else if (std::find(stacks.begin(), stacks.end(), server.stack) == stacks.end()) {
    server.reason = fmt::format("the stack {} is not in the catalog", server.stack);
  } else if (!(server.ttft_ms > 0.0) || !(server.tpot_ms > 0.0)) {
    server.reason = "no measured TTFT or TPOT";
  }
  if (!server.reason.empty()) {
    return server;
  }
  server.architecture = section(models_, fmt::format("model: {}", model), {}, sim::read_model);
  server.precision = precision_of(row, server);
  if (server.precision == nullptr) {
    server.reason = fmt::format("the precision {} is not in the catalog", text(row, precision_));
    return server;
  }
  if (disaggregated) {
    read_pools(row, server);
  } else {
    read_mapping(row, server);
  }
  server.held_back =
      held_back(draw_of(fmt::format("{} {} {} {} {}", model, server.chip, server.stack,
                                    server.precision->id, server.mapping.ranks())));
  read_serving(row, server);
  if (server.reason.empty()) {
    read_traffic(row, server);
    if (!disaggregated) {
      read_scheduler(row, server);
      if (server.may_speculate && is_inferencex(row)) {
        configure_deepseek(server, text(row, version_));
        const Predicts known = predicts(server, text(row, version_));
        server.may_speculate = known == Predicts::perhaps;
        if (known == Predicts::yes) {
          server = speculating(server);
        }
      }
    } else if (is_inferencex(row)) {
      server.serving.router = workloads::Router::round_robin;
    }
  }
  return server;
}

ServerForecast forecast(const MeasuredServer& server, sim::Workspace& workspace) {
  ServerForecast result;
  result.reason = server.reason;
  result.explanation = server.reason;
  if (!server.reason.empty()) {
    return result;
  }
  const sim::ScenarioView scenario = server.scenario();
  const sim::ServingEstimate estimate = sim::estimate(scenario, workspace);
  result.provenance = hardware::name(estimate.provenance);
  result.reason = sim::reason_kind(estimate.infeasible);
  result.explanation = sim::reason(estimate);
  if (!estimate.fits()) {
    return result;
  }
  const sim::Simulation run =
      sim::simulate(scenario, workloads::draw_requests(server.stream), server.stream.concurrency);
  const sim::SimulationSummary summary = sim::summarise(run, 0, {});
  result.ttft_ms = summary.ttft.mean * 1e3;
  result.tpot_ms = summary.tpot.mean * 1e3;
  result.ttft_spread = estimate.spreads.ttft;
  result.tpot_spread = estimate.spreads.tpot;
  return result;
}

}  // namespace roofcast::calibrate
