// SPDX-License-Identifier: Apache-2.0
//
// A simulation as tables: its requests, and its seconds.
#pragma once

#include <string>
#include <vector>

#include "base/csv/csv.hpp"
#include "sim/replay/simulate.hpp"
#include "workloads/traffic/request_stream.hpp"

namespace roofcast::cli {

// The last three are those of a stream with a trace.
std::vector<std::string> request_columns(const workloads::RequestStream& stream);
// `requests` are those of the stream that were simulated. `meets` is empty where nothing is promised.
void write_requests(base::CsvWriter& csv, const sim::Simulation& simulation,
                    const workloads::RequestStream& stream, const workloads::Requests& requests);

std::vector<std::string> timeline_columns();
void write_timeline(base::CsvWriter& csv, const sim::Simulation& simulation);

}  // namespace roofcast::cli
