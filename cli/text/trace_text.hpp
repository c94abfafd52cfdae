// SPDX-License-Identifier: Apache-2.0
//
// What `roofcast simulate` does with a recorded trace, and what it tells of one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/document/node.hpp"
#include "workloads/traffic/request_stream.hpp"

namespace roofcast::cli {

// --trace: `traffic.trace.file` of the scenario becomes `file`, and what a trace replaces is removed. Returns a line that
// says what was removed; empty if nothing was.
std::string replace_by_trace(base::Node& document, const std::string& file);

// "5,000 of 19,366 requests of azure.csv, from 10 min to 40 min, 2 times as fast". The stream has a trace.
std::string replay_text(const workloads::RequestStream& stream,
                        const workloads::Requests& requests);
nlohmann::ordered_json replay_json(const workloads::RequestStream& stream,
                                   const workloads::Requests& requests);

// The scenario for a page that others read: it has the name of the trace, not where it lies on this machine.
base::Node without_path_of_trace(base::Node document);

}  // namespace roofcast::cli
