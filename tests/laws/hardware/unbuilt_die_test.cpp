// SPDX-License-Identifier: Apache-2.0
//
// A chip that is described by its die, for which parameters are transferred from measured chips: a better die is no slower.
#include <cmath>
#include <limits>
#include <stdexcept>

#include "cli/kernels/kernel_kinds.hpp"
#include "models/operators/explained_cost.hpp"
#include "models/operators/operator_cost.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/violations.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::laws::laws_hardware_unbuilt_die {
namespace {

constexpr double kDrift = 0.005;

struct Factors {
  double sms = 1.0, shared_memory = 1.0, l2 = 1.0;
};

// The chip without its name: its die, its memory and its TDP.
sim::Platform die_of(const hardware::Chip& chip, const Factors& by, const std::string& stack) {
  base::Node die = base::load_entry(hardware::chip_catalog(), chip.id);
  for (const std::string_view key :
       {"compute", "tensor", "vector", "shared_memory", "registers", "measured", "sparsity",
        "measured_on", "known_as", "nvlink", "links", "pcie", "l2"}) {
    std::erase_if(die.entries, [&](const base::Entry& entry) { return entry.key == key; });
  }
  die.reference.clear();
  const double clocks = static_cast<double>(*chip.sms) * chip.clock->si();
  const double tensor =
      base::max(chip.peak(base::MathType::bf16), chip.peak(base::MathType::fp16)).si();
  die["die"] = base::parse_document(
      "die",
      fmt::format("sms: {:.0f}\nclock: {} GHz\nflop_per_sm_clock: {}\n"
                  "vector_flop_per_sm_clock: {}\nshared_memory: {} KiB\n"
                  "registers: 256 KiB\ntensor_instruction: {}\nsource: this test",
                  std::round(by.sms * static_cast<double>(*chip.sms)), chip.clock->si() / 1e9,
                  tensor / clocks, chip.peak(base::MathType::fp32).si() / clocks,
                  by.shared_memory * chip.shared_memory_per_sm->si() / 1024.0,
                  chip.tensor_instruction.empty() ? "mma" : chip.tensor_instruction));
  die["l2"] =
      base::parse_document("l2", fmt::format("capacity: {} MiB\nsource: this test",
                                             by.l2 * chip.l2_capacity->si() / (1024.0 * 1024.0)));
  die["pcie"] = base::parse_document(
      "pcie", "generation: 5\nbandwidth_per_direction: 63 GB/s\nsource: this test");
  base::Problems problems;
  base::Node document = base::parse_document(
      "scenario", fmt::format("serving: {{stack: {}}}\nsystem:\n  name: one chip\n  chips: 1\n"
                              "  scale_up: {{link: pcie, domain: 1, in_network_reduction: false, "
                              "source: none}}\n  latency: {{scale_up: 1 us, source: none}}\n",
                              stack));
  document["system"]["chip"] = die;
  sim::load_references(document, problems);
  problems.throw_if_any();
  sim::Platform platform = sim::read_platform(document, problems);
  problems.throw_if_any();
  return platform;
}

struct Kernel {
  std::string name;
  workloads::Operator op;
};

Kernel kernel(const std::string& kind, const cli::ShapeTexts& shape) {
  for (const cli::KernelKind& each : cli::kernel_kinds()) {
    if (each.name == kind) {
      base::Problems problems;
      const cli::Shape whole(each, shape, problems);
      problems.throw_if_any();
      return {kind, each.make(whole)};
    }
  }
  throw std::logic_error(kind);
}

// Thread blocks of each fill the SMs many times over, or load without end: no wave is half empty.
std::vector<Kernel> kernels() {
  return {kernel("gemm", {{"m", "64"}, {"n", "8192"}, {"k", "8192"}}),
          kernel("gemm", {{"m", "65536"}, {"n", "65536"}, {"k", "8192"}}),
          kernel("decode_attention",
                 {{"sequences", "256"}, {"context", "8192"}, {"heads", "32"}, {"kv-heads", "8"}}),
          kernel("attention",
                 {{"sequences", "16"}, {"queries", "8192"}, {"heads", "32"}, {"kv-heads", "8"}})};
}

bool has_a_die(const hardware::Chip& chip) {
  return chip.sms && chip.clock && chip.shared_memory_per_sm && chip.l2_capacity &&
         chip.vendor != "Google";
}

}  // namespace

TEST_CASE("More SMs, shared memory or L2 of an unbuilt die make no kernel slower, within 0.5 %",
          "[laws]") {
  // Beyond twice the SMs the bytes that decodes move while each SM starts count 0.5 % and more.
  const std::vector<Factors> steps[] = {{{1.0}, {1.25}, {1.5}, {2.0}},
                                        {{1.0, 0.75}, {1.0, 1.0}, {1.0, 1.5}, {1.0, 2.0}},
                                        {{1.0, 1.0, 0.5}, {}, {1.0, 1.0, 2.0}, {1.0, 1.0, 4.0}}};
  const std::vector<Kernel> all = kernels();
  Violations slower(kDrift);
  for (const hardware::Chip& chip : chips()) {
    for (const std::string stack : {"vllm", "trtllm"}) {
      for (const auto& along : steps) {
        std::vector<double> fastest(all.size(), std::numeric_limits<double>::infinity());
        for (const Factors& by : has_a_die(chip) ? along : std::vector<Factors>()) {
          const sim::Platform p = die_of(chip, by, stack);
          if (p.system.calibration.provenance != hardware::Provenance::transferred) {
            continue;  // generic parameters do not drift, but their starts of SMs count 0.5 % at twice as many
          }
          for (std::size_t i = 0; i < all.size(); ++i) {
            const double time = models::cost_of(all[i].op, p.machine).time.si();
            slower.add(std::max(0.0, time / fastest[i] - 1.0), [&] {
              return fmt::format("{} of {} with {}: SMs x{}, shared memory x{}, L2 x{}",
                                 all[i].name, chip.id, stack, by.sms, by.shared_memory, by.l2);
            });
            fastest[i] = std::min(fastest[i], time);
          }
        }
      }
    }
  }
  ROOFCAST_CHECK_LAW(slower);
}

}  // namespace roofcast::laws::laws_hardware_unbuilt_die
