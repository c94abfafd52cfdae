// SPDX-License-Identifier: Apache-2.0
#include "calibrate/bench/power_meter.hpp"

#include <dlfcn.h>

#include <array>
#include <chrono>
#include <stdexcept>

#include "calibrate/bench/clock.hpp"

namespace roofcast::bench {

// The part of nvml.h that is used. Names and values are those of its ABI.
struct PowerMeter::Library {
  using Device = void*;
  enum Clock : int { kSm = 1, kMemory = 2 };
  static constexpr int kTemperatureGpu = 0;

  Library() : handle(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
    if (handle == nullptr) {
      throw std::runtime_error("NVML is not there: libnvidia-ml.so.1 cannot be opened");
    }
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (started) {
      call<int()>("nvmlShutdown");
    }
    dlclose(handle);
  }

  template <class Signature, class... Arguments>
  int call(const char* function, Arguments... arguments) const {
    auto* const address = reinterpret_cast<Signature*>(dlsym(handle, function));
    constexpr int kNotFound = 13;  // NVML_ERROR_FUNCTION_NOT_FOUND
    return address == nullptr ? kNotFound : address(arguments...);
  }
  static void require(int status, const char* function) {
    if (status != 0) {
      throw std::runtime_error(std::string(function) + " failed with NVML status " +
                               std::to_string(status));
    }
  }
  // A number that the driver may not know.
  template <class Signature, class... Arguments>
  double number(const char* function, Arguments... arguments) const {
    unsigned value = 0;
    return call<Signature>(function, device, arguments..., &value) == 0 ? value : 0.0;
  }

  void* handle;
  bool started = false;
  Device device = nullptr;
};

PowerMeter::PowerMeter(const std::string& pci_bus_id) : library_(std::make_unique<Library>()) {
  Library::require(library_->call<int()>("nvmlInit_v2"), "nvmlInit_v2");
  library_->started = true;
  const char* function = "nvmlDeviceGetHandleByPciBusId_v2";
  Library::require(library_->call<int(const char*, Library::Device*)>(function, pci_bus_id.c_str(),
                                                                      &library_->device),
                   function);
}

PowerMeter::~PowerMeter() = default;

PowerReading PowerMeter::read() const {
  unsigned milliwatts = 0;
  const char* function = "nvmlDeviceGetPowerUsage";
  Library::require(
      library_->call<int(Library::Device, unsigned*)>(function, library_->device, &milliwatts),
      function);
  const auto clock = [&](int which) {
    return library_->number<int(Library::Device, int, unsigned*)>("nvmlDeviceGetClockInfo", which);
  };
  return {milliwatts * 1e-3, clock(Library::kSm), clock(Library::kMemory),
          library_->number<int(Library::Device, int, unsigned*)>(
              "nvmlDeviceGetTemperature", static_cast<int>(Library::kTemperatureGpu)),
          0.0};
}

PowerFacts PowerMeter::facts() const {
  PowerFacts facts;
  std::array<char, 96> driver{};
  if (library_->call<int(char*, unsigned)>("nvmlSystemGetDriverVersion", driver.data(),
                                           static_cast<unsigned>(driver.size() - 1)) == 0) {
    facts.driver = driver.data();
  }
  const auto clock = [&](int which) {
    return library_->number<int(Library::Device, int, unsigned*)>("nvmlDeviceGetMaxClockInfo",
                                                                  which);
  };
  facts.power_limit_w =
      1e-3 * library_->number<int(Library::Device, unsigned*)>("nvmlDeviceGetEnforcedPowerLimit");
  facts.most_sm_clock_mhz = clock(Library::kSm);
  facts.most_memory_clock_mhz = clock(Library::kMemory);
  return facts;
}

PowerSampler::PowerSampler(const PowerMeter& meter)
    : thread_([this, &meter] {
        try {
          while (!stopping_) {
            readings_.push_back(meter.read());
            readings_.back().time_s = now_s();
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
          }
        } catch (...) {
          failure_ = std::current_exception();
        }
      }) {}

PowerSampler::~PowerSampler() {
  stopping_ = true;
  if (thread_.joinable()) {
    thread_.join();
  }
}

std::vector<PowerReading> PowerSampler::stop() {
  stopping_ = true;
  thread_.join();
  if (failure_ != nullptr) {
    std::rethrow_exception(failure_);
  }
  return readings_;
}

}  // namespace roofcast::bench
