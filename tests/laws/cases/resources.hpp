// SPDX-License-Identifier: Apache-2.0
//
// The resources of a machine, each with a way to have more of it: a rate times, or a latency
// divided by, a factor.
#pragma once

#include <string_view>

#include "models/machine.hpp"

namespace roofcast::laws {

struct Resource {
  std::string_view name;
  void (*improve)(models::Machine&, double factor);
};

inline constexpr Resource kResources[] = {
    {"tensor peaks",
     [](models::Machine& m, double f) {
       for (std::size_t i = 0; i < m.peak.size(); ++i) {
         m.peak[i] *= f;
         m.tensor[i] *= f;
       }
     }},
    {"HBM bandwidth", [](models::Machine& m, double f) { m.dram *= f; }},
    {"L2 rate", [](models::Machine& m, double f) { m.l2 *= f; }},
    {"exponential rate", [](models::Machine& m, double f) { m.exponential *= f; }},
    {"link rate",
     [](models::Machine& m, double f) {
       m.scale_up.bandwidth *= f;
       m.scale_up.shared *= f;
     }},
    {"NIC rate", [](models::Machine& m, double f) { m.scale_out.bandwidth *= f; }},
    {"clock", [](models::Machine& m, double f) { m.clock *= f; }},
    {"DRAM latency", [](models::Machine& m, double f) { m.dram_latency /= f; }},
    {"link latency", [](models::Machine& m, double f) { m.scale_up.latency /= f; }},
    {"NIC latency", [](models::Machine& m, double f) { m.scale_out.latency /= f; }},
    {"network proxies",
     [](models::Machine& m, double f) {
       for (hardware::Protocol& protocol : m.calibration.protocols) {
         protocol.scale_out_wait /= f;
         protocol.tree_wait /= f;
       }
     }},
    {"kernel launch", [](models::Machine& m, double f) { m.calibration.launch /= f; }},
    {"library overhead", [](models::Machine& m, double f) { m.calibration.start_trips /= f; }},
};

}  // namespace roofcast::laws
