// SPDX-License-Identifier: Apache-2.0
#include "hardware/chip_distance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/document/fields.hpp"
#include "base/document/problems.hpp"
#include "base/units/number_format.hpp"
#include "hardware/chip_architecture.hpp"

namespace roofcast::hardware {

namespace {

constexpr double kOtherMemory = 2.0;   // generations
constexpr double kOtherHost = 2.0;     // generations
constexpr double kFigure = 0.1;        // generations of a factor e
constexpr double kWorthTelling = 0.1;  // |ln| of a figure

constexpr std::string_view kFigures[] = {"bandwidth",     "SMs", "clock", "L2",
                                         "shared memory", "TDP", "NVLink"};
constexpr std::size_t kOfTheDie[] = {1, 3, 4};  // SMs, L2, shared memory

template <class T>
double log_of(const std::optional<T>& figure) {
  if constexpr (std::is_arithmetic_v<T>) {
    return figure ? std::log(static_cast<double>(*figure)) : std::nan("");
  } else {
    return figure ? std::log(figure->si()) : std::nan("");
  }
}

// |ln| of the tensor rate that differs most, of those that both have. INT8 says nothing about the other formats: Blackwell
// Ultra has a thirtieth of its parent's.
double tensor_apart(const ChipKind& a, const ChipKind& b) {
  double most = 0.0;
  for (std::size_t i = 0; i < a.tensor.size(); ++i) {
    if (i == static_cast<std::size_t>(base::MathType::int8)) {
      continue;
    }
    const double apart = std::abs(a.tensor[i] - b.tensor[i]);
    most = std::isnan(apart) ? most : std::max(most, apart);
  }
  return most;
}

double figure_apart(const ChipKind& a, const ChipKind& b, std::size_t i) {
  const double apart = std::abs(a.figures[i] - b.figures[i]);
  return std::isnan(apart) ? 0.0 : apart;
}

double classes_apart(const ChipKind& a, const ChipKind& b) {
  return std::abs(a.generation - b.generation) +
         (a.memory.on_package == b.memory.on_package ? 0.0 : kOtherMemory);
}

}  // namespace

namespace {

std::optional<Chip> chip_of(const base::Node& document) {
  base::Problems problems;
  Chip chip;
  base::Fields fields(document, "chip", problems);
  read(fields, chip);
  return problems.size() > 0 ? std::nullopt : std::optional(std::move(chip));
}

std::optional<ChipKind> kind_by(const Chip& chip) {
  const ChipArchitecture* architecture = architecture_called(chip.architecture);
  const auto memory = memory_kind(chip.memory_type);
  if (architecture == nullptr || std::isnan(architecture->generation) || !memory) {
    return std::nullopt;
  }
  ChipKind kind{chip.name,
                chip.vendor,
                chip.architecture,
                chip.tensor_instruction,
                architecture->generation,
                *memory,
                chip.cpu_link.has_value(),
                {log_of(std::optional(chip.bandwidth)), log_of(chip.sms_used()),
                 log_of(chip.clock_used()), log_of(chip.l2_capacity_used()),
                 log_of(chip.shared_memory_per_sm), log_of(chip.tdp), log_of(chip.nvlink)},
                std::nan(""),
                {}};
  kind.shared_memory =
      log_of(chip.parent && chip.parent->shared_memory_per_sm ? chip.parent->shared_memory_per_sm
                                                              : chip.shared_memory_per_sm);
  for (std::size_t i = 0; i < kind.tensor.size(); ++i) {
    const double peak = chip.tensor[i].si();
    kind.tensor[i] = peak > 0.0 ? std::log(peak) : std::nan("");
  }
  return kind;
}

template <class T>
void take(std::optional<T>& figure, const std::optional<T>& before) {
  figure = before ? before : figure;
}

}  // namespace

std::optional<ChipKind> kind_of(const base::Node& document) {
  const auto chip = chip_of(document);
  return chip ? kind_by(*chip) : std::nullopt;
}

std::optional<ChipKind> kind_before(const base::Node& document) {
  auto chip = chip_of(document);
  if (chip && chip->parent) {
    take(chip->clock, chip->parent->clock);
    take(chip->tdp, chip->parent->tdp);
    take(chip->nvlink, chip->parent->nvlink);
    chip->bandwidth = chip->parent->bandwidth.value_or(chip->bandwidth);
  }
  return chip ? kind_by(*chip) : std::nullopt;
}

double distance(const ChipKind& a, const ChipKind& b) {
  double apart = tensor_apart(a, b);
  for (std::size_t i = 0; i < a.figures.size(); ++i) {
    apart += figure_apart(a, b, i);
  }
  return classes_apart(a, b) + kFigure * apart;
}

double host_distance(const ChipKind& a, const ChipKind& b) {
  return classes_apart(a, b) + (a.on_module == b.on_module ? 0.0 : kOtherHost);
}

ChipKind apart_from_die(ChipKind kind) {
  for (const std::size_t i : kOfTheDie) {
    kind.figures[i] = std::nan("");
  }
  kind.tensor.fill(std::nan(""));
  return kind;
}

std::string distance_text(const ChipKind& chip, const ChipKind& from) {
  const double generations = std::abs(chip.generation - from.generation);
  std::string text =
      generations > 0.0
          ? fmt::format("{:.2g} generation{} {} than {}", generations,
                        generations == 1.0 ? "" : "s",
                        chip.generation > from.generation ? "later" : "earlier", from.name)
          : fmt::format("of the generation of {}", from.name);
  if (chip.memory.on_package != from.memory.on_package) {
    text += fmt::format(", {} for {}", chip.memory.family, from.memory.family);
  }
  std::size_t most = 0;
  for (std::size_t i = 1; i < chip.figures.size(); ++i) {
    most = figure_apart(chip, from, i) > figure_apart(chip, from, most) ? i : most;
  }
  const bool tensor = tensor_apart(chip, from) > figure_apart(chip, from, most);
  const double apart = tensor ? tensor_apart(chip, from) : figure_apart(chip, from, most);
  if (apart > kWorthTelling) {
    text += fmt::format(", {} {:.2g} times apart", tensor ? "tensor rates" : kFigures[most],
                        std::exp(apart));
  }
  return text;
}

}  // namespace roofcast::hardware
