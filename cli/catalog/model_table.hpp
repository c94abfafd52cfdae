// SPDX-License-Identifier: Apache-2.0
//
// The models of the catalog side by side: what they hold and what a token costs, beside what their
// makers publish. On one GPU, in the precision they were published in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/document/node.hpp"

namespace roofcast::cli {

struct ModelRow {
  std::string id;
  std::string precision;
  std::string layers;  // "48 mamba, 12 attention, 48 moe"
  double total_parameters = 0;
  double active_parameters = 0;  // without the input embedding
  std::optional<double> published_total;
  std::optional<double> published_active;
  double weights_b = 0;
  double cache_b_per_token = 0;  // each layer's first token; windows stop growing
  double state_b_per_sequence = 0;
  double flop_per_token = 0;  // decoding at kModelTableContext
};
inline constexpr std::int64_t kModelTableContext = 8192;

// Of a model document, a derived or a changed one too; throws InputError. The id is the reader's to say.
ModelRow model_row(const base::Node& document);
std::vector<ModelRow> model_rows();

std::string model_text(const std::vector<ModelRow>& rows);
void print_model_csv(const std::vector<ModelRow>& rows);

}  // namespace roofcast::cli
