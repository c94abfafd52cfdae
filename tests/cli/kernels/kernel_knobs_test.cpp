// SPDX-License-Identifier: Apache-2.0
//
// Kernels on hardware that is changed: the power cap, room for tiles, curves over knobs.
#include <nlohmann/json.hpp>

#include "base/csv/csv.hpp"
#include "cli/kernels/kernel_curve.hpp"
#include "models/power.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_kernels_kernel_knobs {
namespace {

using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

constexpr const char* kGemm = "kernel gemm --m 8192 --n 8192 --k 8192 --chip h100_sxm";

json answer(const Program& roofcast, const std::string& line) {
  return json::parse(roofcast.output(words(line + " --json")));
}

std::string refusal(const Program& roofcast, const std::string& line) {
  const Outcome outcome = roofcast.run(words(line));
  CHECK(outcome.code == 2);
  return outcome.err;
}

}  // namespace

TEST_CASE("A kernel under a cap has the clock, watts and joules of the power model", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  KernelQuestion q;
  q.kind = &kernel_kinds().front();
  q.shape = {{"m", "8192"}, {"n", "8192"}, {"k", "8192"}};
  q.platform.chip = "h100_sxm";
  q.platform.set = {"system.chip.power.cap=350W"};
  const KernelCurve curve = kernel_curve(q);
  const KernelPoint& point = curve.points.front();
  models::Activity activity;
  activity.add(point.kernel.cost, base::MathType::bf16, 1.0, point.kernel.cost.time,
               point.platform.machine);
  const models::Drawn drawn = models::drawn(activity, point.platform.machine.power);
  const json capped = answer(roofcast, std::string(kGemm) + " --set system.chip.power.cap=350W");
  CHECK(capped["sustained_time_s"].get<double>() == Approx(drawn.time.si()));
  CHECK(capped["sustained_clock"].get<double>() == Approx(drawn.clock));
  CHECK(capped["power_w"].get<double>() == Approx(0.98 * 350.0));
  CHECK(capped["power_cap_w"] == 350.0);
  CHECK(capped["energy_j"].get<double>() == Approx(drawn.energy.si()));
  CHECK(capped["j_per_flop"].get<double>() ==
        Approx(drawn.energy.si() / capped["flop"].get<double>()));
  const json free = answer(roofcast, kGemm);
  CHECK(capped["time_s"] == free["time_s"]);  // of a burst
  CHECK(capped["sustained_time_s"].get<double>() > free["sustained_time_s"].get<double>());
  CHECK(capped["energy_j"].get<double>() < free["energy_j"].get<double>());
  const std::string text =
      roofcast.output(words(std::string(kGemm) + " --set system.chip.power.cap=350W"));
  CHECK_THAT(text, ContainsSubstring("power       343 W under the cap of 350 W: "));
  CHECK_THAT(text, ContainsSubstring("where it runs on and on: at "));
  CHECK_THAT(text, ContainsSubstring("pJ/FLOP"));
}

TEST_CASE("A kernel that the cap leaves alone is sustained as it bursts", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string line = "kernel elementwise --read 1GB --written 1GB --chip h100_sxm";
  const json copy = answer(roofcast, line);
  CHECK(copy["sustained_time_s"] == copy["time_s"]);
  CHECK(copy["sustained_clock"] == 1.0);
  CHECK(copy["j_per_flop"].is_null());
  CHECK(copy["j_per_b"].get<double>() > 65e-12);  // the bytes alone, and idle power
  CHECK_FALSE(contains(roofcast.output(words(line)), "sustained"));
}

TEST_CASE("A cap that no kernel runs under is told as in an estimate, and an unknown TDP too",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json low = answer(roofcast, std::string(kGemm) + " --set system.chip.power.cap=100W");
  CHECK(low["runs"] == false);
  CHECK_THAT(
      low["reason"].get<std::string>(),
      ContainsSubstring("a power cap of 100 W, of which the chip holds 0.98, is not above the"));
  const json high = answer(roofcast, std::string(kGemm) + " --set system.chip.power.cap=900W");
  CHECK_THAT(high["reason"].get<std::string>(), ContainsSubstring("above the TDP"));
  const std::string line = "kernel gemm --m 64 --n 8192 --k 8192 --chip rubin_r200";
  CHECK(answer(roofcast, line)["power_w"].is_null());
  CHECK_THAT(roofcast.output(words(line)), ContainsSubstring("power       not known, as the TDP"));
}

TEST_CASE("A collective draws power too, and rows of CSV have it", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string line = "collective all_reduce --system hgx_h100 --ranks 8 --vary bytes=1MB,1GB";
  const json curve = answer(roofcast, line);
  CHECK(curve["points"][1]["power_w"].get<double>() > 200.0);
  CHECK(curve["points"][1]["j_per_b"].get<double>() > 0.0);
  roofcast.output(words(line + " --csv rows.csv"));
  const base::CsvTable rows = base::read_csv(roofcast.path("rows.csv"));
  CHECK(number(rows, 1, "energy_j") == Approx(curve["points"][1]["energy_j"].get<double>()));
  CHECK(number(rows, 1, "sustained_clock") == 1.0);
}

TEST_CASE("A knob of the system is varied like a dimension, and each point is that system",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json curve =
      answer(roofcast, std::string(kGemm) + " --vary system.chip.compute.sms=66..132+33");
  REQUIRE(curve["points"].size() == 3);
  CHECK(curve["varied"] == "system.chip.compute.sms");
  CHECK(curve["points"][1]["values"]["system.chip.compute.sms"] == "99");
  CHECK(curve["points"][0]["time_s"] ==
        answer(roofcast, std::string(kGemm) + " --set system.chip.compute.sms=66")["time_s"]);
  CHECK(curve["points"][0]["time_s"] > curve["points"][1]["time_s"]);
  CHECK(curve["points"][1]["time_s"] > curve["points"][2]["time_s"]);
  const json factors =
      answer(roofcast, std::string(kGemm) + " --vary system.chip.hbm.bandwidth=x0.5..x1.5+0.5");
  REQUIRE(factors["points"].size() == 3);
  CHECK(factors["points"][2]["values"]["system.chip.hbm.bandwidth"] == "x1.5");
  const Outcome watts =
      roofcast.run({"kernel", "gemm", "--m", "8192", "--n", "8192", "--k", "8192", "--chip",
                    "h100_sxm", "--json", "--vary", "system.chip.power.cap=300 W..700 W+200 W"});
  REQUIRE(watts.code == 0);
  const json capped = json::parse(watts.out);
  REQUIRE(capped["points"].size() == 3);
  CHECK(capped["points"][1]["power_cap_w"] == 500.0);
  CHECK(capped["points"][0]["sustained_time_s"] > capped["points"][1]["sustained_time_s"]);
}

TEST_CASE("A linear range has equal steps, and two that vary have every value with every other",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string line = "kernel gemm --n 8192 --k 8192 --chip h100_sxm";
  const json linear = answer(roofcast, line + " --vary m=256..1000+256");
  REQUIRE(linear["points"].size() == 4);  // 256, 512, 768, 1000
  CHECK(linear["points"][2]["shape"]["m"] == "768");
  CHECK(linear["points"][3]["shape"]["m"] == "1000");
  const json both = answer(roofcast, line + " --vary format=bf16,fp8 --vary m=1,512,8192");
  REQUIRE(both["points"].size() == 6);
  CHECK(both["varied"] == json::array({"format", "m"}));
  CHECK(both["points"][4]["shape"]["format"] == "fp8");
  CHECK(both["points"][4]["shape"]["m"] == "512");
  CHECK(both["points"][4]["time_s"] == answer(roofcast, line + " --format fp8 --m 512")["time_s"]);
  roofcast.output(words(line + " --m 512 --vary system.chip.compute.sms=100,132 --vary "
                               "tile=128x128,128x256 --csv rows.csv --report page.html"));
  const base::CsvTable rows = base::read_csv(roofcast.path("rows.csv"));
  REQUIRE(rows.rows() == 4);
  CHECK(cell(rows, 3, "system.chip.compute.sms") == "132");
  CHECK(cell(rows, 3, "tile") == "128x256");
  CHECK_THAT(roofcast.read("page.html"),
             ContainsSubstring("system.chip.compute.sms=100 tile=128x128"));
}

TEST_CASE("A protocol is forced with any algorithm, or with the one that is named", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string line = "collective all_reduce --system hgx_h100 --ranks 8 --bytes 1MB";
  CHECK(answer(roofcast, line + " --protocol simple")["algorithm"] == "ring Simple");
  CHECK(answer(roofcast, line + " --protocol LL128 --algorithm ring")["algorithm"] == "ring LL128");
  const json all = answer(roofcast, line + " --vary protocol=LL,LL128,Simple");
  CHECK(all["points"][0]["time_s"] <= all["points"][1]["time_s"]);
  CHECK(all["points"][2]["algorithm"] == "ring Simple");
  CHECK(answer(roofcast, line + " --algorithm ring-ll")["runner_up"] ==
        answer(roofcast, line)["runner_up"]);
}

TEST_CASE("A choice that a kernel does not have is a row of its curve that says why", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string line = "kernel gemm --m 512 --n 8192 --k 8192 --chip h100_sxm";
  const json tiles = answer(roofcast, line + " --vary tile=128x128,512x512,128x256");
  REQUIRE(tiles["points"].size() == 3);
  CHECK(tiles["points"][0]["runs"] == true);
  CHECK(tiles["points"][1]["runs"] == false);
  CHECK_THAT(
      refusal(roofcast, line + " --tile 512x512"),
      ContainsSubstring("--tile 512x512: " + tiles["points"][1]["reason"].get<std::string>()));
  const std::string ranks = "collective all_to_all --system hgx_h100 --ranks 8 --bytes 1MB";
  const json protocols = answer(roofcast, ranks + " --vary protocol=LL,LL128");
  REQUIRE(protocols["points"].size() == 2);
  CHECK(protocols["points"][1]["reason"].get<std::string>().starts_with("these ranks have no"));
  // A word that names nothing ends the curve.
  CHECK_THAT(refusal(roofcast, line + " --vary tile=128x128,large"),
             ContainsSubstring("expects ROWSxCOLUMNS"));
  CHECK_THAT(refusal(roofcast, ranks + " --vary protocol=LL256"), ContainsSubstring("LL256"));
}

TEST_CASE("Blanks around a name, an end or a step of --vary say nothing", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::vector<std::string> line =
      words("kernel gemm --n 8192 --k 8192 --chip h100_sxm --csv");
  const auto rows = [&](const char* vary, const char* file) {
    std::vector<std::string> all = line;
    all.insert(all.end(), {file, "--force", "--vary", vary});
    if (std::string(vary).find("system") == 0) {
      all.insert(all.end(), {"--m", "512"});
    }
    roofcast.output(all);
    return roofcast.read(file);
  };
  CHECK(rows("m = 256 .. 1000 + 256", "a.csv") == rows("m=256..1000+256", "b.csv"));
  CHECK(rows("m = 256, 512", "a.csv") == rows("m=256,512", "b.csv"));
  CHECK(rows("system.chip.power.cap = 300 W .. 700 W + 200 W", "a.csv") ==
        rows("system.chip.power.cap=300 W..700 W+200 W", "b.csv"));
}

TEST_CASE("Half the shared memory, or registers, takes a tile away", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json now = answer(roofcast, kGemm);
  const std::string half = std::string(kGemm) + " --set system.chip.shared_memory.per_sm=x0.5";
  const json less = answer(roofcast, half);
  CHECK(now["tile_rows"] == 256.0);
  CHECK(less["tile_rows"].get<double>() * less["tile_columns"].get<double>() < 256.0 * 256.0);
  CHECK(less["time_s"].get<double>() > now["time_s"].get<double>());
  CHECK(less["room_blocks_per_sm"].get<double>() >= 1.0);
  const Outcome forced = roofcast.run(words(half + " --tile 256x256"));
  CHECK(forced.code == 2);
  CHECK_THAT(forced.err, ContainsSubstring("it does not fit: its operands take 192 KiB"));
  const json registers =
      answer(roofcast, std::string(kGemm) + " --set system.chip.registers.per_sm=x0.5");
  CHECK(registers["sums_b"].get<double>() <= 128.0 * 1024.0);
  const json experts = answer(roofcast,
                              "kernel moe --tokens 4096 --experts 128 --top-k 8 --n 1536 --k 4096 "
                              "--chip h100_sxm --tile 128x128");
  CHECK(experts["tile_rows"] == 128.0);
  CHECK(experts["tile_columns"] == 128.0);
}

TEST_CASE("A knob that no kernel has is refused, with the one that is near", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  for (const char* wrong : {"chip.power.cap=300W", "foo.bar=1", "serving.replicas=2"}) {
    CHECK(roofcast.run(words(std::string(kGemm) + " --set " + wrong)).code == 2);
  }
  CHECK_THAT(roofcast.run(words(std::string(kGemm) + " --set chip.power.cap=300W")).err,
             ContainsSubstring("did you mean \"system.chip.power.cap\"?"));
}

TEST_CASE("A scan on a chip without vector units does not run", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome outcome = roofcast.run(
      words("kernel mamba2 --tokens 8192 --heads 128 --key-heads 8 --chunk 128 --chip h100_sxm "
            "--set system.chip.vector.fp32=null"));
  CHECK_THAT(outcome.out, ContainsSubstring("does not run: NVIDIA H100 SXM has no vector.fp32"));
}

TEST_CASE(
    "Joules of a collective under a cap never fall below those of its bytes and its idle power",
    "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  double before = 1e9;
  for (const char* cap : {"140W", "170W", "200W", "300W"}) {
    const json at =
        answer(roofcast, std::string("collective all_reduce --system hgx_h100 --ranks 8 "
                                     "--bytes 1GB --set system.chip.power.cap=") +
                             cap);
    const double time = at["sustained_time_s"].get<double>();
    CHECK(at["power_w"].get<double>() * time == Approx(at["energy_j"].get<double>()));
    CHECK(time <= before);
    before = time;
  }
}

// A NIC of 100 GB/s behind a PCIe port of 63 GB/s, under a spine that carries half.
TEST_CASE("Between hosts the roof is what is slowest: the NIC, the PCIe port or the spine",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const std::string line =
      "collective all_reduce --ranks 16 --bytes 1GB --system h100_cluster_128 --set "
      "system.scale_out.";
  const auto roof = [&](const std::string& setting) {
    return roofcast.output(words(line + setting));
  };
  CHECK_THAT(roof("bandwidth_per_direction=25GB/s"), ContainsSubstring("NIC   125 MB    25 GB/s"));
  const Outcome port = roofcast.run(words(line + "bandwidth_per_direction=100GB/s"));
  CHECK_THAT(port.out, ContainsSubstring("PCIe port  125 MB    63 GB/s"));
  CHECK_THAT(port.err, ContainsSubstring(
                           "a NIC sends no more than the PCIe port of its chip passes, 63 GB/s"));
  CHECK_THAT(roof("oversubscription=2"), ContainsSubstring("spine  125 MB    25 GB/s"));
}

}  // namespace roofcast::cli::cli_kernels_kernel_knobs
