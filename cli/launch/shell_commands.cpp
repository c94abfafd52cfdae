// SPDX-License-Identifier: Apache-2.0
#include "cli/launch/shell_commands.hpp"

#include <fmt/format.h>

#include <string_view>

#include "cli/launch/servers.hpp"
#include "cli/text/quoted.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kWidth = 96;

// Options, a line each where there are many.
std::string command_of(const LaunchedServer& server) {
  std::string text = fmt::format("{}", fmt::join(server.program, " "));
  std::size_t line = 0;
  for (const LaunchOption& option : server.options) {
    const std::string word = option.value.empty()
                                 ? option.name
                                 : fmt::format("{} {}", option.name, shell_word(option.value));
    if (text.size() - line + word.size() > kWidth) {
      text += " \\\n  ";
      line = text.size() - 2;
    }
    text += " " + word;
  }
  return server.file.empty() ? text
                             : fmt::format("printf '%s\\n' '{}' > {}\n{}",
                                           fmt::join(server.file_lines, "' '"), server.file, text);
}

// What passes a request on to the servers of two pools.
std::string_view router_of(std::string_view stack) {
  return stack == "sglang" ? "python3 -m sglang_router.launch_router --pd-disaggregation --prefill "
                             "URL --decode URL"
         : stack == "trtllm"
             ? "trtllm-serve disaggregated -c pools.yaml   # context_servers, generation_servers: "
               "urls of "
               "the above"
             : "# and a proxy that sends each request to a prefill server, then to a decode server";
}

std::string heading_of(const LaunchedServer& server, std::int64_t domain) {
  const std::string_view pool = server.is_prefill()  ? "prefill "
                                : server.is_pooled() ? "decode "
                                                     : "";
  const std::string_view plural = server.gpus == 1 ? "" : "s";
  return (server.replicas == 1 ? fmt::format("# one {}server, {} GPU{}", pool, server.gpus, plural)
                               : fmt::format("# {} {}servers, {} GPU{} each", server.replicas, pool,
                                             server.gpus, plural)) +
         (server.gpus > domain ? "; it spans nodes, which needs more options\n" : "\n");
}

}  // namespace

std::string launch_commands(const sim::Scenario& s) {
  const Launch launch = launch_of(s);
  if (!launch.refusal.empty()) {
    return comment_line(launch.refusal);
  }
  std::string text;
  for (const LaunchedServer& server : launch.servers) {
    text += heading_of(server, s.platform.system.scale_up_domain) + command_of(server) + "\n";
  }
  if (launch.servers.size() > 1) {
    return text + fmt::format("{}\n", router_of(launch.stack));
  }
  return text + (launch.servers.front().replicas > 1 ? "# and a router before them\n" : "");
}

}  // namespace roofcast::cli
