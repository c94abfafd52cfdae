// SPDX-License-Identifier: Apache-2.0
//
// Serving scenarios for laws: every system × model × natural precision × mapping that fits, under a
// few kinds of traffic.
#pragma once

#include <cstdint>
#include <functional>

#include "base/scatter.hpp"
#include "sim/estimate.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::laws {

// Chat, long prompts, prompts longer than a step, one answer token, a reused prefix. The
// concurrency is the caller's.
inline const workloads::Traffic kTraffics[] = {{1024, 256, 1, 0},
                                               {8000, 1000, 1, 0},
                                               {20000, 100, 1, 0},
                                               {1000, 1, 1, 0},
                                               {6000, 2000, 1, 5000}};

struct ServingCase {
  sim::ScenarioView scenario;
  std::string text() const {
    const auto& t = *scenario.traffic;
    return fmt::format("{} {} {} {} {}: {}/{} tokens, {} cached, {} clients",
                       scenario.platform->system.id, scenario.model->id, scenario.precision->id,
                       describe(*scenario.mapping), scenario.serving->stack.id, t.input_tokens,
                       t.output_tokens, t.cached_tokens, t.concurrency);
  }
};

// Clients of equal requests on several ranks or stages are followed one by one, which takes a hundred times as long.
constexpr std::uint64_t kFewerSpread = 8;
inline bool is_spread(const workloads::Mapping& mapping) {
  return mapping.data_parallel > 1 || mapping.pipeline_parallel > 1;
}

// Calls `law` with one in `sample` of the feasible combinations, and fewer of those that are spread; another `seed`, another
// sample.
inline void for_each_feasible(std::uint64_t seed, std::uint64_t sample,
                              const std::vector<std::int64_t>& concurrencies,
                              const std::function<void(const ServingCase&)>& law) {
  sim::Workspace workspace;
  // Drawn by what a case is, so that a new catalog entry leaves the others' sample as it was.
  const auto mix = [](std::uint64_t draw, std::uint64_t next) {
    return base::scatter(draw ^ next);
  };
  const std::hash<std::string> hash;
  for (const auto& p : platforms()) {
    for (const auto& m : models()) {
      const auto all = mappings(m);
      for (const auto& precision : precisions()) {
        if (!natural(m, precision)) {
          continue;
        }
        const std::uint64_t chosen = mix(
            mix(mix(base::scatter(seed + 1), hash(p.system.id)), hash(m.id)), hash(precision.id));
        for (const auto& mapping : all) {
          const std::uint64_t mapped = mix(chosen, hash(describe(mapping)));
          const std::uint64_t one_in = is_spread(mapping) ? kFewerSpread * sample : sample;
          std::uint64_t kind = 0;
          for (workloads::Traffic traffic : kTraffics) {
            ++kind;
            for (const std::int64_t concurrency : concurrencies) {
              traffic.concurrency = concurrency;
              const auto clients = static_cast<std::uint64_t>(concurrency);
              const std::uint64_t draw = mix(mix(mapped, kind), clients);
              const auto& serving = servings()[draw / one_in % servings().size()];
              if (draw % one_in != 0) {
                continue;
              }
              const ServingCase c{{&p, &m, &precision, &mapping, &serving, &traffic}};
              if (sim::estimate(c.scenario, workspace).fits()) {
                law(c);
              }
            }
          }
        }
      }
    }
  }
}

// The platform with the physical models alone.
inline sim::Platform without_corrections(const sim::Platform& platform) {
  sim::Platform physical = platform;
  physical.machine.calibration.corrections = nullptr;
  return physical;
}

}  // namespace roofcast::laws
