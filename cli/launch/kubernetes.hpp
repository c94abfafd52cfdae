// SPDX-License-Identifier: Apache-2.0
//
// A Kubernetes manifest of the servers of a deployment (cli/launch/servers.hpp).
//
//   one pool, each server on one host     a Deployment of apps/v1 and a Service before its replicas
//   two pools, or servers over hosts      a DynamoGraphDeployment of nvidia.com/v1alpha1: the operator of Dynamo starts a
//                                         front end, passes requests on, and joins the hosts of a server
//
// In both, the engine's options are those of the shell. What takes requests in and joins pools is that of the manifest.
// Where the keys and the options are documented (ai-dynamo/dynamo):
//
//   services, componentType, subComponentType, replicas, resources.limits.gpu, extraPodSpec.mainContainer
//                            @04521f4 examples/backends/{sglang,trtllm}/deploy/disagg.yaml,
//                            @7893f26 examples/backends/vllm/deploy/disagg.yaml
//   backendFramework, multinode.nodeCount (GPUs of a server = nodeCount x gpu), a ConfigMap of engine files
//                            @0044eb9 examples/backends/{sglang,trtllm}/deploy/disagg-multinode.yaml,
//                            @055373f docs/kubernetes/deployment/multinode-deployment.md
//   dynamo.vllm --disaggregation-mode, --kv-transfer-config and all options of the engine
//                            @000a36a components/src/dynamo/vllm/args.py
//   dynamo.sglang --disaggregation-mode, --disaggregation-transfer-backend and all options of the engine
//                            @010ba75 components/src/dynamo/sglang/args.py
//   dynamo.trtllm --extra-engine-args, a file of the engine's options by their names in Python
//                            @0a6a115 components/src/dynamo/trtllm/backend_args.py
//
// IMAGE and MODEL are the reader's: an image with the stack (of Dynamo's workers, where it is one of those), and a
// checkpoint in the scenario's precision.
#pragma once

#include <cstdint>
#include <string>

#include "sim/scenario/scenario.hpp"

namespace roofcast::cli {

struct ManifestOptions {
  std::string head;  // comments above
  std::string image = "IMAGE";
  std::int64_t host_gpus = 8;  // the most that a pod can have
};

// Throws InputError where the scenario has no command, or says what no command has.
std::string kubernetes_manifest(const sim::Scenario& scenario, const ManifestOptions& options);

}  // namespace roofcast::cli
