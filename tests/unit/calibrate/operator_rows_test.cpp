// SPDX-License-Identifier: Apache-2.0
#include "calibrate/operators/operator_rows.hpp"

#include "calibrate/operators/expert_load.hpp"
#include "calibrate/operators/predict.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::unit_calibrate_operator_rows {

using calibrate::MeasuredOperator;
using calibrate::OperatorRows;

namespace {

MeasuredOperator first_row(const std::string& kind, const std::string& text) {
  const base::CsvTable table = base::parse_csv(text, kind);
  return OperatorRows(kind, table).row(0);
}

}  // namespace

TEST_CASE("A quantised GEMM row is the quantising kernels and the GEMM", "[unit]") {
  const std::string header = "system,fw,gemm_dtype,m,n,k,latency_ms\n";
  const auto row = [&](const std::string& stack, const std::string& dtype) {
    return first_row("gemm", header + "h100_sxm," + stack + "," + dtype + ",8,512,1024,0.02\n");
  };
  const auto count = [&](const std::string& stack, const std::string& dtype) {
    return row(stack, dtype).operators.size();
  };
  CHECK(count("vllm", "bfloat16") == 1);
  CHECK(count("trtllm", "int4_wo") == 1);    // multiplied in bf16: nothing to quantise
  CHECK(count("trtllm", "fp8") == 5);        // two kernels for the scale, amax, scale, GEMM
  CHECK(count("vllm", "fp8") == 2);          // amax and scale at the cost of one kernel, GEMM
  CHECK(count("trtllm", "fp8_block") == 2);  // one pass for amax and scale of a block, GEMM
  CHECK(count("vllm", "nvfp4") == 2);
  CHECK(row("vllm", "fp8").overhead_s == Approx(8 * 7e-9));
  CHECK(row("trtllm", "fp8").overhead_s == 0.0);
  CHECK(row("trtllm", "int4_wo").overhead_s == Approx(6e-6));
  CHECK(count("vllm", "fp8_block") == 2);
}

TEST_CASE("Weights of a GEMM row stay in the L2 as far as its loop lets them", "[unit]") {
  const auto gemm = [](const std::string& stack, const std::string& dtype) {
    const auto row = first_row("gemm", "system,fw,gemm_dtype,m,n,k,latency_ms\nb200_sxm," + stack +
                                           "," + dtype + ",8,512,1024,0.02\n");
    return std::get<workloads::Gemm>(row.operators.back());
  };
  CHECK(gemm("trtllm", "nvfp4").copies == 5);
  CHECK(gemm("vllm", "fp8").copies == 6);
  CHECK(gemm("vllm", "nvfp4").copies == 1);
  CHECK(gemm("vllm", "fp8_block").copies == 1);
  CHECK(gemm("trtllm", "int8_wo").copies == 0);  // one run
}

// SmoothQuant: both operands in int8, the layer that quantises is not timed.
TEST_CASE("A row of SmoothQuant is one GEMM in int8", "[unit]") {
  const auto row = first_row(
      "gemm", "system,fw,gemm_dtype,m,n,k,latency_ms\na100_sxm,trtllm,sq,8,512,1024,0.02\n");
  CHECK(row.operators.size() == 1);
  CHECK(std::get<workloads::Gemm>(row.operators.at(0)) ==
        workloads::Gemm{8, 512, 1024, 1, base::NumberFormat::int8, base::NumberFormat::int8});
  CHECK(row.overhead_s == Approx(6e-6));
}

TEST_CASE("A small row launched by the host takes the host's time, a large one the kernels'",
          "[unit]") {
  const auto row = [](const std::string& kernel, const std::string& m) {
    return first_row("gemm", "system,fw,kernel_source,gemm_dtype,m,n,k,latency_ms\nh200_sxm,vllm," +
                                 kernel + ",fp8_block," + m + ",4096,4096,0.1\n");
  };
  models::Machine hopper = laws::platform("hgx_h200").machine;
  hopper.calibration.eager_launch = 20.0 * base::microsecond;
  const auto time = [&](const std::string& kernel, const std::string& m) {
    return calibrate::predicted_s(row(kernel, m), hopper);
  };
  const std::string deepgemm = "DeepGemmFp8BlockScaledMMKernel";
  CHECK(time("FlashInferFp8BlockScaledMMKernel", "8") == Approx(3 * 20e-6));
  CHECK(time(deepgemm, "64") == Approx(4.1 * 20e-6));
  CHECK(time("vllm_default", "8") == time("FlashInferFp8BlockScaledMMKernel", "8"));
  CHECK(time("vllm_default", "64") == time(deepgemm, "64"));
  CHECK(time(deepgemm, "65") > time(deepgemm, "64"));  // scales are padded to four rows
  CHECK(time(deepgemm, "32768") > 500e-6);
  models::Machine blackwell = laws::platform("hgx_b200").machine;
  blackwell.calibration.eager_launch = hopper.calibration.eager_launch;
  CHECK(calibrate::predicted_s(row(deepgemm, "64"), blackwell) > 2.0 * time(deepgemm, "64"));
}

TEST_CASE("A row's latency is read in seconds and its shape as it stands", "[unit]") {
  const auto row = first_row(
      "gemm", "system,fw,gemm_dtype,m,n,k,latency_ms\nh200_sxm,trtllm,bfloat16,3,5,7,0.25\n");
  CHECK(row.reason.empty());
  CHECK(row.chip == "h200_sxm");
  CHECK(row.stack == "trtllm");
  CHECK(row.measured_s == Approx(0.25e-3));
  CHECK(std::get<workloads::Gemm>(row.operators.at(0)) ==
        workloads::Gemm{3, 5, 7, 1, base::NumberFormat::bf16, base::NumberFormat::bf16, 5});
}

TEST_CASE("The context of a decode row is what is cached", "[unit]") {
  const auto row =
      first_row("attention_generation",
                "system,fw,kv_cache_dtype,batch_size,isl,kv_len_minus_isl,num_heads,num_key_value_"
                "heads,head_dim,"
                "window_size,latency_ms\nb200_sxm,vllm,fp8,4,100,28,32,8,128,0,0.01\n");
  const auto& op = std::get<workloads::DecodeAttention>(row.operators.at(0));
  CHECK(op.context == 128);
  CHECK(op.heads.cache == base::NumberFormat::fp8);
  CHECK(op.heads.cache_elements == 2 * 8 * 128);
}

TEST_CASE(
    "Prefill rows of TensorRT-LLM include rotating the queries and writing the cache, and a "
    "step of decode is repeated",
    "[unit]") {
  const auto row = [](const std::string& fw, const std::string& isl = "100") {
    return first_row("attention_context",
                     "system,fw,kv_cache_dtype,batch_size,isl,prefix_len,num_heads,num_key_value_"
                     "heads,head_dim,window_size,latency_ms\nh100_sxm," +
                         fw + ",fp8,2," + isl + ",0,32,8,128,0,0.01\n");
  };
  CHECK(row("vllm").operators.size() == 1);
  CHECK(std::get<workloads::DecodeAttention>(row("vllm", "1").operators.at(0)).context == 1);
  // 200 tokens: 32·128 elements of queries, 2·8·128 of keys and values.
  CHECK(std::get<workloads::Elementwise>(row("trtllm").operators.at(0)) ==
        workloads::Elementwise{200.0 * (4096 + 2048) * 2, 200.0 * (4096 * 2 + 2048), 0.0});
  const auto decode = first_row("mla_generation",
                                "system,fw,kv_cache_dtype,batch_size,isl,step,num_heads,latency_ms"
                                "\nh100_sxm,trtllm,bfloat16,2,1,99,16,0.01\n");
  CHECK(std::get<workloads::DecodeAttention>(decode.operators.at(0)).repeated);
}

// 4 prompts of 100 on 16 heads: latents of 512 become keys of 128 and values of 128 a head, both then 192 wide.
TEST_CASE("MLA rows of vLLM are launched by the host, with the projections around attention",
          "[unit]") {
  const auto row = [](const std::string& kind, const std::string& stack) {
    return first_row(kind,
                     "system,fw,kv_cache_dtype,batch_size,isl,step,num_heads,latency_ms\n"
                     "h100_sxm," +
                         stack + ",bfloat16,4,100,0,16,0.3\n");
  };
  const auto prefill = row("mla_context", "vllm");
  CHECK(prefill.host.launches == 7.0);
  CHECK(std::get<workloads::Gemm>(prefill.operators.at(1)).n == 16 * 256);
  CHECK(std::get<workloads::PrefillAttention>(prefill.operators.back()).heads.value_dim == 192);
  const auto decode = row("mla_generation", "vllm");
  CHECK(decode.host.launches == 8.0);
  CHECK(std::get<workloads::Gemm>(decode.operators.front()).batch == 16);
  CHECK(std::get<workloads::Gemm>(decode.operators.back()).k == 512);
  CHECK(row("mla_generation", "trtllm").operators.size() == 1);
  CHECK(row("mla_context", "trtllm").host.launches == 0.0);
}

TEST_CASE("MLA's prompts are quantised for an fp8 cache where the chip multiplies fp8", "[unit]") {
  const auto count = [](const std::string& chip) {
    return first_row("mla_context",
                     "system,fw,kv_cache_dtype,batch_size,isl,step,num_heads,latency_ms\n" + chip +
                         ",trtllm,fp8,4,100,0,16,0.3\n")
        .operators.size();
  };
  CHECK(count("h100_sxm") == 3);
  CHECK(count("a100_sxm") == 2);
}

TEST_CASE("A balanced expert row hits as many experts as its rows reach, a skewed one fewer",
          "[unit]") {
  const std::string header =
      "system,fw,moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_"
      "size,"
      "distribution,latency_ms\n";
  const auto distinct = [&](const std::string& tokens, const std::string& distribution) {
    const auto row = first_row("moe", header + "h100_sxm,vllm,bfloat16," + tokens +
                                          ",4096,1536,8,128,1,4," + distribution + ",0.1\n");
    return std::get<workloads::GroupedGemm>(row.operators.at(1)).distinct;
  };
  CHECK(distinct("2", "balanced") == Approx(4.0));    // 2 tokens x 8 experts over 4 ranks
  CHECK(distinct("64", "balanced") == Approx(32.0));  // every expert of the rank
  CHECK(distinct("64", "power_law_1.2") < 31.0);
}

TEST_CASE("Experts that a server runs otherwise are second choices, and untuned ones fit nothing",
          "[unit]") {
  struct Choice {
    bool second;
    bool untuned;
    bool operator==(const Choice&) const = default;
  };
  const auto choice = [&](const std::string& chip, const std::string& kernel,
                          const std::string& format) {
    const auto row = first_row(
        "moe",
        "system,fw,kernel_source,moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,"
        "moe_tp_size,moe_ep_size,distribution,latency_ms\n" +
            chip + ",vllm," + kernel + "," + format + ",16,4096,1536,8,128,1,1,balanced,0.1\n");
    return Choice{std::get<workloads::GroupedGemm>(row.operators.at(1)).alternative_kernel,
                  row.untuned};
  };
  const std::string cutlass = "vllm_modeloptfp8moe_flashinfer_cutlass_flashinferexperts";
  const std::string marlin = "vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts";
  CHECK(choice("h100_sxm", cutlass, "fp8") == Choice{true, true});
  CHECK(choice("b200_sxm", cutlass, "fp8") == Choice{true, true});
  CHECK(choice("h100_sxm", "vllm_fp8moe_flashinfer_cutlass_flashinferexperts", "fp8_block") ==
        Choice{false, false});
  CHECK(choice("h200_sxm", marlin, "w4a16_mxfp4") == Choice{true, true});
  CHECK(choice("l40s", "vllm_gptossmxfp4moe_marlin_marlinexperts", "w4a16_mxfp4") ==
        Choice{false, true});
  CHECK(choice("h200_sxm", "vllm_compressedtensorswna16marlinmoe_marlin_marlinexperts",
               "int4_wo") == Choice{false, true});
}

TEST_CASE("An all-reduce launched by the host waits for it, and copies its input first", "[unit]") {
  const auto all_reduce = [&](const std::string& source) {
    return first_row("custom_allreduce",
                     "system,fw,kernel_source,num_gpus,message_bytes,latency_ms\nh100_sxm,vllm," +
                         source + ",8,512,0.02\n");
  };
  const auto eager = all_reduce("vLLM_custom_eager");
  CHECK(eager.host.launches == 1.0);
  CHECK(std::get<workloads::Elementwise>(eager.operators.at(0)) ==
        workloads::Elementwise{512.0, 512.0, 0.0});
  CHECK(std::get<workloads::Collective>(eager.operators.at(1)).custom ==
        workloads::AllReduceKernels::barriers);
  const auto graph = all_reduce("TRTLLM");
  CHECK(graph.host.launches == 0.0);
  CHECK(std::get<workloads::Collective>(graph.operators.at(0)).custom ==
        workloads::AllReduceKernels::flags);
}

TEST_CASE("What the models do not know is a reason, not a number", "[unit]") {
  const std::string gemm = "system,fw,gemm_dtype,m,n,k,latency_ms\n";
  CHECK(first_row("gemm", gemm + "h100_sxm,vllm,ternary,8,512,1024,0.02\n").reason ==
        "number format ternary is not modelled");
  CHECK(first_row("gemm", gemm + "h100_sxm,vllm,bfloat16,8,512,1024,\n").reason ==
        "no measured latency");
  CHECK(first_row(
            "nccl",
            "system,fw,op_name,num_gpus,message_bytes,latency_ms\nh100_sxm,nccl,gossip,8,512,1\n")
            .reason == "collective gossip is not modelled");
}

// Rows of one kernel each: Nemotron 3 Super's 128 heads of 64, 8 groups of state 128: 10 240 channels.
TEST_CASE("Kernels of recurrent layers become the operators that layers are made of", "[unit]") {
  const auto mamba = [](const std::string& kernel, const std::string& tokens) {
    return first_row(
        "mamba2",
        "system,fw,kernel_source,batch_size,seq_len,d_state,d_conv,nheads,head_dim,n_groups,"
        "chunk_size,latency_ms\nb200_sxm,trtllm," +
            kernel + ",2," + tokens + ",128,4,128,64,8,128,0.1\n");
  };
  const workloads::RecurrentHeads super{workloads::Recurrence::ssm, 128, 8, 128, 64,
                                        base::NumberFormat::fp32};
  CHECK(mamba("mamba_chunk_scan_combined", "4096").operators.at(0) ==
        workloads::Operator(workloads::StateScan{super, 2, 4096, 128}));
  const auto stirred = [&](const std::string& tokens) {
    return std::get<workloads::Elementwise>(mamba("causal_conv1d_fn", tokens).operators.at(0));
  };
  CHECK(stirred("4096").read_bytes == 2.0 * 10240 * (2 * 4096 + 2 * 3));
  CHECK(stirred("4096").flop == 8.0 * 10240 * 2 * 4096);
  CHECK(stirred("4096").repeated_bytes == stirred("4096").read_bytes);  // written in place
  CHECK(stirred("1").flop == 8.0 * 10240 * 2 * 704);
  const auto delta = [](const std::string& stack, const std::string& kernel) {
    return first_row("gdn",
                     "system,fw,kernel_source,batch_size,seq_len,d_conv,num_k_heads,head_k_dim,"
                     "num_v_heads,head_v_dim,latency_ms\nl40s," +
                         stack + "," + kernel + ",2,100,4,16,128,32,128,0.1\n")
        .operators.at(0);
  };
  const workloads::RecurrentHeads heads{workloads::Recurrence::delta, 32, 16, 128, 128,
                                        base::NumberFormat::fp32};
  CHECK(delta("vllm", "fused_recurrent_gated_delta_rule_packed_decode") ==
        workloads::Operator(workloads::StateUpdate{heads, 2, 1, true, false}));
  CHECK(delta("trtllm", "fused_recurrent_gated_delta_rule") ==
        workloads::Operator(workloads::StateUpdate{heads, 2, 1, true, true}));
  const auto out = std::get<workloads::Elementwise>(delta("vllm", "causal_conv1d_fn"));
  CHECK(out.repeated_bytes == out.read_bytes + 2.0 * 200 * 8192);
  const auto over = std::get<workloads::Elementwise>(delta("vllm", "causal_conv1d_update"));
  CHECK(over.repeated_bytes == over.read_bytes);
  CHECK(mamba("mystery", "1").reason == "kernel mystery is not modelled");
}

// 4 tokens of 1024 to 8 of 16 ranks: dispatched in fp8, combined in bf16; microseconds add up.
TEST_CASE("A row of DeepEP is a dispatch and a combine", "[unit]") {
  const auto row =
      first_row("deepep_ll",
                "system,fw,node_num,hidden_size,num_token,num_topk,num_experts,dispatch_avg_t_us,"
                "combine_avg_t_us\nh100_sxm,sglang,2,1024,4,8,64,20,30\n");
  CHECK(row.measured_s == Approx(50e-6));
  const auto& dispatch = std::get<workloads::Collective>(row.operators.at(0));
  const auto& combine = std::get<workloads::Collective>(row.operators.at(2));
  CHECK(dispatch.bytes == 4.0 * 8 * 1024);
  CHECK(combine.bytes == 2.0 * dispatch.bytes);
  CHECK(dispatch.ranks == 16);
  CHECK(std::get<workloads::Elementwise>(row.operators.at(3)) ==  // eight rows become one
        workloads::Elementwise{combine.bytes, combine.bytes / 8.0, 0.0});
  CHECK(!dispatch.deduplicated);
}

TEST_CASE("A row of DeepEP's normal mode knows its rows and the SMs of its kernels", "[unit]") {
  const auto row = first_row(
      "deepep_normal",
      "system,fw,node_num,hidden_size,num_token,num_topk,num_experts,dispatch_sms,"
      "dispatch_transmit_us,dispatch_notify_us,combine_sms,combine_transmit_us,combine_notify_us\n"
      "h100_sxm,sglang,1,1024,4,8,64,12,20,1,16,30,2\n");
  CHECK(row.reason.empty());
  CHECK(row.measured_s == Approx(53e-6));
  const auto& dispatch = std::get<workloads::Collective>(row.operators.at(0));
  CHECK(dispatch.deduplicated);
  CHECK(dispatch.rows == 4.0);
  CHECK(dispatch.sms == 12);
  CHECK(std::get<workloads::Collective>(row.operators.at(1)).sms == 16);
}

// 100 tokens of 1024 to 8 experts on 4 ranks: 400 rows, 800 places of a token to sum or unpack.
TEST_CASE("TensorRT-LLM's exchange is prepared, dispatched and combined, each a row", "[unit]") {
  const auto row = [](const std::string& name, const std::string& kernel = "NVLinkTwoSided") {
    return first_row("trtllm_alltoall",
                     "system,fw,op_name,kernel_source,moe_dtype,num_tokens,hidden_size,topk,"
                     "moe_ep_size,latency_ms\ngb200,trtllm," +
                         name + "," + kernel + ",nvfp4,100,1024,8,4,0.02\n");
  };
  const auto bytes = [](const MeasuredOperator& measured) {
    return std::get<workloads::Collective>(measured.operators.at(0)).bytes;
  };
  CHECK(bytes(row("alltoall_dispatch")) == Approx(400 * 1024 * 0.5625));
  CHECK(bytes(row("alltoall_combine")) == 400 * 1024 * 2.0);
  const auto packed = row("alltoall_combine_low_precision");
  CHECK(bytes(packed) == Approx(400 * 1024 * 0.5625));
  CHECK(std::get<workloads::Elementwise>(packed.operators.at(1)).flop == 12.0 * 800 * 1024);
  const auto summed = row("alltoall_combine");
  CHECK(std::get<workloads::Elementwise>(summed.operators.at(1)).flop == 4.0 * 800 * 1024);
  CHECK(std::get<workloads::Collective>(summed.operators.at(0)).staged);
  const auto one_sided = row("alltoall_combine", "NVLinkOneSided");
  CHECK(one_sided.operators.size() == 1);
  CHECK_FALSE(std::get<workloads::Collective>(one_sided.operators.at(0)).staged);
  const auto prepared = row("alltoall_prepare");
  CHECK(prepared.overhead_s == Approx(100 * 7e-9));
  CHECK(bytes(prepared) == 4 * 4.0);  // a count for each rank
  CHECK(row("alltoall_gossip").reason == "alltoall_gossip is not modelled");
}

TEST_CASE("The busiest rank under a power law has more pairs than its share", "[unit]") {
  const calibrate::RoutedTokens routed{4096, 8, 256, 32};
  calibrate::ExpertLoads loads;
  const auto even = loads.of(routed, "balanced");
  CHECK(even.pairs == 1024.0);
  CHECK(even.distinct == 8.0);
  const auto skewed = loads.of(routed, "power_law_1.2");
  CHECK(skewed.pairs > 2.0 * even.pairs);
  CHECK(skewed.pairs > loads.of(routed, "power_law_1.01").pairs);
  const auto alone = loads.of({4096, 8, 256, 1}, "power_law_1.2");
  CHECK(alone.pairs == 32768.0);
  CHECK(loads.of({64, 8, 256, 1}, "balanced").distinct == 256.0);
  CHECK(loads.of({64, 8, 256, 1}, "power_law_1.2").distinct < 200.0);
}

TEST_CASE("Few tokens under a power law are dealt to ranks in turn, an expert each", "[unit]") {
  calibrate::ExpertLoads loads;
  CHECK(loads.of({1, 8, 256, 1}, "power_law_1.2").distinct == 8.0);
  CHECK(loads.of({1, 8, 256, 4}, "power_law_1.2").pairs == 2.0);
  CHECK(loads.of({1, 8, 256, 64}, "power_law_1.2").pairs == 1.0);
}

TEST_CASE("Balanced routing is strided, and the first rank always has the first token", "[unit]") {
  calibrate::ExpertLoads loads;
  CHECK(loads.of({1, 1, 16, 16}, "balanced").pairs == 1.0);
  CHECK(loads.of({8, 1, 16, 16}, "balanced").pairs == 1.0);
  CHECK(loads.of({16, 22, 512, 1}, "balanced").distinct == 347.0);  // 22 strides of 24 overlap
  CHECK(loads.of({16, 22, 512, 8}, "balanced").pairs == 53.0);
  CHECK(loads.of({64, 8, 256, 8}, "balanced").distinct == 32.0);
}

TEST_CASE("A kernel that keeps half the groups gives the lost choices to the first experts",
          "[unit]") {
  calibrate::ExpertLoads loads;
  const auto pairs = [&](std::int64_t tokens, std::int64_t ranks) {
    return loads.of({tokens, 8, 256, ranks, 8, 4}, "balanced").pairs;
  };
  CHECK(pairs(4096, 1) == 8.0 * 4096);  // no choice is lost as a whole
  CHECK(pairs(4096, 8) ==
        5.0 * 4096);  // the first group: one choice, and four in place of lost ones
  CHECK(pairs(4096, 128) == 2.0 * 4096);  // the first two experts have every token
  CHECK(pairs(8, 8) == 5.0 * 8);
  CHECK(loads.of({4096, 8, 256, 8}, "balanced").pairs == 4096.0);
}

TEST_CASE("Query heads that are no multiple of the KV heads have a reason and no forecast",
          "[unit]") {
  const auto reason = [](int heads, int kv_heads) {
    return first_row("attention_generation",
                     "system,fw,kv_cache_dtype,batch_size,isl,kv_len_minus_isl,num_heads,"
                     "num_key_value_heads,head_dim,window_size,latency_ms\nh100_sxm,vllm,bfloat16,"
                     "8,1,1024," +
                         std::to_string(heads) + "," + std::to_string(kv_heads) + ",128,0,0.05\n")
        .reason;
  };
  CHECK(reason(32, 8).empty());
  CHECK(reason(4, 8) == "num_heads is no multiple of num_key_value_heads");
  CHECK(reason(30, 8) == "num_heads is no multiple of num_key_value_heads");
}

TEST_CASE("A word of a column that nobody knows is a reason against the row", "[unit]") {
  const auto collective = [](const std::string& ranks, const std::string& dtype) {
    return first_row("nccl",
                     "system,fw,op_name,nccl_dtype,num_gpus,message_bytes,latency_ms\n"
                     "h100_sxm,nccl,all_reduce," +
                         dtype + "," + ranks + ",1048576,0.05\n")
        .reason;
  };
  CHECK(collective("8", "half").empty());
  CHECK(collective("8", "zz") == "nccl_dtype is none that is known: \"zz\"");
  CHECK(collective("1", "half") == "num_gpus is not a whole number from 2 to 100000000");
  const auto experts = [](const std::string& distribution) {
    return first_row("moe",
                     "system,fw,moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,"
                     "moe_tp_size,moe_ep_size,distribution,latency_ms\nh100_sxm,vllm,bfloat16,16,"
                     "4096,1536,8,128,1,1," +
                         distribution + ",0.1\n")
        .reason;
  };
  for (const char* known : {"balanced", "power_law_1.01", "power_law_1.2"}) {
    CHECK(experts(known).empty());
  }
  for (const char* unknown : {"zipf", "", "uniform", "power_law_", "power_law_1", "power_law_3"}) {
    CHECK(experts(unknown) == "distribution \"" + std::string(unknown) + "\" is not modelled");
  }
}

TEST_CASE("A collective over a network has the errors of networks", "[unit]") {
  calibrate::ChipPlatforms platforms;
  const models::Machine& machine = platforms.find("h100_sxm", "vllm")->machine;
  const auto kind = [&](int ranks) {
    const auto row = first_row("nccl",
                               "system,fw,op_name,num_gpus,message_bytes,latency_ms\n"
                               "h100_sxm,nccl,all_reduce," +
                                   std::to_string(ranks) + ",1048576,0.05\n");
    return calibrate::error_kind(row, "nccl", machine);
  };
  CHECK(kind(8) == "nccl");
  CHECK(kind(128) == "nccl_hosts");
}

}  // namespace roofcast::unit_calibrate_operator_rows
