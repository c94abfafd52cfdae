// SPDX-License-Identifier: Apache-2.0
//
// How the row of an operator was measured: calibrate/conventions/operator_rows.yaml.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "calibrate/conventions/read_settings.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::calibrate {

// What a host that launches operators one by one takes for a row, in launches (Calibration::eager_launch).
struct HostLaunches {
  double launches = 0.0;  // 0: a CUDA graph, which no host paces
  double packing = 0.0;   // more where scales are packed for the tensor cores (chips with fp4)
};

struct OperatorSettings {
  std::int64_t weight_copies = 0;  // Gemm::copies
  HostLaunches host;
};

// Facts of one row. The shape is a GEMM's, of others none.
struct MeasuredKind {
  std::string_view kind;
  std::string_view stack;
  std::string_view format;
  std::string_view kernel;
  const workloads::Gemm* gemm = nullptr;
};

class OperatorConventions {
 public:
  OperatorConventions();
  const OperatorSettings& of(const MeasuredKind& measured);  // owned here

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string, unsigned>;
  using View =
      std::tuple<std::string_view, std::string_view, std::string_view, std::string_view, unsigned>;
  struct Less {  // tuples of unlike types are not compared by every compiler
    using is_transparent = void;
    bool operator()(const View& a, const View& b) const { return a < b; }
  };
  ReadSettings<OperatorSettings> conventions_;
  std::map<Key, OperatorSettings, Less> known_;  // rows are many, and facts slow to write
};

}  // namespace roofcast::calibrate
