// SPDX-License-Identifier: Apache-2.0
#include "cli/text/trace_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/tables/text_table.hpp"

namespace roofcast::cli {
namespace {

std::string count(std::size_t requests) { return display(static_cast<double>(requests), ""); }

}  // namespace

std::string replace_by_trace(base::Node& document, const std::string& file) {
  base::Node& traffic = document["traffic"];
  std::vector<std::string> removed;
  std::erase_if(traffic.entries, [&](const base::Entry& entry) {
    const bool replaced =
        std::find(std::begin(workloads::kReplacedByTrace), std::end(workloads::kReplacedByTrace),
                  entry.key) != std::end(workloads::kReplacedByTrace);
    if (replaced) {
      removed.push_back("traffic." + entry.key);
    }
    return replaced;
  });
  if (traffic.is_null() || traffic.is_map()) {
    base::Node& trace = traffic["trace"];
    if (trace.is_scalar()) {
      removed.emplace_back("traffic.trace");
      trace = {};
    }
    const auto source = std::make_shared<const base::Source>(base::Source{"--trace", file, {}});
    trace["file"] = base::scalar_node(file, {source, {}});
  }
  return removed.empty() ? std::string()
                         : fmt::format("note: --trace {} replaces {} of the scenario", file,
                                       fmt::join(removed, ", "));
}

base::Node without_path_of_trace(base::Node document) {
  for (const char* key : {"traffic.trace", "traffic.trace.file"}) {
    if (base::Node* file = document.find_path(key); file != nullptr && file->is_scalar()) {
      file->text = std::filesystem::path(file->text).filename().string();
    }
  }
  return document;
}

std::string replay_text(const workloads::RequestStream& stream,
                        const workloads::Requests& requests) {
  const workloads::ReplayedTrace& trace = *stream.trace;
  const auto used = static_cast<std::int64_t>(requests.requests.size());
  std::string text = fmt::format(
      "{}{} requests of {}",
      used < requests.available ? fmt::format("{} of ", count(requests.requests.size())) : "",
      display(static_cast<double>(requests.available), ""), trace.file.filename().string());
  if (trace.from.si() > 0.0 || trace.to) {
    text += fmt::format(", from {} to {}", display(trace.from.si(), "s"),
                        display((trace.from + trace.window->length).si(), "s"));
  }
  if (trace.repeat > 1) {
    text += fmt::format(", {} times over", trace.repeat);
  }
  if (trace.keep < 1.0) {
    text += fmt::format(", {:.4g} % of them kept", 100.0 * trace.keep);
  }
  if (trace.speed != 1.0) {
    text += fmt::format(", at {:.4g} times its speed", trace.speed);
  }
  return text + (trace.daily ? ", with a daily profile" : "");
}

nlohmann::ordered_json replay_json(const workloads::RequestStream& stream,
                                   const workloads::Requests& requests) {
  const workloads::ReplayedTrace& trace = *stream.trace;
  nlohmann::ordered_json json = {{"file", trace.file.string()},
                                 {"from_s", trace.from.si()},
                                 {"to_s", (trace.from + trace.window->length).si()},
                                 {"repeat", trace.repeat},
                                 {"keep", trace.keep},
                                 {"speed", trace.speed},
                                 {"requests", requests.requests.size()},
                                 {"of_requests", requests.available},
                                 {"of_recorded_requests", trace.window->trace->requests.size()}};
  if (trace.daily) {
    json["daily"] = *trace.daily;
  }
  return json;
}

}  // namespace roofcast::cli
