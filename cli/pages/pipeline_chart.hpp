// SPDX-License-Identifier: Apache-2.0
//
// The timeline of a training step's pipeline as a Gantt chart: rows are ranks, time goes to the right.
#pragma once

#include <string>

#include "sim/training/pipeline.hpp"

namespace roofcast::cli {

// In letters: how the step begins and how it ends.
std::string pipeline_text(const sim::PipelineTimeline& timeline);

// The whole step as a drawing that stands alone.
std::string pipeline_svg(const sim::PipelineTimeline& timeline, const std::string& title);

}  // namespace roofcast::cli
