// SPDX-License-Identifier: Apache-2.0
#include "hardware/chip_architecture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/document/fields.hpp"
#include "base/document/problems.hpp"

namespace roofcast::hardware {

namespace {

using base::MathType;

constexpr double kAgrees = 0.02;

bool agrees(double ratio) { return std::abs(ratio - 1.0) <= kAgrees; }

// The catalog's own chips say it there.
bool tells_the_clock_of_peaks(const base::Node& chip) {
  std::string words;
  if (const base::Node* notes = chip.find("notes")) {
    for (const base::Node& note : notes->items) {
      words += note.text;
    }
  }
  if (const base::Node* reason = chip.find_path("assumed.source")) {
    words += reason->text;
  }
  return words.find("MHz") != std::string::npos && words.find("peaks") != std::string::npos;
}

base::FlopsPerSecond peak_of_16_bits(const std::array<base::FlopsPerSecond, base::kMathTypes>& t) {
  return base::max(t[static_cast<std::size_t>(MathType::bf16)],
                   t[static_cast<std::size_t>(MathType::fp16)]);
}

// FLOP of one SM and clock; 0 where it is not known.
double width_of(const ParentChip& parent) {
  return parent.sms && parent.clock ? peak_of_16_bits(parent.tensor).si() /
                                          (static_cast<double>(*parent.sms) * parent.clock->si())
                                    : 0.0;
}

}  // namespace

const MainLoop* main_loop_of(const Chip& chip) {
  const ChipArchitecture* architecture = architecture_called(chip.architecture);
  if (architecture == nullptr) {
    return nullptr;
  }
  const auto& all = architecture->main_loops;
  const auto found = std::find_if(all.begin(), all.end(), [&](const MainLoop& loop) {
    return loop.instruction.empty() || loop.instruction == chip.tensor_instruction;
  });
  return found != all.end() ? &*found : nullptr;
}

base::FlopsPerSecond peak_of_16_bits(const Chip& chip) { return peak_of_16_bits(chip.tensor); }

std::optional<std::size_t> kind_of_die(const Chip& chip) {
  const ChipArchitecture* architecture = architecture_called(chip.architecture);
  const double peak = peak_of_16_bits(chip).si();
  if (architecture == nullptr || architecture->widths.empty() || !chip.sms_used() ||
      !chip.clock_used() || peak == 0.0) {
    return std::nullopt;
  }
  const double width = peak / (static_cast<double>(*chip.sms_used()) * chip.clock_used()->si());
  const auto apart = [&](double of_kind) { return std::abs(std::log(width / of_kind)); };
  const auto nearest = std::min_element(architecture->widths.begin(), architecture->widths.end(),
                                        [&](double a, double b) { return apart(a) < apart(b); });
  return static_cast<std::size_t>(nearest - architecture->widths.begin());
}

double usable_shared_memory(const Chip& chip) {
  const ChipArchitecture* architecture = architecture_called(chip.architecture);
  if (architecture == nullptr || architecture->usable_shared_memory.empty()) {
    return 1.0;
  }
  const std::vector<double>& shares = architecture->usable_shared_memory;
  const auto kind = kind_of_die(chip);
  return kind ? shares[*kind] : *std::min_element(shares.begin(), shares.end());
}

std::optional<double> peak_over_width(const Chip& chip) {
  const ChipArchitecture* architecture = architecture_called(chip.architecture);
  const auto kind = kind_of_die(chip);
  return kind ? std::optional(peak_of_16_bits(chip).si() /
                              (static_cast<double>(*chip.sms_used()) * chip.clock_used()->si() *
                               architecture->widths[*kind]))
              : std::nullopt;
}

std::string peak_note(const base::Node& document) {
  base::Problems problems;
  Chip chip;
  base::Fields fields(document, "chip", problems);
  read(fields, chip);
  const std::optional<double> ratio = problems.size() > 0 ? std::nullopt : peak_over_width(chip);
  if (!ratio || agrees(*ratio)) {
    return {};
  }
  const double sms = static_cast<double>(*chip.sms_used());
  const double clock = chip.clock_used()->si();
  const double peak = peak_of_16_bits(chip).si();
  const double before = chip.parent ? width_of(*chip.parent) : 0.0;
  if (before > 0.0 ? agrees(peak / (sms * clock * before)) : tells_the_clock_of_peaks(document)) {
    return {};
  }
  return fmt::format(
      "tensor: a 16-bit peak of {:.4g} TFLOPS is {:.0f} FLOP of an SM and clock; {} has {:.0f}, so "
      "that {:.0f} SMs at {:.4g} MHz make {:.4g} TFLOPS. If its peaks are quoted at another clock, "
      "say at how many MHz in `notes`",
      peak / base::tera, peak / (sms * clock), architecture_called(chip.architecture)->name,
      peak / (sms * clock) / *ratio, sms, clock / base::mega, peak / *ratio / base::tera);
}

}  // namespace roofcast::hardware
