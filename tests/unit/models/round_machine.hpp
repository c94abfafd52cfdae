// SPDX-License-Identifier: Apache-2.0
//
// A machine of round numbers, for derivations by hand: 100 SMs at 1 GHz, 1 PFLOP/s at every
// width, 1 TB/s of memory, 10 Texp/s, an L2 and loads in flight without limit, no latency; kernels
// launch in 1 us. Eight chips, four in a scale-up domain of 100 GB/s and 1 us hops, 10 GB/s and 5 us
// beyond.
#pragma once

#include "models/machine.hpp"

namespace roofcast::models {

inline Machine round_machine() {
  using namespace base;
  Machine m;
  m.sms = m.measured_sms = m.l2_sms = 100;
  m.clock = Hertz::from_si(1e9);
  m.peak.fill(FlopsPerSecond::from_si(1e15));
  m.tensor = m.peak;
  m.exponential = FlopsPerSecond::from_si(1e13);
  m.dram = BytesPerSecond::from_si(1e12);
  m.l2 = BytesPerSecond::from_si(1e18);
  m.l2_capacity = 64e6 * byte;
  m.dram_latency = 1e-12 * second;
  m.calibration.launch = 1.0 * microsecond;
  m.calibration.in_flight_bytes_per_sm = 1e5;
  m.calibration.decode_keys_per_split = 256.0;
  m.calibration.wave_tail = 1.0;
  m.calibration.overlap_exponent = 4.0;
  m.calibration.start_trips = 10.0 * microsecond / m.dram_latency;
  m.calibration.custom_in_flight = 1e9 * byte;
  m.calibration.deduplication_overhead = 100.0 * microsecond;
  m.calibration.deduplicated_bytes_per_sm_clock = 1e9;
  m.calibration.in_network_efficiency = 0.5;
  m.calibration.moe_kernels = 7.0;
  m.scale_up = {BytesPerSecond::from_si(1e11), 1.0 * microsecond, false, true};
  m.scale_out = {BytesPerSecond::from_si(1e10), 5.0 * microsecond, false, false};
  m.scale_up_domain = 4;
  return m;
}

}  // namespace roofcast::models
