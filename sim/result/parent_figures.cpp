// SPDX-License-Identifier: Apache-2.0
#include "sim/result/parent_figures.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/result/costs.hpp"
#include "sim/scenario/pools.hpp"

namespace roofcast::sim {
namespace {

// "the price, the TDP and the host power"
std::string joined(const std::vector<std::string>& parts) {
  const std::size_t last = parts.size() - 1;
  std::string text = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    text += (i == last ? " and " : ", ") + parts[i];
  }
  return text;
}

}  // namespace

std::vector<ParentFigure> parent_figures(const hardware::System& system,
                                         const hardware::Prices& prices, std::string_view key) {
  std::vector<ParentFigure> figures;
  const auto add = [&](std::string_view figure, std::string_view path, const std::string& of) {
    if (!of.empty()) {
      figures.push_back({figure, fmt::format("{}.{}", key, path), of});
    }
  };
  const bool rented = prices.pay == hardware::Pay::rental;
  add("price", rented ? "price.per_gpu_hour" : "purchase.price",
      rented ? system.price_of : system.purchase_of);
  add("TDP", "chip.power.tdp", system.chip.tdp_of);
  if (!rented || prices.pue) {
    add("host power", "host_power.per_gpu", system.host_power_of);
  }
  return figures;
}

std::string parent_figures_of(const ScenarioView& s) {
  std::string text;
  for (const Gpus& gpus : gpu_kinds(s)) {
    for (const ParentFigure& each : parent_figures(gpus.platform->system, prices_of(s), gpus.key)) {
      const std::string figure = fmt::format("{} of {}", each.figure, each.of);
      if (text.find(figure) == std::string::npos) {
        text += (text.empty() ? "" : ", ") + figure;
      }
    }
  }
  return text;
}

std::vector<std::string> parent_sentences(const ScenarioView& s) {
  std::vector<std::string> sentences;
  for (const Gpus& gpus : gpu_kinds(s)) {
    const hardware::System& system = gpus.platform->system;
    std::vector<ParentFigure> left = parent_figures(system, prices_of(s), gpus.key);
    while (!left.empty()) {
      const std::string_view of = left.front().of;
      std::vector<std::string> names;
      std::vector<std::string> keys;
      for (const ParentFigure& each : left) {
        if (each.of == of) {
          names.push_back(fmt::format("{}{}", names.empty() ? "The " : "the ", each.figure));
          keys.push_back(each.key);
        }
      }
      std::erase_if(left, [&](const ParentFigure& each) { return each.of == of; });
      sentences.push_back(fmt::format("{} of {} {} of a system with {}: set {}", joined(names),
                                      system.title(), names.size() == 1 ? "is that" : "are those",
                                      of, joined(keys)));
    }
  }
  return sentences;
}

}  // namespace roofcast::sim
