// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/kernels/kernel_curve.hpp"
#include "cli/kernels/kernel_parts.hpp"
#include "models/operators/operator_cost.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::cli::cli_kernels_kernel_command {
namespace {

using nlohmann::json;

json answer(const Program& roofcast, const std::string& line) {
  return json::parse(roofcast.output(words(line + " --json")));
}

std::string refusal(const Program& roofcast, const std::string& line) {
  const Outcome outcome = roofcast.run(words(line));
  CHECK(outcome.code == 2);
  return outcome.err;
}

// The shape of a kind's example, and where it runs.
KernelQuestion question(const KernelKind& kind, const std::string& chip) {
  KernelQuestion q;
  q.kind = &kind;
  const auto options = words(kind.example);
  for (std::size_t i = 0; i < options.size(); i += 2) {
    q.shape[options[i].substr(2)] = options[i + 1];
  }
  q.platform.chip = chip;
  return q;
}

}  // namespace

// In an estimate the stack may hide a part of the launch. All else is the same.
TEST_CASE("The time of a kernel beyond its launch is that of the operator in an estimate",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const sim::Scenario scenario = sim::read_scenario(
      base::parse_document("scenario",
                           "system: hgx_h100\nmodel: llama-3.1-70b\nprecision: fp8\n"
                           "deployment: {tensor_parallel: 8}\nserving: {stack: vllm}\n"
                           "traffic: {input_tokens: 2048, output_tokens: 256, concurrency: 32}\n"));
  const sim::ScenarioView view = sim::view(scenario);
  std::size_t compared = 0;
  for (const sim::OperatorLine& line : sim::iteration_operators(view, {32, 1, 2048, 1, 2048, 0})) {
    std::string command;
    if (const auto* o = std::get_if<workloads::Gemm>(&line.call.op)) {
      command = fmt::format(
          "kernel gemm --chip h100_sxm --m {} --n {} --k {} --batch {} --activations {} --weights "
          "{}",
          o->m, o->n, o->k, o->batch, base::name(o->activations), base::name(o->weights));
    } else if (const auto* d = std::get_if<workloads::DecodeAttention>(&line.call.op)) {
      command = fmt::format(
          "kernel decode_attention --chip h100_sxm --sequences {} --queries {} --context {} "
          "--heads {} --kv-heads {} --head-dim {} --cache {}",
          d->sequences, d->query_tokens, d->context, d->heads.query_heads, d->heads.kv_heads,
          d->heads.qk_dim, base::name(d->heads.cache));
    } else if (const auto* e = std::get_if<workloads::Elementwise>(&line.call.op)) {
      command = fmt::format(
          "kernel elementwise --chip h100_sxm --read {:.17g}B --written {:.17g}B "
          "--flop {:.17g}",
          e->read_bytes, e->written_bytes, e->flop);
    } else if (const auto* c = std::get_if<workloads::Collective>(&line.call.op);
               c != nullptr && c->kind == workloads::CollectiveKind::all_reduce) {
      command = fmt::format(
          "collective all_reduce --system hgx_h100 --bytes {:.17g}B --ranks {}{}", c->bytes,
          c->ranks, c->custom == workloads::AllReduceKernels::barriers ? " --barriers" : "");
    } else {
      continue;
    }
    INFO(line.call.name << ": " << command);
    const json kernel = answer(roofcast, command);
    const double launch = kernel["launch_s"].get<double>();
    CHECK(kernel["time_s"].get<double>() - launch ==
          Approx((line.cost.time - line.cost.launch).si()).epsilon(1e-12));
    CHECK(launch >= line.cost.launch.si());
    CHECK(kernel["flop"].get<double>() == line.cost.flop.si());
    CHECK(kernel["bytes_b"].get<double>() == line.cost.dram_bytes.si());
    ++compared;
  }
  CHECK(compared >= 8);
}

// A rank of eight has 1,024 of the 8,192 channels of Jamba.
TEST_CASE("The selective scan of a kernel is that of a model with Mamba-1", "[cli]") {
  const sim::Scenario scenario = sim::read_scenario(
      base::parse_document("scenario",
                           "system: hgx_h100\nmodel: jamba-1.5-mini\nprecision: bf16\n"
                           "deployment: {tensor_parallel: 8}\nserving: {stack: vllm}\n"
                           "traffic: {input_tokens: 2048, output_tokens: 256, concurrency: 32}\n"));
  const std::map<std::string, std::pair<std::string, ShapeTexts>> kinds = {
      {"mamba1.scan", {"mamba1", {{"channels", "1024"}, {"tokens", "2048"}}}},
      {"mamba1.update", {"mamba1_update", {{"channels", "1024"}, {"sequences", "32"}}}}};
  std::size_t compared = 0;
  for (const sim::OperatorLine& line :
       sim::iteration_operators(sim::view(scenario), {32, 1, 2048, 1, 2048, 0})) {
    const auto at = kinds.find(std::string(line.call.name));
    if (at == kinds.end()) {
      continue;
    }
    const auto& [name, shape] = at->second;
    const auto kind = std::find_if(kernel_kinds().begin(), kernel_kinds().end(),
                                   [&](const KernelKind& k) { return k.name == name; });
    REQUIRE(kind != kernel_kinds().end());
    base::Problems problems;
    CHECK(kind->make(Shape(*kind, shape, problems)) == line.call.op);
    problems.throw_if_any();
    ++compared;
  }
  CHECK(compared == 2);
}

TEST_CASE("Every kernel of the help runs on every chip that a forecast can be made for", "[cli]") {
  std::size_t run = 0;
  for (const hardware::Chip& chip : laws::chips()) {
    for (const KernelKind& kind : kernel_kinds()) {
      try {
        const KernelCurve curve = kernel_curve(question(kind, chip.id));
        const ExplainedKernel& k = curve.points.front().kernel;
        INFO(chip.id << " " << kind.name << " " << k.reason);
        CHECK((k.time.si() > 0.0) == k.reason.empty());
        CHECK(k.low <= k.time);
        CHECK(k.high >= k.time);
        run += k.reason.empty() ? 1U : 0U;
      } catch (const base::InputError& error) {
        CHECK(contains(error.what(), "is not known of this chip"));
      }
    }
  }
  CHECK(run > 300);
}

TEST_CASE("A curve has the points of its range, and each is the kernel of that shape", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string gemm = "kernel gemm --n 4096 --k 4096 --chip h200_sxm";
  const json curve = answer(roofcast, gemm + " --vary m=1..1000");
  REQUIRE(curve["points"].size() == 11);  // 1, 2, … 512, 1000
  CHECK(curve["points"][10]["shape"]["m"] == "1000");
  CHECK(curve["points"][10]["time_s"] == answer(roofcast, gemm + " --m 1000")["time_s"]);
  const std::string text = roofcast.output(words(gemm + " --vary m=1..1000"));
  CHECK(contains(text, "limited by"));
  CHECK(contains(text, "########################"));
  roofcast.output(words(gemm + " --vary format=bf16,fp8 --m 4096 --csv rows.csv"));
  const base::CsvTable rows = base::read_csv(roofcast.path("rows.csv"));
  REQUIRE(rows.rows() == 2);
  CHECK(cell(rows, 1, "format") == "fp8");
  CHECK(number(rows, 1, "time_s") < number(rows, 0, "time_s"));
  const json chips = answer(roofcast,
                            "kernel gemm --m 64 --n 4096 --k 4096 --format fp8 --vary "
                            "chip=h100_sxm,a100_sxm");
  CHECK(chips["points"][0]["runs"] == true);
  CHECK(chips["points"][1]["reason"] == "NVIDIA A100 SXM 80GB has no fp8 tensor rate");
}

TEST_CASE("A collective takes the algorithm that it is told, and is slower for it", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string line = "collective all_reduce --system hgx_h100 --ranks 8 --bytes 1GB";
  const json fastest = answer(roofcast, line);
  const json ring = answer(roofcast, line + " --algorithm ring");
  CHECK(ring["algorithm"] == "ring Simple");
  CHECK(ring["runner_up"] == fastest["algorithm"]);
  CHECK(ring["time_s"].get<double>() == Approx(fastest["runner_up_time_s"].get<double>()));
  CHECK(ring["time_s"].get<double>() > fastest["time_s"].get<double>());
  CHECK(fastest["busbw_b_per_s"].get<double>() ==
        Approx(1.75 * fastest["algbw_b_per_s"].get<double>()));
  CHECK(answer(roofcast, line + " --algorithm ring-LL128")["algorithm"] == "ring LL128");
  const std::string text = roofcast.output(words(line));
  CHECK(contains(text, "next best, ring Simple"));
  CHECK(contains(text, "taken"));
}

TEST_CASE("In eager mode a short kernel waits for the host", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string line = "kernel elementwise --read 1MB --written 1MB --chip h100_sxm";
  const json graph = answer(roofcast, line);
  const json eager = answer(roofcast, line + " --eager");
  CHECK(eager["limited_by"] == "host");
  CHECK(eager["time_s"].get<double>() ==
        Approx(graph["time_s"].get<double>() + eager["host_s"].get<double>()));
  double sum = 0.0;
  for (const auto& [cause, share] : eager["shares"].items()) {
    sum += share.get<double>();
  }
  CHECK(sum == Approx(1.0));
}

TEST_CASE("kernel and collective say what is wrong with a shape, and what was meant", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::pair<std::string, std::string> cases[] = {
      {"kernel gemm --m 1 --n 1 --chip h100_sxm", "--k is needed"},
      {"kernel gemm --m 1 --n 1 --k 1.5 --chip h100_sxm", "expects a whole number, not \"1.5\""},
      {"kernel gemm --m 0 --n 1 --k 1 --chip h100_sxm", "--m:1:1: error: must be at least 1"},
      {"kernel gemm --m 1 --n 1 --k 1", "--chip or --system is needed"},
      {"kernel gemm --m 1 --n 1 --k 1 --chip h100_sxm --system hgx_h100", "not both"},
      {"kernel gemm --m 1 --n 1 --k 1 --chip h100_sxx", "did you mean \"h100_sxm\"?"},
      {"kernel gemm --m 1 --n 1 --k 1 --chip h100_sxm --stack vlm", "did you mean \"vllm\"?"},
      {"kernel gemm --m 1 --n 1 --k 1 --chip h100_sxm --format bf17", "bf16"},
      {"kernel gemm --n 1 --k 1 --chip h100_sxm --vary mm=1..8", "there is no \"mm\" to vary"},
      {"kernel gemm --n 1 --k 1 --chip h100_sxm --vary m=8..1", "upside down"},
      {"kernel gemm --n 1 --k 1 --chip h100_sxm --vary m", "expects NAME=A..B"},
      {"kernel gemm --n 1 --k 1 --chip h100_sxm --vary m=1,,2", "without gaps"},
      {"kernel gemm --n 1 --k 1 --chip h100_sxm --vary m=1..8+", "expects a step behind +"},
      {"kernel gemm --n 1 --k 1 --chip h100_sxm --vary m=1..8+0", "above 0"},
      {"kernel gemm --n 1 --k 1 --chip h100_sxm --vary m=1..1000000+1", "more than 10,000 points"},
      {"kernel gemm --k 1 --chip h100_sxm --vary m=1 --vary m=2", "varies m twice"},
      {"kernel gemm --chip h100_sxm --vary m=1 --vary n=2 --vary k=3", "at most two --vary"},
      {"kernel gemm --m 1 --n 1 --k 1 --chip h100_sxm --vary system.chip.compute.smz=1",
       "did you mean \"sms\"?"},
      {"kernel gemm --m 1 --n 1 --k 1 --chip h100_sxm --vary system.chip.power.cap=200..300",
       "has no unit"},
      {"kernel attention --queries 8 --heads 8 --chip h100_sxm --vary tile=64x64",
       "there is no \"tile\" to vary"},
      {"kernel moe --tokens 8 --experts 4 --top-k 2 --n 64 --k 64 --chip h100_sxm --tile 64x64x2",
       "kernels of experts do not cut the depth"},
      {"collective all_reduce --system hgx_h100 --ranks 8 --bytes 1GB --protocol LL --algorithm "
       "tree",
       "these ranks have no \"tree\" with it (in-switch, ring-simple, ring-ll128, ring-ll)"},
      {"collective all_reduce --system hgx_h100 --ranks 8 --bytes 1GB --protocol LL64",
       "these ranks have no algorithm with it"},
      {"kernel gemm --m 1 --n 1 --k 1 --chip h100_sxm --vary format=bf16,fp8_blok",
       "did you mean \"fp8_block\"?"},
      {"kernel attention --queries 8 --heads 32 --kv-heads 5 --chip h100_sxm",
       "--heads 32 must be a multiple of --kv-heads 5"},
      {"kernel moe --tokens 8 --experts 4 --top-k 8 --n 1 --k 1 --chip h100_sxm",
       "--top-k 8 must be at most --experts 4"},
      {"kernel elementwise --read 1KB --written 1kB --chip h100_sxm", "did you mean \"kB\""},
      {"kernel gem", "there is no command \"gem\" of roofcast kernel; did you mean \"gemm\"?"},
      {"kernel", "decode_attention"},
      {"collective all_reduce --system hgx_h100 --ranks 8 --bytes 1GB --algorithm rings",
       "these ranks have no \"rings\""},
      {"collective all_reduce --ranks 8 --bytes 1GB", "is needed"},
      {"kernel gemm --m 64 --n 64 --k 4096 --chip h100_sxm --tile 128", "expects ROWSxCOLUMNS"},
      {"kernel gemm --m 64 --n 64 --k 4096 --chip h100_sxm --tile 100x128", "a tile has 16, 24"},
      {"kernel gemm --m 64 --n 64 --k 512 --chip h100_sxm --tile 64x128x16",
       "a part of the depth has at least 256"},
  };
  for (const auto& [line, message] : cases) {
    INFO(line);
    CHECK_THAT(refusal(roofcast, line), Catch::Matchers::ContainsSubstring(message));
  }
}

// Tiles of 128 x 256 add up 128 KiB; a step of 64 bf16 elements of both operands is 48 KiB, and three are on their way.
TEST_CASE("A GEMM says how many thread blocks an SM has room for, and what limits them", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string line = "kernel gemm --m 8192 --n 8192 --k 8192 --tile 128x256 --chip ";
  const json hopper = answer(roofcast, line + "h100_sxm");
  CHECK(hopper["sums_b"] == 128.0 * 1024.0);
  CHECK(hopper["buffers_b"] == 144.0 * 1024.0);
  CHECK(hopper["room_blocks_per_sm"] == 1.0);
  CHECK(hopper["occupancy_limiter"] == "shared memory");
  CHECK(answer(roofcast, "kernel gemm --m 8192 --n 8192 --k 8192 --tile 256x256 --chip b200_sxm")
            ["occupancy_limiter"] == "tensor memory");
  CHECK(answer(roofcast, line + "mi300x")["room_blocks_per_sm"].is_null());
  const json narrow = answer(roofcast,
                             "kernel gemm --m 8192 --n 8192 --k 8192 --tile 16x256 "
                             "--chip h100_sxm");
  CHECK(narrow["occupancy_limiter"] == "shared memory");
  CHECK(narrow["time_s"].get<double>() > hopper["time_s"].get<double>());
}

TEST_CASE(
    "An SM has room for the thread blocks that run on it at once, or the line says that it has not",
    "[cli]") {
  const auto line_of = [](const std::string& name, const KernelCurve& curve) {
    for (const KernelLine& line : kernel_lines(curve.points.front())) {
      if (line.name == name) {
        return line.text;
      }
    }
    return std::string();
  };
  std::size_t told = 0;
  for (const char* chip : {"a100_sxm", "h100_sxm", "l40s", "b200_sxm"}) {
    for (const char* name : {"gemm", "moe", "attention", "decode_attention"}) {
      const auto kind = std::find_if(kernel_kinds().begin(), kernel_kinds().end(),
                                     [&](const KernelKind& k) { return k.name == name; });
      const KernelCurve curve = kernel_curve(question(*kind, chip));
      const ExplainedKernel& k = curve.points.front().kernel;
      if (k.reason.empty() && k.occupancy) {
        const std::string text = line_of("occupancy", curve);
        INFO(chip << " " << name << ": " << text);
        CHECK(contains(text, "though it is timed with") ==
              (k.occupancy->room < k.anatomy.blocks_per_sm));
        ++told;
      }
    }
  }
  CHECK(told == 16);
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json twice = answer(roofcast,
                            "kernel decode_attention --context 8192 --sequences 64 --heads 32 "
                            "--kv-heads 8 --chip h100_sxm");
  CHECK(twice["room_blocks_per_sm"].get<double>() >= 2.0);
}

TEST_CASE("A kernel that tensor cores do not limit says where they have the greatest share",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string line =
      "kernel moe --tokens 4096 --experts 128 --top-k 8 --n 1536 --k 4096 --chip h100_sxm";
  const json moe = answer(roofcast, line);
  REQUIRE(moe["limited_by"] != "tensor");
  CHECK(moe["shares"]["tensor"] > moe["shares"][moe["limited_by"].get<std::string>()]);
  CHECK(moe["peak_share"].get<double>() < 0.5);
  const std::string why = "tensor has more, but limits only above half of its peak";
  CHECK(contains(roofcast.output(words(line)), why));
  CHECK_FALSE(contains(
      roofcast.output(words("kernel gemm --m 8192 --n 8192 --k 8192 --chip h100_sxm")), why));
}

TEST_CASE("Rows of a curve have the share of every cause", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string line = "kernel gemm --n 4096 --k 4096 --chip h200_sxm --vary m=1,100,4096";
  const json curve = answer(roofcast, line);
  roofcast.output(words(line + " --csv rows.csv"));
  const base::CsvTable rows = base::read_csv(roofcast.path("rows.csv"));
  REQUIRE(rows.rows() == 3);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    double all = 0.0;
    for (const std::string& column : rows.columns()) {
      all += column.starts_with("share_") ? number(rows, i, column) : 0.0;
    }
    CHECK(all == Approx(1.0));
    CHECK(number(rows, i, "share_hbm") ==
          Approx(curve["points"][i]["shares"]["HBM"].get<double>()));
    CHECK(number(rows, i, "share_straggler") == 0.0);
  }
  CHECK(number(rows, 1, "share_wave_tail") == curve["points"][1]["shares"].value("wave tail", 0.0));
}

TEST_CASE("A stride takes sectors of which a part is used, and the time of the bytes it moves",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string line = "kernel elementwise --read 1GB --written 1GB --chip a100_sxm";
  const json straight = answer(roofcast, line);
  const json strided = answer(roofcast, line + " --stride 2");
  CHECK(straight["sectors_per_request"] == 4.0);
  CHECK(strided["sectors_per_request"] == 8.0);
  CHECK(strided["sectors_needed"] == 4.0);
  CHECK(strided["dram_s"].get<double>() == Approx(1.5 * straight["dram_s"].get<double>()));
}

TEST_CASE("The page of a kernel has its roofline, its waves and the parts of its time", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string line =
      "kernel gemm --n 8192 --k 8192 --chip h100_sxm --force --report page.html";
  CHECK(roofcast.run(words(line + " --m 8192")).code == 0);
  const std::string page = roofcast.read("page.html");
  for (const char* part : {"Roofline", "ridge 295", "Waves of thread blocks", "Parts of the time",
                           "limited by tensor: products", "wait for the last"}) {
    INFO(part);
    CHECK(contains(page, part));
  }
  CHECK(roofcast.run(words(line + " --vary m=1..4096")).code == 0);
  const std::string curve = roofcast.read("page.html");
  for (const char* part : {"What the time is for", "m=1: HBM", "m=4096: tensor",
                           "by HBM from m=1, by tensor from m=512"}) {
    INFO(part);
    CHECK(contains(curve, part));
  }
}

TEST_CASE("More ranks than a system has are no error, but a result with its reason", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json answered =
      answer(roofcast, "collective all_reduce --system hgx_h100 --ranks 16 --bytes 1MB");
  CHECK(answered["runs"] == false);
  CHECK(contains(answered["reason"].get<std::string>(), "16 GPUs"));
}

}  // namespace roofcast::cli::cli_kernels_kernel_command
