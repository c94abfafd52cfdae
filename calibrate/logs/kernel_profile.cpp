// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/kernel_profile.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/csv/packed_stream.hpp"
#include "base/document/problems.hpp"
#include "calibrate/logs/nsight.hpp"
#include "calibrate/logs/refuse.hpp"

namespace roofcast::calibrate {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kStep = "ProfilerStep#";

// ---- The PyTorch profiler -----------------------------------------------------------------------

// Names of categories have changed over the years.
bool on_gpu(std::string_view category) {
  return category == "kernel" || category == "Kernel" || category == "gpu_memcpy" ||
         category == "Memcpy" || category == "gpu_memset" || category == "Memset";
}

// Gathers the events of a trace as the parser meets them.
class TraceReader : public nlohmann::json_sax<Json> {
 public:
  explicit TraceReader(std::string file) : file_(std::move(file)) {}

  KernelProfile profile() {
    KernelProfile profile = gathered_.profile(file_);
    profile.iterations = static_cast<std::int64_t>(iterations_.size());
    return profile;
  }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override {
    return number(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return number(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool binary(binary_t&) override { return true; }
  bool string(string_t& value) override {
    if (depth_ == event_depth_) {
      if (key_ == "name") {
        event_.name = value;
      } else if (key_ == "cat") {
        event_.category = value;
      } else if (key_ == "ph") {
        event_.phase = value;
      }
    }
    return true;
  }
  bool key(string_t& value) override {
    key_ = value;
    return true;
  }
  bool start_object(std::size_t) override {
    ++depth_;
    if (depth_ == event_depth_) {
      event_ = {};
    }
    return true;
  }
  bool end_object() override {
    if (depth_ == event_depth_) {
      add();
    }
    --depth_;
    return true;
  }
  // The events are the document, or below its key "traceEvents".
  bool start_array(std::size_t) override {
    ++depth_;
    if (depth_ == 1 || (depth_ == 2 && key_ == "traceEvents")) {
      event_depth_ = depth_ + 1;
    }
    return true;
  }
  bool end_array() override {
    event_depth_ = depth_ + 1 == event_depth_ ? kNever : event_depth_;
    --depth_;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    const bool ends =
        token.empty() || token.find("<EOF>") != std::string::npos ||
        std::string_view(error.what()).find("unexpected end of input") != std::string_view::npos;
    refuse(file_,
           ends ? fmt::format("the trace ends in the middle, at byte {}: it is cut off", position)
                : fmt::format("no JSON at byte {}", position));
  }

 private:
  static constexpr double kMicro = 1e-6;
  static constexpr double kLongest = 8.64e10;  // us: a day
  static constexpr double kLatest = 1e17;      // us: three thousand years
  static constexpr int kNever = -1;

  struct Event {
    std::string name;
    std::string category;
    std::string phase;
    double start = std::numeric_limits<double>::quiet_NaN();  // us
    double duration = std::numeric_limits<double>::quiet_NaN();
    double process = 0.0;
    double device = std::numeric_limits<double>::quiet_NaN();
  };
  bool number(double value) {
    if (depth_ == event_depth_) {
      if (key_ == "ts") {
        event_.start = value;
      } else if (key_ == "dur") {
        event_.duration = value;
      } else if (key_ == "pid") {
        event_.process = value;
      }
    } else if (event_depth_ != kNever && depth_ == event_depth_ + 1 && key_ == "device") {
      event_.device = value;  // the only key of that name is in "args"
    }
    return true;
  }

  void add() {
    if (event_.phase != "X") {
      return;
    }
    if (std::string_view(event_.name).starts_with(kStep)) {
      iterations_.insert(event_.name);  // once by the host, once by each GPU
      return;
    }
    if (!on_gpu(event_.category)) {
      return;
    }
    if (!(event_.duration >= 0.0) || !std::isfinite(event_.start)) {
      refuse(file_, fmt::format("kernel \"{}\": ts or dur is no number", event_.name));
    }
    if (event_.duration > kLongest || std::abs(event_.start) > kLatest) {
      refuse(file_, fmt::format("kernel \"{}\": no clock has ts {:g} and dur {:g}: they are in us",
                                event_.name, event_.start, event_.duration));
    }
    gathered_.add(std::isnan(event_.device) ? event_.process : event_.device, event_.name,
                  event_.start, event_.duration);
  }

  std::string file_;
  int depth_ = 0;
  int event_depth_ = kNever;  // of the objects that are events
  std::string key_;
  Event event_;
  KernelRuns<double> gathered_{kMicro};
  std::set<std::string> iterations_;
};

KernelProfile read_trace(const std::filesystem::path& file) {
  base::PackedStream in(file);
  TraceReader reader(file.string());
  Json::sax_parse(in, &reader);
  return reader.profile();
}

}  // namespace

KernelProfile read_kernel_profile(const std::filesystem::path& file, LogFormat format) {
  return format == LogFormat::kernel_trace ? read_trace(file) : read_nsight(file, format);
}

}  // namespace roofcast::calibrate
