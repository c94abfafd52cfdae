// SPDX-License-Identifier: Apache-2.0
//
// Readers of one section of a scenario each, from a document whose references are loaded
// (sim/scenario/references.hpp). A reader may look at other sections, which sim/scenario/sections.hpp names.
#pragma once

#include "base/document/node.hpp"
#include "base/document/problems.hpp"
#include "sim/scenario/scenario.hpp"
#include "workloads/traffic/request_stream.hpp"

namespace roofcast::sim {

Platform read_platform(const base::Node& document, base::Problems& problems);
workloads::Architecture read_model(const base::Node& document, base::Problems& problems);
workloads::Precision read_precision(const base::Node& document, base::Problems& problems);
Deployment read_deployment(const base::Node& document, base::Problems& problems);
workloads::Serving read_replicas(const base::Node& document, base::Problems& problems);
// Of one pool; blocks in host memory, which only a simulation can have, are a problem.
workloads::Serving read_serving(const base::Node& document, base::Problems& problems);
workloads::RequestStream read_stream(const base::Node& document, base::Problems& problems);
workloads::Traffic read_traffic(const base::Node& document, base::Problems& problems);
workloads::Training read_training(const base::Node& document, base::Problems& problems);
workloads::PostTraining read_post_training(const base::Node& document, base::Problems& problems);
workloads::TrainingRun read_training_run(const base::Node& document, base::Problems& problems);
hardware::Prices read_prices(const base::Node& document, base::Problems& problems);
workloads::Numerics read_numerics(const base::Node& document, base::Problems& problems);

}  // namespace roofcast::sim
