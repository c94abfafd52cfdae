// SPDX-License-Identifier: Apache-2.0
//
// A load for seconds: how its power rises to the limit, and what clocks and speed the limit leaves. A row is one second.
// It begins cold: nothing runs for two seconds before.
#include <chrono>
#include <thread>

#include "calibrate/bench/clock.hpp"
#include "calibrate/bench/gpu/load.cuh"
#include "calibrate/bench/measure.hpp"
#include "calibrate/bench/power_meter.hpp"
#include "calibrate/bench/sustained.hpp"

namespace roofcast::bench {
namespace {

constexpr std::size_t kSeconds = 12;
constexpr auto kPause = std::chrono::seconds(2);

std::vector<Second> log_of(const PowerMeter& meter, const std::function<void()>& round) {
  std::this_thread::sleep_for(kPause);
  PowerSampler sampler(meter);
  const double start = now_s();
  std::vector<double> ends;
  do {
    round();
    ends.push_back(now_s());
  } while (ends.back() - start < static_cast<double>(kSeconds));
  return by_second(start, ends, sampler.stop(), kSeconds);
}

// Of a load: what a round is.
struct Load {
  std::string name;
  GemmShape gemm;  // zero: none
  std::int64_t bytes = 0;
};

// Rows of one load; it runs when the first one is measured.
class LoggedLoad {
 public:
  LoggedLoad(const Stream& stream, Load load) : stream_(stream), load_(std::move(load)) {}

  Cells at(const PowerMeter& meter, std::size_t second) {
    if (log_.empty()) {
      run(meter);
    }
    const Second& s = log_[second];
    const double seconds = s.seconds_per_round / per_round_;
    Cells cells;
    for (const double figure : {seconds * 1e3, s.power_w, meter.facts().power_limit_w,
                                s.sm_clock_mhz, s.memory_clock_mhz, s.temperature_c}) {
      cells.emplace_back(figure);
    }
    cells.emplace_back(s.readings);
    cells.emplace_back(load_.bytes == 0 ? LtGemm::flop(load_.gemm) / seconds * 1e-12 : 0.0);
    cells.emplace_back(load_.bytes == 0 ? 0.0 : moved_ / s.seconds_per_round * 1e-9);
    return cells;
  }
  Cells shape(std::size_t second) const {
    return {load_.name,   load_.gemm.m, load_.gemm.n,
            load_.gemm.k, load_.bytes,  static_cast<std::int64_t>(second + 1)};
  }

 private:
  void run(const PowerMeter& meter) {
    if (load_.bytes > 0) {
      const CopyLoad copy(stream_, static_cast<std::size_t>(load_.bytes));
      moved_ = copy.bytes();
      log_ = log_of(meter, [&] { copy.round(); });
      return;
    }
    for (const GemmType& type : gemm_types()) {
      if (load_.name == type.name) {
        if (current_device().capability < type.least_capability) {
          throw std::runtime_error("the GPU does not multiply in this format");
        }
        const GemmLoad gemm(stream_, type, load_.gemm);
        per_round_ = gemm.gemms();
        log_ = log_of(meter, [&] { gemm.round(); });
      }
    }
  }

  const Stream& stream_;
  Load load_;
  double per_round_ = 1.0;
  double moved_ = 0.0;
  std::vector<Second> log_;
};

}  // namespace

void run_sustained(SuiteRun& run) {
  const Stream stream;
  Table table(run.directory, layout("sustained"), run.subject);
  std::unique_ptr<PowerMeter> meter;
  std::string no_meter;
  try {
    meter = std::make_unique<PowerMeter>(current_device().pci_bus_id);
  } catch (const std::exception& error) {
    no_meter = error.what();
  }
  constexpr GemmShape kLarge{8192, 8192, 8192};
  const Load loads[] = {{"bfloat16", kLarge, 0},
                        {"fp8", kLarge, 0},
                        {"copy", {}, static_cast<std::int64_t>(CopyLoad::most_bytes())}};
  for (const Load& load : loads) {
    LoggedLoad logged(stream, load);
    for (std::size_t second = 0; second < kSeconds; ++second) {
      run.row(table, logged.shape(second), [&] {
        if (meter == nullptr) {
          throw std::runtime_error(no_meter);
        }
        return logged.at(*meter, second);
      });
    }
  }
}

}  // namespace roofcast::bench
