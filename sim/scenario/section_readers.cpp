// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/section_readers.hpp"

#include <fmt/format.h>

#include "base/document/fields.hpp"
#include "base/fnv.hpp"
#include "base/version.hpp"
#include "hardware/kernel_versions.hpp"
#include "sim/scenario/references.hpp"

namespace roofcast::sim {
namespace {

using base::Node;
using base::Problems;

template <class T>
T read_section(const Node& document, std::string_view section, Problems& problems) {
  T value;
  const Node* node = document.find(section);
  if (node == nullptr || node->is_null()) {
    problems.add(
        node == nullptr ? document.place : node->place, "",
        fmt::format("the section \"{}\" is required{}", section,
                    section == "precision" ? ", as the model names none: bf16, fp8, …" : ""));
    return value;
  }
  if (lacks_a_reference(document, section)) {
    return value;
  }
  base::Fields fields(*node, std::string(section), problems);
  read(fields, value);
  fields.end();
  return value;
}

// A section that only a scenario that trains may have.
template <class T>
T read_beside_training(const Node& document, std::string_view section, Problems& problems) {
  const Node* node = document.find(section);
  if (node == nullptr) {
    return {};
  }
  if (document.find("training") == nullptr) {
    problems.add(node->place, std::string(section), "needs the section \"training\"");
  }
  return read_section<T>(document, section, problems);
}

// The machine of a system, with kernels of the version of the stack that the scenario names, as a server tunes them.
void complete(Platform& platform, const Node& system, const Node& document) {
  platform.text = base::fnv(base::kFnvStart, base::hash(system));
  const Node* version = document.find_path("serving.version");
  if (version != nullptr && base::parse_version(version->text)) {
    hardware::take_version(platform.system.calibration, stack_of(document), version->text);
    platform.text = base::fnv(platform.text, version->text);
  }
  hardware::tune(platform.system.calibration);
  platform.machine = models::machine_of(platform.system);
}

std::shared_ptr<const Platform> read_pool_platform(const Node& document, std::string_view path,
                                                   Problems& problems) {
  const Node* node = document.find_path(path);
  if (node == nullptr || node->is_null()) {
    return nullptr;
  }
  const std::size_t before = problems.size();
  auto platform = std::make_shared<Platform>();
  base::Fields fields(*node, std::string(path), problems);
  read(fields, platform->system);
  fields.end();
  if (problems.size() == before) {
    complete(*platform, *node, document);
  }
  return platform;
}

// What trains serves nobody but its own rollouts.
bool need_not_serve(const Node& document, std::string_view section) {
  return document.find("training") != nullptr && document.find(section) == nullptr &&
         (section != "serving" || document.find("rl") == nullptr);
}

}  // namespace

Platform read_platform(const Node& document, Problems& problems) {
  const std::size_t before = problems.size();
  Platform platform;
  platform.system = read_section<hardware::System>(document, "system", problems);
  const Node* node = document.find("system");
  if (problems.size() == before && node != nullptr) {
    complete(platform, *node, document);
  }
  return platform;
}

workloads::Architecture read_model(const Node& document, Problems& problems) {
  return read_section<workloads::Architecture>(document, "model", problems);
}

workloads::Precision read_precision(const Node& document, Problems& problems) {
  // A model that could not be loaded, a problem of its own, would have named it.
  if (document.find("precision") == nullptr && lacks_a_reference(document, "model")) {
    return {};
  }
  return read_section<workloads::Precision>(document, "precision", problems);
}

Deployment read_deployment(const Node& document, Problems& problems) {
  Deployment deployment;
  static_cast<workloads::Deployment&>(deployment) =
      read_section<workloads::Deployment>(document, "deployment", problems);
  if (deployment.pools) {
    deployment.platforms = {read_pool_platform(document, "deployment.prefill.system", problems),
                            read_pool_platform(document, "deployment.decode.system", problems)};
  }
  return deployment;
}

workloads::Serving read_replicas(const Node& document, Problems& problems) {
  if (need_not_serve(document, "serving")) {
    return {};
  }
  return read_section<workloads::Serving>(document, "serving", problems);
}

workloads::Serving read_serving(const Node& document, Problems& problems) {
  workloads::Serving serving = read_replicas(document, problems);
  if (serving.kv_offload.capacity.si() > 0.0) {
    problems.add(document.find_path("serving.kv_offload")->place, "serving.kv_offload",
                 "is for roofcast simulate; an estimate is told what is found by "
                 "traffic.cached_tokens");
  }
  return serving;
}

workloads::RequestStream read_stream(const Node& document, Problems& problems) {
  if (need_not_serve(document, "traffic")) {
    return {};
  }
  const std::size_t before = problems.size();
  auto stream = read_section<workloads::RequestStream>(document, "traffic", problems);
  if (problems.size() > before) {
    stream.agents.reset();  // nothing can be drawn of them
  }
  return stream;
}

workloads::Traffic read_traffic(const Node& document, Problems& problems) {
  return workloads::mean_traffic(read_stream(document, problems));
}

workloads::Training read_training(const Node& document, Problems& problems) {
  if (document.find("training") == nullptr) {
    return {};
  }
  return read_section<workloads::Training>(document, "training", problems);
}

workloads::PostTraining read_post_training(const Node& document, Problems& problems) {
  return read_beside_training<workloads::PostTraining>(document, "rl", problems);
}

workloads::TrainingRun read_training_run(const Node& document, Problems& problems) {
  return read_beside_training<workloads::TrainingRun>(document, "run", problems);
}

hardware::Prices read_prices(const Node& document, Problems& problems) {
  const Node* node = document.find("prices");
  if (node == nullptr || node->is_null()) {
    return {};
  }
  return read_section<hardware::Prices>(document, "prices", problems);
}

workloads::Numerics read_numerics(const Node& document, Problems& problems) {
  if (document.find("numerics") == nullptr) {
    return {};
  }
  return read_section<workloads::Numerics>(document, "numerics", problems);
}

}  // namespace roofcast::sim
