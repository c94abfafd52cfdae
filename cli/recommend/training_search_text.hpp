// SPDX-License-Identifier: Apache-2.0
//
// The answer of `roofcast recommend` for a scenario that trains.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/recommend/training_search.hpp"

namespace roofcast::cli {

std::string training_search_title(const sim::TrainingQuestion& question,
                                  const sim::TrainingSearch& search);
std::string training_search_text(const sim::TrainingQuestion& question,
                                 const sim::TrainingSearch& search);
nlohmann::ordered_json training_search_json(const sim::TrainingQuestion& question,
                                            const sim::TrainingSearch& search);

// The best row of each mapping, with all metrics.
void write_training_rows(const sim::TrainingSearch& search, const std::string& file);

}  // namespace roofcast::cli
