// SPDX-License-Identifier: Apache-2.0
#include "cli/launch/kubernetes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/document/node.hpp"
#include "base/document/problems.hpp"
#include "cli/launch/servers.hpp"
#include "cli/text/quoted.hpp"

namespace roofcast::cli {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t kLongestName = 30;  // operators add that of the pool and more, up to 63
constexpr std::string_view kFolder = "/config/";  // of the engine's files

struct Manifest {
  std::string name;
  std::string image;
  Launch launch;
  std::int64_t host_gpus = 1;
  bool is_nvidia = true;
};

// GPUs of a server on each of the hosts that it needs, as few as divide it.
std::int64_t gpus_of_node(const LaunchedServer& server, std::int64_t host_gpus) {
  std::int64_t nodes = 1;
  while (server.gpus % nodes != 0 || server.gpus / nodes > host_gpus) {
    ++nodes;
  }
  return server.gpus / nodes;
}

std::string indented(const std::string& text, int by) {
  const std::string pad(static_cast<std::size_t>(by), ' ');
  std::string all;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    all += pad + text.substr(from, to - from) + "\n";
    from = to + 1;
  }
  return all;
}

// A list in a block.
std::string listed(const Words& words, int indent) {
  std::string all;
  for (const std::string& word : words) {
    all += fmt::format("- {}\n", word.starts_with("--") ? word : yaml_text(word));
  }
  return indented(all, indent);
}

struct ConfigFile {
  std::string name;
  std::string text;
};

std::string config_map(const Manifest& m, const std::vector<ConfigFile>& files) {
  if (files.empty()) {
    return "";
  }
  std::string all = fmt::format(
      "apiVersion: v1\n"
      "kind: ConfigMap\n"
      "metadata:\n"
      "  name: {}\n"
      "data:\n",
      m.name);
  for (const ConfigFile& file : files) {
    all += fmt::format("  {}: |\n{}", file.name, indented(file.text, 4));
  }
  return all + "---\n";
}

// What the options say, but for those that the manifest has of its own.
void add_options(const LaunchedServer& server, bool all, Words& words) {
  for (const LaunchOption& option : server.options) {
    if (all || option.of == LaunchOption::Of::engine) {
      words.push_back(option.name);
      if (!option.value.empty()) {
        words.push_back(option.value == server.file ? std::string(kFolder) + server.file
                                                    : option.value);
      }
    }
  }
}

std::string deployment(const Manifest& m) {
  const LaunchedServer& server = m.launch.servers.front();
  Words words;
  add_options(server, true, words);
  words.insert(words.end(), {"--host", "0.0.0.0", "--port", "8000"});
  std::vector<ConfigFile> files;
  if (!server.file.empty()) {
    files.push_back({server.file, fmt::format("{}\n", fmt::join(server.file_lines, "\n"))});
  }
  const bool has_file = !files.empty();
  return config_map(m, files) +
         fmt::format(
             "apiVersion: apps/v1\n"
             "kind: Deployment\n"
             "metadata:\n"
             "  name: {0}\n"
             "spec:\n"
             "  replicas: {1}\n"
             "  selector:\n"
             "    matchLabels: {{app: {0}}}\n"
             "  template:\n"
             "    metadata:\n"
             "      labels: {{app: {0}}}\n"
             "    spec:\n"
             "      containers:\n"
             "        - name: server\n"
             "          image: {2}\n"
             "          command:\n{3}"
             "          args:\n{4}"
             "          ports:\n"
             "            - {{name: http, containerPort: 8000}}\n"
             "          readinessProbe:\n"
             "            tcpSocket: {{port: http}}\n"
             "          resources:\n"
             "            limits: {{{5}: '{6}'}}\n"
             "          volumeMounts:\n"
             "            - {{name: shared-memory, mountPath: /dev/shm}}\n{7}"
             "      volumes:\n"
             "        - name: shared-memory\n"
             "          emptyDir: {{medium: Memory}}\n{8}",
             m.name, server.replicas, yaml_text(m.image), listed(server.program, 12),
             listed(words, 12), m.is_nvidia ? "nvidia.com/gpu" : "amd.com/gpu", server.gpus,
             has_file ? "            - {name: config, mountPath: /config}\n" : "",
             has_file ? fmt::format("        - name: config\n"
                                    "          configMap: {{name: {}}}\n",
                                    m.name)
                      : "") +
         fmt::format(
             "---\n"
             "apiVersion: v1\n"
             "kind: Service\n"
             "metadata:\n"
             "  name: {0}\n"
             "spec:\n"
             "  selector: {{app: {0}}}\n"
             "  ports:\n"
             "    - {{name: http, port: 8000, targetPort: http}}\n",
             m.name);
}

std::string role_of(const LaunchedServer& server) {
  return server.is_prefill() ? "prefill" : server.is_pooled() ? "decode" : "worker";
}

// The engine's options by their names in Python, as TensorRT-LLM's worker takes them.
ConfigFile engine_file(const LaunchedServer& server) {
  base::Node all;
  all.kind = base::Node::Kind::map;
  if (!server.file_lines.empty()) {
    all = base::parse_document("engine", fmt::format("{}\n", fmt::join(server.file_lines, "\n")));
  }
  for (const LaunchOption& option : server.options) {
    if (option.key.empty()) {
      continue;
    }
    const auto dot = option.key.find('.');
    base::Node& value = dot == std::string::npos
                            ? all[option.key]
                            : all[option.key.substr(0, dot)][option.key.substr(dot + 1)];
    value = base::scalar_node(option.value.empty() ? "true" : option.value, all.place);
  }
  return {role_of(server) + ".yaml", base::to_yaml(all)};
}

Words worker_words(const Manifest& m, const LaunchedServer& server) {
  const bool is_trtllm = m.launch.stack == "trtllm";
  const bool is_vllm = m.launch.stack == "vllm";
  Words words = {is_vllm ? "--model" : "--model-path", "MODEL"};
  if (is_trtllm) {
    words.insert(words.end(),
                 {"--extra-engine-args", std::string(kFolder) + role_of(server) + ".yaml"});
  } else {
    add_options(server, false, words);
  }
  if (server.is_pooled()) {
    words.insert(words.end(), {"--disaggregation-mode", role_of(server)});
    if (is_vllm) {
      words.insert(words.end(), {"--kv-transfer-config",
                                 R"({"kv_connector":"NixlConnector","kv_role":"kv_both"})"});
    } else if (!is_trtllm) {
      words.insert(words.end(), {"--disaggregation-transfer-backend", "nixl", "--host", "0.0.0.0"});
    }
  }
  return words;
}

std::string worker(const Manifest& m, const LaunchedServer& server) {
  const std::int64_t gpus = gpus_of_node(server, m.host_gpus);
  const bool has_file = m.launch.stack == "trtllm";
  std::string text = fmt::format(
      "    {}:\n"
      "      componentType: worker\n",
      role_of(server));
  if (server.is_pooled()) {
    text += fmt::format("      subComponentType: {}\n", role_of(server));
  }
  text += fmt::format("      replicas: {}\n", server.replicas);
  if (gpus < server.gpus) {
    text += fmt::format("      multinode: {{nodeCount: {}}}\n", server.gpus / gpus);
  }
  return text + fmt::format(
                    "      resources:\n"
                    "        limits: {{gpu: '{}'}}\n"
                    "      extraPodSpec:\n{}"
                    "        mainContainer:\n"
                    "          image: {}\n{}"
                    "          command:\n{}"
                    "          args:\n{}",
                    gpus,
                    has_file ? fmt::format("        volumes:\n"
                                           "          - name: config\n"
                                           "            configMap: {{name: {}}}\n",
                                           m.name)
                             : "",
                    yaml_text(m.image),
                    has_file ? "          volumeMounts:\n"
                               "            - {name: config, mountPath: /config}\n"
                             : "",
                    listed({"python3", "-m", "dynamo." + m.launch.stack}, 12),
                    listed(worker_words(m, server), 12));
}

std::string graph_deployment(const Manifest& m) {
  std::vector<ConfigFile> files;
  std::string workers;
  for (const LaunchedServer& server : m.launch.servers) {
    if (m.launch.stack == "trtllm") {
      files.push_back(engine_file(server));
    }
    workers += worker(m, server);
  }
  return config_map(m, files) + fmt::format(
                                    "apiVersion: nvidia.com/v1alpha1\n"
                                    "kind: DynamoGraphDeployment\n"
                                    "metadata:\n"
                                    "  name: {}\n"
                                    "spec:\n"
                                    "  backendFramework: {}\n"
                                    "  services:\n"
                                    "    Frontend:\n"
                                    "      componentType: frontend\n"
                                    "      replicas: 1\n"
                                    "      extraPodSpec:\n"
                                    "        mainContainer:\n"
                                    "          image: {}\n{}",
                                    m.name, m.launch.stack, yaml_text(m.image), workers);
}

// What the commands have no options for.
std::string unsaid(const sim::Scenario& s) {
  const auto unsaid_of = [](const workloads::Mapping& m) -> std::string_view {
    return m.context_parallel > 1 || m.decode_context_parallel > 1 ? "context parallelism"
           : m.expert_balancing || m.redundant_experts > 0         ? "balancing of experts"
                                                                   : "";
  };
  std::string_view what = unsaid_of(s.deployment.mapping);
  if (s.deployment.pools && what.empty()) {
    what = unsaid_of(s.deployment.pools->prefill.mapping);
  }
  const bool own_systems = s.deployment.platforms.prefill || s.deployment.platforms.decode;
  return std::string(s.training.trains()              ? "training"
                     : s.serving.speculation.drafts() ? "speculative decoding"
                     : own_systems                    ? "pools on systems of their own"
                                                      : what);
}

[[noreturn]] void refuse(const std::string& why) {
  throw base::InputError(fmt::format("error: --kubernetes: {}\n", why));
}

}  // namespace

std::string kubernetes_manifest(const sim::Scenario& s, const ManifestOptions& options) {
  if (const std::string what = unsaid(s); !what.empty()) {
    refuse(fmt::format("no command here has the options of {}", what));
  }
  if (options.image.find_first_of("\n\r") != std::string::npos) {
    refuse("an image with a line end has no place in a manifest");
  }
  Manifest m;
  m.launch = launch_of(s);
  if (!m.launch.refusal.empty()) {
    refuse(m.launch.refusal);
  }
  const std::string& model = s.model.id.empty() ? s.model.name : s.model.id;
  m.name = kubernetes_name(fmt::format("{}-{}", m.launch.stack, model), kLongestName);
  m.image = options.image;
  m.host_gpus = options.host_gpus;
  m.is_nvidia = s.platform.system.chip.vendor == "NVIDIA";
  const LaunchedServer& first = m.launch.servers.front();
  const bool one_host = !first.is_pooled() && first.gpus <= m.host_gpus;
  if (!one_host && !m.is_nvidia) {
    refuse(
        "two pools and servers over hosts are started by Dynamo, which has workers for NVIDIA "
        "GPUs");
  }
  return options.head + (one_host ? deployment(m) : graph_deployment(m));
}

}  // namespace roofcast::cli
