// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/requests.hpp"

#include <stdexcept>

namespace roofcast::workloads {
namespace {

template <class Shape>
Requests drawn(const Arrivals& arrivals, std::size_t count, std::uint64_t seed, Shape shape) {
  ArrivalTimes times(arrivals, base::Random(seed, "arrivals"));
  Requests drawn;
  drawn.requests.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    Request request;
    request.arrival = times.next();
    shape(request);
    drawn.requests.push_back(request);
  }
  return drawn;
}

}  // namespace

Requests draw_requests(const Arrivals& arrivals, const Lengths& input, const Lengths& output,
                       std::size_t count, std::uint64_t seed) {
  base::Random inputs(seed, "input_tokens");
  base::Random outputs(seed, "output_tokens");
  return drawn(arrivals, count, seed, [&](Request& request) {
    request.input_tokens = draw(input, inputs);
    request.output_tokens = draw(output, outputs);
  });
}

Requests draw_requests(const Arrivals& arrivals, const Requests& trace, std::size_t count,
                       std::uint64_t seed) {
  if (trace.requests.empty()) {
    throw std::logic_error("a trace without requests has no lengths");
  }
  base::Random pairs(seed, "pairs");
  const auto last = static_cast<std::int64_t>(trace.requests.size()) - 1;
  return drawn(arrivals, count, seed, [&](Request& request) {
    const Request& like = trace.requests[static_cast<std::size_t>(pairs.integer(0, last))];
    request.input_tokens = like.input_tokens;
    request.output_tokens = like.output_tokens;
  });
}

}  // namespace roofcast::workloads
