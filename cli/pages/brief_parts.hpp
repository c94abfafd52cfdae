// SPDX-License-Identifier: Apache-2.0
//
// What briefs of roadmaps, sweeps and scenarios say alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/node.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::cli {

// With the characters escaped that HTML gives a meaning.
std::string for_html(const std::string& text);

// "[12]", a row of the CSV beside the page; the first below the header is 1.
std::string cite(std::size_t row);

// "8.9 to 18.7 ms", "900 us to 1.1 ms"; "-" where there is no interval.
std::string interval_text(sim::Interval90 interval, std::string_view unit);

// What limits a metric; what limits throughput where nothing is told of it.
std::string limit_or_throughput(const sim::ServingEstimate& estimate, std::string_view metric);

// What is paid for a system, each figure with its date and source, of an answer about `costs`; then what of its figures is
// that of the chip before. `document`: its references are loaded.
std::vector<std::string> price_lines(const base::Node& document, const sim::Scenario& scenario,
                                     bool costs);

// "NVIDIA H200 SXM with vllm, fitted (transferred)"
std::string parameters_text(std::string_view calibration, hardware::Provenance provenance);
extern const char* const kIntervals;  // where intervals come from

}  // namespace roofcast::cli
