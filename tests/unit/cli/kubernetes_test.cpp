// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "base/document/node.hpp"
#include "base/document/problems.hpp"
#include "cli/launch/kubernetes.hpp"
#include "cli/launch/servers.hpp"
#include "cli/launch/shell_commands.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::cli::unit_cli_kubernetes {
namespace {

using base::Node;

sim::Scenario scenario(const std::string& model, const std::string& system,
                       const std::string& deployment, const std::string& serving) {
  return sim::read_scenario(base::parse_document(
      "scenario", fmt::format("{{system: {}, model: {}, precision: fp8, deployment: {}, serving: "
                              "{}, traffic: {{input_tokens: 1000, output_tokens: 100, "
                              "concurrency: 8}}}}",
                              system, model, deployment, serving)));
}

constexpr const char* kStacks[] = {"vllm", "sglang", "trtllm"};
constexpr const char* kTwoPools =
    "{prefill: {replicas: 2, tensor_parallel: 4}, decode: {replicas: 1, tensor_parallel: 8}}";

struct Place {
  const char* model;
  const char* system;
  const char* deployment;
  const char* serving;
  bool one_host;
  std::int64_t host_gpus = 8;
};
constexpr Place kPlaces[] = {
    {"llama-3.1-70b", "hgx_h200", "{tensor_parallel: 4}", "replicas: 2", true},
    {"llama-3.1-8b", "hgx_h200", "{}", "front_ends: 2", true},
    {"deepseek-v3", "hgx_h200", "{data_parallel: 8, expert_parallel: 8}", "replicas: 1", true},
    {"deepseek-v3", "gb200_nvl72", "{data_parallel: 16, expert_parallel: 16}", "replicas: 3", false,
     4},
    {"llama-3.1-405b", "h200_cluster_128", "{tensor_parallel: 8, pipeline_parallel: 2}",
     "replicas: 2", false},
    {"llama-3.1-70b", "hgx_h200", kTwoPools, "replicas: 1", false},
    {"qwen3-235b-a22b", "gb200_nvl72",
     "{prefill: {replicas: 3, tensor_parallel: 4, expert_parallel: 4}, decode: {replicas: 2, "
     "data_parallel: 8, expert_parallel: 8}}",
     "front_ends: 4", false, 4}};

std::vector<sim::Scenario> scenarios(const Place& place) {
  std::vector<sim::Scenario> all;
  for (const char* stack : kStacks) {
    all.push_back(scenario(place.model, place.system, place.deployment,
                           fmt::format("{{stack: {}, {}}}", stack, place.serving)));
  }
  return all;
}

std::string manifest_text(const sim::Scenario& s, const Place& place) {
  return kubernetes_manifest(s, {"# head\n", "registry/stack:1", place.host_gpus});
}

// Its objects.
std::vector<Node> manifest(const sim::Scenario& s, const Place& place) {
  std::vector<Node> all;
  std::string text = manifest_text(s, place);
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find("---\n", from), text.size());
    all.push_back(base::parse_document("manifest", text.substr(from, to - from)));
    from = to + 4;
  }
  return all;
}

const Node* of_kind(const std::vector<Node>& objects, const char* kind) {
  const auto at = std::find_if(objects.begin(), objects.end(),
                               [&](const Node& node) { return node.find("kind")->text == kind; });
  return at == objects.end() ? nullptr : &*at;
}

std::int64_t count(const Node* node) { return std::stoll(node->text); }

// Command and arguments of the containers that have GPUs.
std::vector<std::string> words(const std::vector<const Node*>& containers) {
  std::vector<std::string> all;
  for (const Node* container : containers) {
    for (const char* key : {"command", "args"}) {
      for (const Node& word : container->find(key)->items) {
        all.push_back(word.text);
      }
    }
  }
  return all;
}

struct Started {
  std::vector<const Node*> containers;
  std::int64_t gpus = 0;
  std::int64_t most_of_a_pod = 0;
};

Started started_by(const std::vector<Node>& objects) {
  Started all;
  const auto add = [&](const Node* container, std::int64_t pods, std::int64_t gpus) {
    all.containers.push_back(container);
    all.gpus += pods * gpus;
    all.most_of_a_pod = std::max(all.most_of_a_pod, gpus);
  };
  if (const Node* deployment = of_kind(objects, "Deployment")) {
    const Node& container = deployment->find_path("spec.template.spec.containers")->items.front();
    add(&container, count(deployment->find_path("spec.replicas")),
        count(container.find_path("resources.limits")->find("nvidia.com/gpu")));
  }
  if (const Node* graph = of_kind(objects, "DynamoGraphDeployment")) {
    for (const base::Entry& service : graph->find_path("spec.services")->entries) {
      if (const Node* gpus = service.value.find_path("resources.limits.gpu")) {
        const Node* nodes = service.value.find_path("multinode.nodeCount");
        add(service.value.find_path("extraPodSpec.mainContainer"),
            count(service.value.find("replicas")) * (nodes == nullptr ? 1 : count(nodes)),
            count(gpus));
      }
    }
  }
  return all;
}

std::string refusal(const sim::Scenario& s, const std::string& image = "IMAGE") {
  try {
    kubernetes_manifest(s, {"", image, 8});
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("The GPUs of a manifest are those of the deployment, and no pod has more than a host",
          "[unit]") {
  for (const Place& place : kPlaces) {
    for (const sim::Scenario& s : scenarios(place)) {
      INFO(manifest_text(s, place));
      const Started started = started_by(manifest(s, place));
      CHECK(started.gpus == (s.deployment.pools
                                 ? s.deployment.pools->ranks()
                                 : s.deployment.mapping.ranks() * s.serving.replicas));
      CHECK(started.most_of_a_pod <= place.host_gpus);
      CHECK(started.containers.size() == (s.deployment.pools ? 2 : 1));
    }
  }
}

TEST_CASE("Servers on one host are a Deployment behind a Service, others a graph of Dynamo",
          "[unit]") {
  for (const Place& place : kPlaces) {
    for (const sim::Scenario& s : scenarios(place)) {
      const std::vector<Node> objects = manifest(s, place);
      INFO(manifest_text(s, place));
      CHECK((of_kind(objects, "Deployment") != nullptr) == place.one_host);
      CHECK((of_kind(objects, "Service") != nullptr) == place.one_host);
      CHECK((of_kind(objects, "DynamoGraphDeployment") != nullptr) != place.one_host);
      if (place.one_host) {
        const Node* pods = of_kind(objects, "Deployment")->find_path("spec.template.metadata");
        CHECK(of_kind(objects, "Service")->find_path("spec.selector.app")->text ==
              pods->find_path("labels.app")->text);
      }
    }
  }
}

TEST_CASE("Every option of the engine in the shell is in the manifest, with its value", "[unit]") {
  for (const Place& place : kPlaces) {
    for (const sim::Scenario& s : scenarios(place)) {
      const std::vector<Node> objects = manifest(s, place);
      const Started started = started_by(objects);
      const Launch launch = launch_of(s);
      REQUIRE(launch.servers.size() == started.containers.size());
      INFO(launch_commands(s) << manifest_text(s, place));
      for (std::size_t i = 0; i < launch.servers.size(); ++i) {
        const LaunchedServer& server = launch.servers[i];
        const std::vector<std::string> all = words({started.containers[i]});
        const bool from_file = !place.one_host && launch.stack == "trtllm";
        for (const LaunchOption& option : server.options) {
          if (!place.one_host && option.of != LaunchOption::Of::engine) {
            continue;
          }
          INFO(option.name << " " << option.value);
          if (from_file) {
            const char* file = server.is_prefill()  ? "prefill.yaml"
                               : server.is_pooled() ? "decode.yaml"
                                                    : "worker.yaml";
            const Node engine = base::parse_document(
                file, of_kind(objects, "ConfigMap")->find("data")->find(file)->text);
            REQUIRE(engine.find_path(option.key) != nullptr);
            CHECK(engine.find_path(option.key)->text ==
                  (option.value.empty() ? "true" : option.value));
            continue;
          }
          const auto at = std::find(all.begin(), all.end(), option.name);
          REQUIRE(at != all.end());
          if (!option.value.empty()) {
            REQUIRE(at + 1 != all.end());
            CHECK((at + 1)->ends_with(option.value));
          }
        }
      }
    }
  }
}

TEST_CASE("A file of TensorRT-LLM's options is the same in the shell and in the manifest",
          "[unit]") {
  const Place& place = kPlaces[2];
  const sim::Scenario s = scenarios(place)[2];
  const LaunchedServer server = launch_of(s).servers.front();
  REQUIRE_FALSE(server.file_lines.empty());
  const std::vector<Node> objects = manifest(s, place);
  const std::string text = of_kind(objects, "ConfigMap")->find("data")->find(server.file)->text;
  CHECK(text == fmt::format("{}\n", fmt::join(server.file_lines, "\n")));
  const Node engine = base::parse_document("engine", text);
  CHECK(engine.find("enable_attention_dp")->text == "true");
}

TEST_CASE("A manifest of what no command here can start is refused, with the reason", "[unit]") {
  const sim::Scenario one =
      scenario("llama-3.1-70b", "hgx_h200", "{tensor_parallel: 4}", "{stack: vllm}");
  CHECK(refusal(one).empty());
  sim::Scenario s = one;
  s.serving.stack.id = "own.yaml";
  s.serving.stack.name = "Own";
  CHECK(refusal(s) == "error: --kubernetes: Own: its options are not known here\n");
  s = one;
  s.serving.speculation.draft_tokens = 3;
  CHECK(refusal(s).ends_with("no command here has the options of speculative decoding\n"));
  s = one;
  s.deployment.mapping.context_parallel = 2;
  CHECK(refusal(s).ends_with("no command here has the options of context parallelism\n"));
  CHECK(refusal(one, "a\nb").ends_with("an image with a line end has no place in a manifest\n"));
  CHECK(refusal(scenario("deepseek-v3", "hgx_h200",
                         "{tensor_parallel: 2, data_parallel: 4, expert_parallel: 8}",
                         "{stack: trtllm}"))
            .find("it cannot start this mapping") != std::string::npos);
  CHECK(refusal(scenario("llama-3.1-70b", "mi300x_x8", kTwoPools, "{stack: vllm}"))
            .find("has workers for NVIDIA GPUs") != std::string::npos);
  CHECK(refusal(scenario("llama-3.1-70b", "mi300x_x8", "{tensor_parallel: 8}", "{stack: vllm}"))
            .empty());
}

TEST_CASE("A name in a manifest has small letters, digits and single dashes, and begins with one",
          "[unit]") {
  for (const Place& place : kPlaces) {
    for (const sim::Scenario& s : scenarios(place)) {
      for (const Node& object : manifest(s, place)) {
        const std::string name = object.find_path("metadata.name")->text;
        INFO(name);
        CHECK(name.size() <= 30);
        CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos);
        CHECK(std::isalpha(static_cast<unsigned char>(name.front())) != 0);
        CHECK(name.back() != '-');
      }
    }
  }
}

}  // namespace roofcast::cli::unit_cli_kubernetes
