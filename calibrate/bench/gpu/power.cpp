// SPDX-License-Identifier: Apache-2.0
//
// Power and clocks under a load that is kept up: GEMMs by number format, reading DRAM, nothing at all.
//
// A load runs for 1.5 s, which are not counted, since the meter shows the mean of the last second, and then 1.5 s that
// are. Latency is that of the same time, so the clocks the power limit leaves are in it.
#include <chrono>

#include "calibrate/bench/clock.hpp"
#include "calibrate/bench/gpu/load.cuh"
#include "calibrate/bench/measure.hpp"
#include "calibrate/bench/power_meter.hpp"

namespace roofcast::bench {
namespace {

constexpr double kSettle = 1.5;   // seconds
constexpr double kCounted = 1.5;  // seconds
struct Sustained {
  double seconds_per_round = 0.0;
  Spread power_w;
  double sm_clock_mhz = 0.0, memory_clock_mhz = 0.0, temperature_c = 0.0;
};

// `round` does a piece of the load, some milliseconds, and waits for it.
Sustained sustain(const PowerMeter& meter, const std::function<void()>& round) {
  for (const double start = now_s(); now_s() - start < kSettle;) {
    round();
  }
  PowerSampler sampler(meter);
  const double start = now_s();
  int rounds = 0;
  do {
    round();
    ++rounds;
  } while (now_s() - start < kCounted);
  const double seconds = now_s() - start;
  const std::vector<PowerReading> readings = sampler.stop();
  const auto spread = [&](double PowerReading::*field) {
    std::vector<double> values;
    for (const PowerReading& reading : readings) {
      values.push_back(reading.*field);
    }
    return spread_of(values);
  };
  return {
      seconds / rounds, spread(&PowerReading::power_w), spread(&PowerReading::sm_clock_mhz).median,
      spread(&PowerReading::memory_clock_mhz).median, spread(&PowerReading::temperature_c).median};
}

// power_w to samples, as both tables have them.
Cells power_cells(const Sustained& s, const PowerMeter& meter) {
  return {s.power_w.median, meter.facts().power_limit_w, s.power_w.p10,   s.power_w.p90,
          s.sm_clock_mhz,   s.memory_clock_mhz,          s.temperature_c, s.power_w.samples};
}

Cells measure_gemm(const PowerMeter& meter, const Stream& stream, const GemmType& type,
                   const GemmShape& shape) {
  const GemmLoad load(stream, type, shape);
  const Sustained sustained = sustain(meter, [&] { load.round(); });
  const double seconds = sustained.seconds_per_round / load.gemms();
  Cells cells = {seconds * 1e3};
  for (Cell& cell : power_cells(sustained, meter)) {
    cells.push_back(std::move(cell));
  }
  cells.emplace_back(LtGemm::flop(shape) / seconds * 1e-12);
  return cells;
}

Cells measure_idle(const PowerMeter& meter) {
  Cells cells = power_cells(
      sustain(meter, [] { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }), meter);
  cells.emplace_back(0.0);
  return cells;
}

Cells measure_copy(const PowerMeter& meter, const Stream& stream, std::size_t bytes) {
  const CopyLoad load(stream, bytes);
  const Sustained sustained = sustain(meter, [&] { load.round(); });
  Cells cells = power_cells(sustained, meter);
  cells.emplace_back(load.bytes() / sustained.seconds_per_round * 1e-9);
  return cells;
}

}  // namespace

void run_power(SuiteRun& run) {
  const Device device = current_device();
  const Stream stream;
  Table loads(run.directory, layout("power"), run.subject);
  Table gemms(run.directory, layout("gemm_power"), run.subject);
  std::unique_ptr<PowerMeter> meter;
  std::string no_meter;
  try {
    meter = std::make_unique<PowerMeter>(device.pci_bus_id);
  } catch (const std::exception& error) {
    no_meter = error.what();
  }
  const auto metered = [&](const std::function<Cells(const PowerMeter&)>& measure) {
    return [&, measure] {
      if (meter == nullptr) {
        throw std::runtime_error(no_meter);
      }
      return measure(*meter);
    };
  };
  run.row(loads, {std::string("idle"), std::int64_t{0}}, metered(measure_idle));
  const auto bytes = CopyLoad::most_bytes();
  run.row(loads, {std::string("copy"), static_cast<std::int64_t>(bytes)},
          metered([&](const PowerMeter& m) { return measure_copy(m, stream, bytes); }));
  for (const GemmShape& shape : power_shapes()) {
    for (const GemmType& type : gemm_types()) {
      run.row(gemms, {std::string("cublaslt"), std::string(type.name), shape.m, shape.n, shape.k},
              metered([&](const PowerMeter& m) {
                if (device.capability < type.least_capability) {
                  throw std::runtime_error("the GPU does not multiply in this format");
                }
                return measure_gemm(m, stream, type, shape);
              }));
    }
  }
}

}  // namespace roofcast::bench
