// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <ctime>
#include <fstream>

#ifdef ROOFCAST_BENCH_CUBLASLT
#include <cublasLt.h>
#endif
#ifdef ROOFCAST_BENCH_NCCL
#include <nccl.h>
#endif

#include "calibrate/bench/gpu/device.cuh"
#include "calibrate/bench/measure.hpp"
#include "calibrate/bench/power_meter.hpp"
#include "hardware/chip.hpp"

namespace roofcast::bench {
namespace {

std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return text.data();
}

}  // namespace

std::string no_gpu() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    return std::string("no GPU is visible: ") + cudaGetErrorString(status);
  }
  return count == 0 ? "no GPU is visible" : "";
}

Subject subject(const std::string& chosen) {
  int runtime = 0;
  check(cudaRuntimeGetVersion(&runtime), "asking for CUDA's version");
  const std::string gpu = current_device().name;
  // Known to the letter: variants of a GPU differ in memory and clocks.
  const auto known = base::id_called(hardware::chip_catalog(), gpu);
  if (chosen.empty() && !known) {
    throw std::runtime_error("no chip of the catalog is known to be a \"" + gpu +
                             "\": name it with --chip ID");
  }
  return {chosen.empty() ? *known : chosen, cuda_version(runtime)};
}

void write_environment(const std::filesystem::path& directory, const Subject& subject) {
  const Device device = current_device();
  int driver = 0;
  check(cudaDriverGetVersion(&driver), "asking for the driver's version");
  int gpus = 0;
  check(cudaGetDeviceCount(&gpus), "counting GPUs");
  const auto file = directory / "environment.yaml";
  std::ofstream out(file);
  out << "gpu: \"" << device.name << "\"\n"
      << "chip: " << subject.chip << "\n"
      << "gpus: " << gpus << "\n"
      << "date: " << today() << "\n"
      << "cuda_runtime: \"" << subject.version << "\"\n"
      << "cuda_driver: \"" << cuda_version(driver) << "\"\n";
#ifdef ROOFCAST_BENCH_CUBLASLT
  out << "cublaslt: " << cublasLtGetVersion() << "\n";
#endif
#ifdef ROOFCAST_BENCH_NCCL
  int nccl = 0;
  if (ncclGetVersion(&nccl) == ncclSuccess) {
    out << "nccl: " << nccl << "\n";
  }
#endif
  out << "compute_capability: " << device.capability << "\n"
      << "sms: " << device.sms << "\n"
      << "l2_bytes: " << device.l2_bytes << "\n"
      << "memory_bytes: " << device.memory_bytes << "\n";
  try {
    const PowerMeter meter(device.pci_bus_id);
    const PowerFacts facts = meter.facts();
    const PowerReading reading = meter.read();
    out << "driver: \"" << facts.driver << "\"\n"
        << "power_limit_w: " << facts.power_limit_w << "\n"
        << "most_sm_clock_mhz: " << facts.most_sm_clock_mhz << "\n"
        << "most_memory_clock_mhz: " << facts.most_memory_clock_mhz << "\n"
        << "sm_clock_before_mhz: " << reading.sm_clock_mhz << "\n"
        << "power_before_w: " << reading.power_w << "\n"
        << "temperature_before_c: " << reading.temperature_c << "\n";
  } catch (const std::exception& error) {
    out << "power_meter: \"" << error.what() << "\"\n";
  }
  out << "l2_flushed: false\n"
         "data: uniform random\n"
         "method: median of replays of a CUDA graph of many launches, see docs/bench.md\n";
  if (!out.flush()) {
    throw std::runtime_error("cannot write " + file.string());
  }
}

}  // namespace roofcast::bench
