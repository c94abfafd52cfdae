// SPDX-License-Identifier: Apache-2.0
//
// Mamba-2 and gated delta net: counted work, emitted operators, timed kernels.
#include <algorithm>

#include "calibrate/operators/operator_rows.hpp"
#include "calibrate/platforms/chip_platforms.hpp"
#include "models/footprint.hpp"
#include "models/operators/recurrence.hpp"
#include "models/work.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"
#include "tests/unit/models/round_machine.hpp"
#include "workloads/architecture/parameters.hpp"
#include "workloads/graph/graph.hpp"

namespace roofcast::unit_calibrate_recurrent {

using base::NumberFormat;
using workloads::Mixer;
using workloads::Recurrence;

namespace {

// Nemotron-H-8B cut to one layer of each kind: 128 heads of 64, state 128, 8 groups, kernel 4.
workloads::Architecture hybrid() {
  workloads::Architecture m = laws::model("llama-3.1-8b");
  m.mamba = {Recurrence::ssm, 128, 8, 128, 64, 4, 128};
  m.delta_net = {Recurrence::delta, 32, 16, 128, 128, 4, 64};
  m.layers = {{2, Mixer::mamba, workloads::Ffn::none, 0, 0, 0},
              {3, Mixer::delta_net, workloads::Ffn::none, 0, 0, 0},
              {1, Mixer::attention, workloads::Ffn::mlp, 8, 0, 14336}};
  return m;
}

const workloads::Call& find(const workloads::Graph& graph, std::string_view name) {
  const auto it = std::find_if(graph.begin(), graph.end(),
                               [&](const workloads::Call& c) { return c.name == name; });
  INFO(name);
  REQUIRE(it != graph.end());
  return *it;
}

workloads::Graph graph_of(const workloads::Architecture& m, const workloads::Mapping& mapping,
                          const workloads::Batch& batch) {
  workloads::Graph graph;
  workloads::build_graph(m, laws::precision("bf16"), mapping, {}, batch, graph);
  return graph;
}

}  // namespace

// One chunk of 4 tokens, 2 heads of 3 × 5 (value × key) in one group. Of the 10 causal pairs each costs
// 2·5 for C·B and, for both heads, 2·3 for its product with X; every token 2·15 a head to build the
// state and 2·15 to read it. Bytes: x and y 2·6, B and C 2·5, two steps, in bf16; two states of 30
// elements in fp32.
TEST_CASE("A state-space scan multiplies causal pairs within chunks and states between", "[unit]") {
  const workloads::StateScan one{{Recurrence::ssm, 2, 1, 5, 3, NumberFormat::fp32}, 1, 4, 4};
  const models::Work work = models::state_scan_work(one);
  CHECK(work.flop.si() == 10.0 * (2 * 5 + 2 * 2 * 3) + 4.0 * 2 * (2 * 15 + 2 * 15));
  CHECK(work.bytes.si() == 4.0 * (12 + 10 + 2) * 2.0 + 2.0 * 30 * 4.0);
  workloads::StateScan many = one;
  many.sequences = 3;
  many.tokens = 8;  // two chunks
  CHECK(models::state_scan_work(many).flop.si() == 6.0 * work.flop.si());
}

// The same chunk by the delta rule: pairs cost K·K, Q·K and T·K (2·5 each), T·V and A·U (2·3 each);
// tokens W·S, Q·S and the state (2·15 each); the inverse 4²/3 a token, all a head.
TEST_CASE("A delta-rule scan adds the triangular inverse and its two products", "[unit]") {
  const workloads::StateScan op{{Recurrence::delta, 2, 1, 5, 3, NumberFormat::bf16}, 1, 4, 4};
  const double pairs = 10.0 * (3 * 2 * 5 + 2 * 2 * 3);
  const double tokens = 4.0 * (3 * 2 * 15 + 16.0 / 3.0);
  CHECK(models::state_scan_work(op).flop.si() == Approx(2.0 * (pairs + tokens)));
  CHECK(models::state_scan_work(op).bytes.si() == 4.0 * (12 + 10 + 2) * 2.0 + 2.0 * 30 * 2.0);
}

// Nemotron 3 Super, a layer: 128 heads of 64 × 128 in fp32 are 4 194 304 B a sequence, read and written.
TEST_CASE("A decode iteration reads and writes the state and cares for no context", "[unit]") {
  const workloads::RecurrentHeads super{Recurrence::ssm, 128, 8, 128, 64, NumberFormat::fp32};
  const models::Work work = models::state_update_work({super, 10, 1});
  const double rows = (2 * 8192 + 2 * 1024 + 128) * 2.0;
  CHECK(work.bytes.si() == 10.0 * (2 * 4'194'304.0 + rows));
  CHECK(work.flop.si() == 10.0 * 6 * 1'048'576.0);
  // Each further token's state is kept until it is known how many are accepted.
  CHECK(models::state_update_work({super, 10, 4}).bytes.si() ==
        10.0 * (5 * 4'194'304.0 + 4 * rows));
}

// States of 4 194 304 B a sequence: two thirds of an L2 of 64 MB hold those of 10 sequences, which are read and written.
// Of those of 40 nothing is left.
TEST_CASE("States that a benchmark updates again and again are read from the L2 while they fit",
          "[unit]") {
  const workloads::RecurrentHeads super{Recurrence::ssm, 128, 8, 128, 64, NumberFormat::fp32};
  auto machine = models::round_machine();
  machine.l2 = base::BytesPerSecond::from_si(1.5e12);
  const auto cost = [&](std::int64_t sequences, bool repeated) {
    return models::state_update_cost({super, sequences, 1, repeated}, machine);
  };
  const base::Bytes all = models::state_update_work({super, 10, 1}).bytes;
  CHECK(cost(10, false).dram_bytes == all);
  CHECK(cost(10, false).l2.si() == 0.0);
  CHECK(cost(10, true).dram_bytes.si() == 0.0);
  CHECK(cost(10, true).l2.si() == Approx(all.si() / 1.5e12));
  CHECK(cost(40, true).time == cost(40, false).time);
  machine.l2 = base::BytesPerSecond::from_si(1e13);  // 100 SMs at 1 GHz take 20 B a clock
  CHECK(cost(10, true).l2.si() == Approx(all.si() / 2e12));
  // Read in bf16 and written elsewhere in fp32: 6 bytes an element, all of them different.
  const workloads::StateUpdate copied{super, 10, 1, true, true};
  CHECK(all - models::state_update_work(copied).bytes == 10.0 * 2 * 1'048'576.0 * base::byte);
  CHECK(models::state_update_cost(copied, machine).dram_bytes.si() > 0.0);
}

// In-projection of Mamba: 2·8192 + 2·8·128 + 128; of the delta net: 2·32·128 + 2·16·128 + 2·32.
TEST_CASE("Recurrent layers project, stir, recur, gate and project back", "[unit]") {
  const auto m = hybrid();
  const auto graph = graph_of(m, {}, {16, 1, 4096, 2, 1000, 0});
  const std::int64_t tokens = 16 + 2000;
  CHECK(find(graph, "mamba.in").op ==
        workloads::Operator(
            workloads::Gemm{tokens, 18560, 4096, 1, NumberFormat::bf16, NumberFormat::bf16}));
  CHECK(find(graph, "mamba.in").count == 2.0);
  CHECK(std::get<workloads::Gemm>(find(graph, "mamba.out").op).k == 8192);
  CHECK(std::get<workloads::Gemm>(find(graph, "delta_net.in").op).n == 12352);
  CHECK(find(graph, "delta_net.out").count == 3.0);
  CHECK(find(graph, "attention.qkv").count == 1.0);
  const workloads::RecurrentHeads heads{Recurrence::ssm, 128, 8, 128, 64, NumberFormat::fp32};
  CHECK(find(graph, "mamba.scan").op ==
        workloads::Operator(workloads::StateScan{heads, 2, 1000, 128}));
  CHECK(find(graph, "mamba.update").op ==
        workloads::Operator(workloads::StateUpdate{heads, 16, 1}));
  // Convolution of 10 240 channels: rows and the three before each sequence, in and out.
  const auto& conv = std::get<workloads::Elementwise>(find(graph, "mamba.convolution").op);
  CHECK(conv.read_bytes == (2000.0 + 2 * 3) * 10240 * 2.0);
  CHECK(conv.flop == 2.0 * 4 * 2000 * 10240);
}

TEST_CASE("Tensor-parallel ranks share recurrent heads and repeat groups they have too few of",
          "[unit]") {
  const auto m = hybrid();
  const workloads::Mapping sixteen{16, 1, 1, 1};
  const auto graph = graph_of(m, sixteen, {16, 1, 4096, 0, 0, 0});
  const auto& update = std::get<workloads::StateUpdate>(find(graph, "mamba.update").op);
  CHECK(update.heads.heads == 8);
  CHECK(update.heads.key_heads == 1);  // of 8 groups on 16 ranks
  CHECK(std::get<workloads::Gemm>(find(graph, "mamba.in").op).n == 2 * 512 + 2 * 128 + 8);
  workloads::Mapping three;  // context ranks share recurrent heads too, and no others
  three.context_parallel = 3;
  CHECK(workloads::fault_of(m, three) == workloads::MappingFault::recurrent_heads);
}

// State of one sequence: Mamba 128·64·128 in fp32 and 3·10 240 in bf16, two layers; delta net
// 32·128·128 and 3·8192, three layers. Parameters of Mamba's layer: projections 4096·(18 560 + 8192),
// convolution 5·10 240, A, D and dt_bias 3·128, norms 8192 + 4096.
TEST_CASE("A hybrid keeps a fixed state a sequence and KV cache for its attention only", "[unit]") {
  const auto m = hybrid();
  const auto bf16 = laws::precision("bf16");
  const double mamba = 128.0 * 64 * 128 * 4 + 3.0 * 10240 * 2;
  const double delta = 32.0 * 128 * 128 * 4 + 3.0 * 8192 * 2;
  CHECK(models::state_bytes(m, bf16, {}).si() == 2 * mamba + 3 * delta);
  CHECK(models::state_bytes(m, bf16, {8, 1, 1, 1}).si() == (2 * mamba + 3 * delta) / 8);
  CHECK(models::cache_bytes(1000.0, m, bf16, {}, 1).si() == 1000.0 * 2 * 8 * 128 * 2);
  const auto layer = workloads::layer_parameters(m, m.layers[0]);
  CHECK(layer.recurrent == 4096.0 * (18560 + 8192));
  CHECK(layer.norms == 5.0 * 10240 + 3 * 128 + 8192 + 4096);
}

// Both kinds of state, read once and written once a step.
TEST_CASE("Decode reads the states that its rank holds", "[unit]") {
  const auto m = hybrid();
  for (const std::int64_t tensor : {1, 2, 8}) {
    for (const std::int64_t context : {1, 4}) {
      workloads::Mapping mapping;
      mapping.tensor_parallel = tensor;
      mapping.context_parallel = context;
      const auto graph = graph_of(m, mapping, {1, 1, 4096, 0, 0, 0});
      double read = 0.0;
      for (const auto& [conv, update] : {std::pair{"mamba.conv_update", "mamba.update"},
                                         {"delta_net.conv_update", "delta_net.update"}}) {
        // Of a row and the three before it three are kept.
        const auto& stirred = std::get<workloads::Elementwise>(find(graph, conv).op);
        read += find(graph, conv).count * stirred.read_bytes * 3.0 / 4.0;
        const auto& heads = std::get<workloads::StateUpdate>(find(graph, update).op).heads;
        read += find(graph, update).count *
                static_cast<double>(heads.heads * heads.key_dim * heads.value_dim) * 4.0;
      }
      INFO(tensor << " tensor ranks, " << context << " context ranks");
      CHECK(read == Approx(models::state_bytes(m, laws::precision("bf16"), mapping).si()));
    }
  }
}

// In ai-dynamo/aiconfigurator, B200: mamba_chunk_scan_combined with Super's dimensions, one sequence.
TEST_CASE("The state-space scan of B200 takes the measured time within a quarter", "[unit]") {
  const models::Machine machine =
      calibrate::ChipPlatforms("generic").find("b200_sxm", "trtllm")->machine;
  const workloads::RecurrentHeads super{Recurrence::ssm, 128, 8, 128, 64, NumberFormat::fp32};
  const std::pair<std::int64_t, double> measured[] = {
      {128, 22.5}, {1024, 96.4}, {4096, 365.0}, {16384, 1414.0}};
  for (const auto& [tokens, us] : measured) {
    INFO(tokens);
    CHECK(models::state_scan_cost({super, 1, tokens, 128}, machine).time.si() * 1e6 ==
          Approx(us).epsilon(0.25));
  }
}

TEST_CASE("Heads of the delta rule run through their prompts in whole waves", "[unit]") {
  const auto& machine = laws::platform("hgx_h100").machine;
  const auto compute = [&](std::int64_t sequences) {
    const workloads::RecurrentHeads heads{Recurrence::delta, 1, 1, 128, 128, NumberFormat::fp32};
    return models::state_scan_cost({heads, sequences, 4096, 64}, machine).compute.si();
  };
  CHECK(compute(1) == Approx(compute(132)));
  CHECK(compute(133) == Approx(2.0 * compute(132)));
  CHECK(compute(264) == Approx(compute(133)));
}

TEST_CASE("A row of a phase that is neither of prompts nor of decodes has a reason", "[unit]") {
  const auto reason = [](const std::string& phase) {
    const base::CsvTable table = base::parse_csv(
        "system,fw,kernel_source,phase,batch_size,seq_len,d_state,d_conv,nheads,head_dim,n_groups,"
        "chunk_size,latency_ms\nh100_sxm,trtllm,causal_conv1d_fn," +
            phase + ",1,64,128,4,64,64,8,128,0.02\n",
        "mamba2");
    return calibrate::OperatorRows("mamba2", table).row(0).reason;
  };
  CHECK(reason("context").empty());
  CHECK(reason("generation").empty());
  CHECK(reason("foo") == "phase is none that is known: \"foo\"");
}

}  // namespace roofcast::unit_calibrate_recurrent
