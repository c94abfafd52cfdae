// SPDX-License-Identifier: Apache-2.0
#include "sim/result/parent_figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

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

// "price and TDP of NVIDIA H200 SXM, host power of h100_sxm"
std::string text_of(std::vector<ParentFigure> left) {
  std::vector<std::string> parts;
  while (!left.empty()) {
    const std::string_view of = left.front().of;
    std::vector<std::string> names;
    for (const ParentFigure& each : left) {
      if (each.of == of && std::find(names.begin(), names.end(), each.figure) == names.end()) {
        names.emplace_back(each.figure);
      }
    }
    parts.push_back(fmt::format("{} of {}", joined(names), of));
    std::erase_if(left, [&](const ParentFigure& each) { return each.of == of; });
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// All that the text of one system follows from, and the text.
struct Asked {
  Asked() = default;
  Asked(const hardware::System& system, const hardware::Prices& prices,
        std::shared_ptr<const std::string> found)
      : price_of(system.price_of),
        purchase_of(system.purchase_of),
        tdp_of(system.chip.tdp_of),
        host_power_of(system.host_power_of),
        pay(prices.pay),
        site(prices.pue.has_value()),
        text(std::move(found)) {}

  bool is_of(const hardware::System& system, const hardware::Prices& prices) const {
    return price_of == system.price_of && purchase_of == system.purchase_of &&
           tdp_of == system.chip.tdp_of && host_power_of == system.host_power_of &&
           pay == prices.pay && site == prices.pue.has_value();
  }

  std::string price_of;
  std::string purchase_of;
  std::string tdp_of;
  std::string host_power_of;
  hardware::Pay pay = hardware::Pay::rental;
  bool site = false;
  std::shared_ptr<const std::string> text;
};

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

std::shared_ptr<const std::string> parent_figures_of(const ScenarioView& s) {
  // What it was asked for before: neighbours of a sweep mostly have the same.
  thread_local Asked last;
  const GpuKinds kinds = gpu_kinds(s);
  if (kinds.size == 1 && last.is_of(kinds.of[0].platform->system, prices_of(s))) {
    return last.text;
  }
  std::vector<ParentFigure> all;
  for (const Gpus& gpus : kinds) {
    for (ParentFigure& each : parent_figures(gpus.platform->system, prices_of(s), gpus.key)) {
      all.push_back(std::move(each));
    }
  }
  const std::string text = text_of(std::move(all));
  auto found = text.empty() ? nullptr : std::make_shared<const std::string>(text);
  if (kinds.size == 1) {
    last = Asked(kinds.of[0].platform->system, prices_of(s), found);
  }
  return found;
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
