// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/requests.hpp"

namespace roofcast::workloads {

void set_rate(Requests& requests, std::size_t from, std::size_t to, std::size_t arrivals,
              base::Hertz rate) {
  const base::Seconds drawn = requests.requests[to].arrival - requests.requests[from].arrival;
  const base::Seconds wanted = static_cast<double>(arrivals) / rate;
  if (!(drawn > base::Seconds{})) {
    return;
  }
  for (Request& request : requests.requests) {
    request.arrival = wanted / drawn * request.arrival;
  }
}

Requests draw_requests(const Arrivals& arrivals, const Lengths& input, const Lengths& output,
                       std::size_t count, std::uint64_t seed) {
  ArrivalTimes times(arrivals, base::Random(seed, "arrivals"));
  base::Random inputs(seed, "input_tokens");
  base::Random outputs(seed, "output_tokens");
  Requests drawn;
  drawn.requests.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    Request request;
    request.arrival = times.next();
    request.input_tokens = draw(input, inputs);
    request.output_tokens = draw(output, outputs);
    drawn.requests.push_back(request);
  }
  return drawn;
}

}  // namespace roofcast::workloads
