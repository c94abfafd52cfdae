// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/front_model.hpp"

#include <fmt/format.h>

namespace roofcast::workloads {

namespace {

constexpr base::Range kPassTokens{1.0, 1e6};  // of a pass

}  // namespace

void read(base::Fields& f, FrontModel& m) {
  f.part("model", [&](base::Fields& g) { read(g, m.model.emplace()); });
  f.part(
      "precision", [&](base::Fields& g) { read(g, m.precision.emplace()); }, base::optional);
  f.integer("tokens", m.tokens, kPassTokens);
  f.integer("sequences", m.sequences, kPassTokens, base::optional);
  f.integer("servers", m.servers, kStageServers, base::optional);
  if (static_cast<double>(m.tokens) * static_cast<double>(m.sequences) > kPassTokens.most) {
    f.problem("sequences", "make more than a million tokens a request");
  } else if (m.model && m.tokens > m.model->max_context) {
    f.problem("tokens", fmt::format("the model reads {} at most", m.model->max_context));
  }
}

}  // namespace roofcast::workloads
