// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/request_rows.hpp"

#include <cmath>

#include "sim/replay/simulation_summary.hpp"

namespace roofcast::cli {

std::vector<std::string> request_columns(const workloads::RequestStream& stream) {
  std::vector<std::string> columns = {
      "request",       "arrival_s",     "queued_s",        "scheduled_s",  "prefilled_s",
      "transferred_s", "first_token_s", "last_token_s",    "input_tokens", "output_tokens",
      "priority",      "reused_tokens", "restored_tokens", "preemptions",  "replica",
      "rejected",      "ttft_s",        "tpot_s",          "e2e_s",        "task",
      "session",       "tools_s",       "class",           "meets"};
  if (stream.trace) {
    columns.insert(columns.end(), {"trace", "trace_arrival_s", "of_requests"});
  }
  return columns;
}

void write_requests(base::CsvWriter& csv, const sim::Simulation& simulation,
                    const workloads::RequestStream& stream, const workloads::Requests& requests) {
  const workloads::RequestClasses& classes = stream.classes;
  const bool objectives = any_objective(classes);
  std::size_t index = 0;
  for (const sim::ServedRequest& r : simulation.requests) {
    const auto append = [&](double value) { csv.append(r.rejected ? NAN : value); };
    csv.append(index);
    csv.append(r.arrival.si());
    csv.append(r.queued.si());
    append(r.scheduled.si());
    append(r.prefilled > base::Seconds{} ? r.prefilled.si() : NAN);
    append(r.transferred > base::Seconds{} ? r.transferred.si() : NAN);
    append(r.first_token.si());
    append(r.last_token.si());
    csv.append(r.input_tokens);
    csv.append(r.output_tokens);
    csv.append(r.priority);
    append(static_cast<double>(r.reused_tokens));
    append(static_cast<double>(r.restored_tokens));
    csv.append(r.preemptions);
    csv.append(r.replica);
    csv.append(r.rejected ? "true" : "false");
    append(r.ttft().si());
    append(r.output_tokens > 1 ? r.tpot().si() : NAN);
    append(r.end_to_end().si());
    const bool of_task = r.task >= 0;
    csv.append(of_task ? static_cast<double>(r.task) : NAN);
    csv.append(of_task ? static_cast<double>(r.session) : NAN);
    csv.append(of_task ? r.tools.si() : NAN);
    csv.append(classes.empty() ? "" : classes[class_of(classes, r.priority)].name);
    csv.append(!objectives ? "" : sim::meets(r, classes) ? "true" : "false");
    if (stream.trace) {
      csv.append(stream.trace->file.filename().string());
      csv.append(requests.requests[index].recorded.si());
      csv.append(requests.available);
    }
    csv.end_row();
    ++index;
  }
}

std::vector<std::string> timeline_columns() {
  return {"second",     "running",       "waiting",      "cache_share",
          "busy_share", "prompt_tokens", "output_tokens"};
}

void write_timeline(base::CsvWriter& csv, const sim::Simulation& simulation) {
  std::size_t index = 0;
  for (const sim::SimulatedSecond& second : simulation.seconds) {
    csv.append(index++);
    csv.append(second.running);
    csv.append(second.waiting);
    csv.append(second.cache);
    csv.append(second.busy);
    csv.append(second.prompt_tokens);
    csv.append(second.output_tokens);
    csv.end_row();
  }
}

}  // namespace roofcast::cli
