// SPDX-License-Identifier: Apache-2.0
#include "hardware/pooling.hpp"

#include <cmath>

#include "hardware/chip.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_hardware_pooling {

using namespace roofcast::hardware;

namespace {

ChipKind kind(const char* id) { return *kind_of(roofcast::base::load_entry(chip_catalog(), id)); }

}  // namespace

TEST_CASE("A measured chip has all the weight and no variance", "[unit]") {
  const ChipKind h100 = kind("h100_sxm");
  const ChipKind b200 = kind("b200_sxm");
  const Pooled pool =
      pooled({&h100, "vllm", "vllm"}, {{&h100, "vllm", "vllm"}, {&b200, "vllm", "vllm"}});
  CHECK(pool.weights[0] == Approx(1.0));
  CHECK(pool.weights[1] == Approx(0.0).margin(1e-9));
  CHECK(pool.variance == Approx(0.0).margin(1e-9));
}

// One member has weight 1, so the variance is 1 − 2·k + 1 with its correlation k = exp(−(d/3)^0.75).
TEST_CASE("The variance of one member is twice one minus its correlation", "[unit]") {
  const ChipKind h100 = kind("h100_sxm");
  const ChipKind b200 = kind("b200_sxm");
  const double k = std::exp(-std::pow(distance(b200, h100) / 3.0, 0.75));
  const Pooled pool = pooled({&b200, "vllm", "vllm"}, {{&h100, "vllm", "vllm"}});
  CHECK(pool.variance == Approx(2.0 * (1.0 - k)));
  const Pooled other = pooled({&b200, "vllm", "vllm"}, {{&h100, "trtllm", "trtllm"}});
  CHECK(other.variance == Approx(2.0 * (1.0 - 0.5 * k)));
}

TEST_CASE("A nearer architecture has more weight", "[unit]") {
  const ChipKind b200 = kind("b200_sxm");
  const ChipKind h100 = kind("h100_sxm");
  const ChipKind a100 = kind("a100_sxm");
  const Pooled pool =
      pooled({&b200, "vllm", "vllm"}, {{&a100, "vllm", "vllm"}, {&h100, "vllm", "vllm"}});
  CHECK(pool.weights[1] > pool.weights[0]);
  CHECK(pool.weights[0] + pool.weights[1] == Approx(1.0));
}

TEST_CASE("Measurements at one place share its weight", "[unit]") {
  const ChipKind h100 = kind("h100_sxm");
  const ChipKind h200 = kind("h200_sxm");
  const ChipKind a100 = kind("a100_sxm");
  const Pooled pool = pooled(
      {&h100, "vllm", "vllm"},
      {{&h100, "vllm", "vllm"}, {&h200, "vllm", "vllm"}, {&a100, "vllm", "vllm"}}, host_distance);
  CHECK(pool.weights[0] == Approx(0.5));
  CHECK(pool.weights[1] == Approx(0.5));
  CHECK(pool.weights[2] == Approx(0.0).margin(1e-9));
}

TEST_CASE("A correction fades with the distance, and one behind another counts for little",
          "[unit]") {
  ChipKind near = kind("h100_sxm");
  ChipKind behind = near;
  ChipKind target = near;
  behind.generation -= 1.0;
  target.generation += 0.5;
  CHECK(faded_weights(target, {&near}).front() == Approx(std::exp(-0.5 / 1.5)));
  CHECK(faded_weights(near, {&behind, &near})[1] == Approx(1.0));
  const std::vector<double> both = faded_weights(target, {&near, &behind});
  CHECK(both[0] == Approx(std::exp(-0.5 / 1.5)));
  CHECK(both[1] == Approx(0.0).margin(1e-9));  // exp(-d) forgets what lies behind
}

TEST_CASE("Stacks share TensorRT-LLM's attention where a chip has tcgen05", "[unit]") {
  CHECK(kernels_of("vllm", kind("b200_sxm"), "attention") == "trtllm");
  CHECK(kernels_of("vllm", kind("b200_sxm"), "gemm") == "vllm");
  CHECK(kernels_of("vllm", kind("h100_sxm"), "attention") == "vllm");
  CHECK(kernels_of("vllm", kind("rtx_pro_6000_server"), "attention") == "vllm");
}

TEST_CASE("Hosts of modules differ from those of cards as two generations do", "[unit]") {
  CHECK(host_distance(kind("gb200"), kind("b200_sxm")) == Approx(2.0));
  CHECK(distance(kind("gb200"), kind("b200_sxm")) < 0.1);
  CHECK(host_distance(kind("b200_sxm"), kind("h200_sxm")) == Approx(1.0));
  CHECK(host_distance(kind("l40s"), kind("h200_sxm")) >= 2.0);  // another class of server
}

TEST_CASE("A distance says generations, memory and the figure that differs most", "[unit]") {
  CHECK(distance_text(kind("b200_sxm"), kind("h100_sxm"))
            .starts_with("1 generation later than NVIDIA H100 SXM, "));
  CHECK(distance_text(kind("l40s"), kind("a100_sxm")).find("GDDR for HBM") != std::string::npos);
  CHECK(distance_text(kind("h200_sxm"), kind("h200_sxm")) ==
        "of the generation of NVIDIA H200 SXM");
}

TEST_CASE("Only whether memory is on the package counts, and no capital letters", "[unit]") {
  base::Node chip = base::load_entry(chip_catalog(), "h100_sxm");
  const auto with = [&](const char* type) {
    *chip.find_path("hbm.type") = base::scalar_node(type, {});
    return kind_of(chip);
  };
  for (const char* type : {"HBM3", "hbm3", "HBM", "hbm4e", "stacked DRAM", "SRAM", "HBM4 next"}) {
    INFO(type);
    CHECK(distance(with(type).value(), kind("h100_sxm")) == 0.0);
  }
  for (const char* type : {"GDDR7", "gddr6x", "LPDDR5X", "DDR5"}) {
    INFO(type);
    CHECK(distance(with(type).value(), kind("h100_sxm")) == Approx(2.0));
  }
  CHECK_FALSE(with("HBMX").has_value());
}

TEST_CASE("An unknown kind of memory is refused with the nearest one", "[unit]") {
  CHECK(unknown_memory_text("HBN3") ==
        "unknown kind of memory \"HBN3\"; expects HBM, stacked DRAM, SRAM, GDDR, LPDDR, DDR, and "
        "perhaps a generation; did you mean \"HBM3\"?");
  for (const std::string& id : base::catalog_ids(chip_catalog())) {
    INFO(id);
    CHECK(memory_kind(base::load_entry(chip_catalog(), id).find_path("hbm.type")->text));
  }
}

}  // namespace roofcast::unit_hardware_pooling
