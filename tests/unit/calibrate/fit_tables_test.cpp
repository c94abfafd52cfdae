// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/fit_tables.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include "calibrate/platforms/chip_platforms.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_calibrate_fit_tables {
namespace {

namespace fs = std::filesystem;

// Rows of latent attention of one chip: so many contexts of each stack.
fs::path latents(const std::string& kind, const std::string& chip, int trtllm, int vllm) {
  const fs::path directory = fs::temp_directory_path() / ("latents_" + kind + chip);
  fs::create_directories(directory);
  std::ofstream out(directory / (kind + ".csv"));
  out << "system,fw,fw_version,kernel_source,mla_dtype,kv_cache_dtype,num_heads,batch_size,isl,tp_"
         "size,step,latency_ms\n";
  const bool decodes = kind == "mla_generation";
  for (const auto& [stack, rows] : {std::pair("trtllm", trtllm), {"vllm", vllm}}) {
    for (int i = 1; i <= rows; ++i) {
      out << chip << ',' << stack << ",1.0,default,bfloat16,bfloat16,16,4,"
          << (decodes ? 1 : 1024 * i) << ",8," << (decodes ? 1024 * i : 0) << ",0.1\n";
    }
  }
  return directory;
}

// Rows that a fit of vLLM on the chip reads.
std::size_t read(const std::string& kind, const std::string& chip, int trtllm, int vllm) {
  calibrate::ChipPlatforms platforms("generic");
  const models::Machine& machine = platforms.find(chip, "vllm")->machine;
  calibrate::FitTables tables({{latents(kind, chip, trtllm, vllm)}, {}}, chip, "vllm", machine,
                              calibrate::Split::shapes);
  const auto table = tables.read(kind);
  return table ? table->given.size() + table->held_back.size() : 0;
}

}  // namespace

TEST_CASE(
    "A stack without rows of latent attention takes TensorRT-LLM's where it runs the same kernels",
    "[unit]") {
  for (const std::string chip : {"h100_sxm", "h200_sxm", "b200_sxm", "gb200"}) {
    INFO(chip);
    CHECK(read("mla_generation", chip, 20, 0) == 20);
  }
  CHECK(read("mla_generation", "a100_sxm", 20, 0) == 0);
  CHECK(read("mla_context", "b200_sxm", 20, 0) == 20);
  CHECK(read("mla_context", "h200_sxm", 20, 0) == 0);
}

TEST_CASE("A stack with rows of latent attention of its own takes no others", "[unit]") {
  CHECK(read("mla_generation", "h200_sxm", 20, 5) == 5);
}

}  // namespace roofcast::unit_calibrate_fit_tables
