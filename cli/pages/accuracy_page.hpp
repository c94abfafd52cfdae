// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "calibrate/accuracy/accuracy.hpp"
#include "calibrate/accuracy/new_layers.hpp"
#include "calibrate/accuracy/own_measurements.hpp"
#include "calibrate/trainings/training_errors.hpp"

namespace roofcast::cli {

// The page docs/accuracy.md.
std::string accuracy_page(const std::vector<calibrate::KindAccuracy>& kinds,
                          const std::vector<calibrate::NewLayers>& new_layers,
                          const calibrate::OwnMeasurements& own,
                          const std::vector<calibrate::TrainingTable>& trainings);

}  // namespace roofcast::cli
