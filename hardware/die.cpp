// SPDX-License-Identifier: Apache-2.0
#include "hardware/die.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/document/fields.hpp"
#include "base/document/problems.hpp"
#include "hardware/known_architectures.hpp"

namespace roofcast::hardware {
namespace {

using base::Fields;
using base::MathType;
using base::Node;

struct Die {
  std::int64_t sms = 0;
  base::Hertz clock;
  double width = 0.0;  // FLOP of one SM and clock; 0: not stated, as of the others
  double vector = 0.0;
  double exponentials = 0.0;
  double l2_bytes = 0.0;
  std::string tensor_instruction;
  std::optional<base::Bytes> shared_memory, registers, tensor_memory;
  std::size_t kind = 0;                        // of the architecture's dies
  bool own_width = false, own_vector = false;  // stated
  double clocks() const { return static_cast<double>(sms) * clock.si(); }  // of all SMs
};

void read(Fields& f, Die& die) {
  f.integer("sms", die.sms, base::at_least_one);
  f.quantity("clock", die.clock);
  f.number("flop_per_sm_clock", die.width, base::positive, base::optional);
  f.number("vector_flop_per_sm_clock", die.vector, base::positive, base::optional);
  die.own_width = die.width > 0.0;
  die.own_vector = die.vector > 0.0;
  f.number("exponentials_per_sm_clock", die.exponentials, base::positive, base::optional);
  f.number("l2_bytes_per_sm_clock", die.l2_bytes, base::positive, base::optional);
  f.text("tensor_instruction", die.tensor_instruction, base::optional);
  f.quantity("shared_memory", die.shared_memory);
  f.quantity("registers", die.registers);
  f.quantity("tensor_memory", die.tensor_memory);
  f.source();
}

// Widths that are not stated, of the architecture.
void complete(Fields& f, Die& die, const ChipArchitecture& architecture) {
  if (architecture.widths.empty()) {
    if (die.width == 0.0) {
      f.problem("flop_per_sm_clock", "is needed: that of the architecture is not known");
    }
    return;
  }
  const std::vector<double>& widths = architecture.widths;
  if (die.width == 0.0 && widths.size() > 1) {
    f.problem("flop_per_sm_clock", fmt::format("is needed: dies of {} have {}", architecture.name,
                                               fmt::join(widths, ", ")));
    return;
  }
  die.width = die.width == 0.0 ? widths.front() : die.width;
  const auto kind = std::find(widths.begin(), widths.end(), die.width);
  const auto at = static_cast<std::size_t>(kind - widths.begin());
  if (die.vector == 0.0 && at < architecture.vector_widths.size()) {
    die.vector = architecture.vector_widths[at];
  }
  die.kind = kind == widths.end() ? 0 : at;
}

// FLOP of a format over those of 16 bits; 0: not known.
double ratio_of(const ChipArchitecture& architecture, const Die& die, MathType type) {
  if (architecture.widths.empty()) {
    return type == MathType::bf16 || type == MathType::fp16 ? 1.0 : 0.0;
  }
  const std::vector<double>& of_kinds = architecture.formats[static_cast<std::size_t>(type)];
  return of_kinds.empty() ? 0.0 : of_kinds[die.kind];
}

// The group `key` of the document, where what is not stated follows.
class Group {
 public:
  Group(Node& document, std::string_view key, const Node& die, std::string source)
      : document_(document), key_(key), die_(die), source_(std::move(source)) {}

  // Where it is not stated.
  void follow(std::string_view key, const std::string& text) {
    Node& group = document_[key_];
    if (!group.is_map()) {
      group = Node();
      group.kind = Node::Kind::map;
      group.place = die_.place;
    }
    if (group.find(key) != nullptr) {
      return;
    }
    own_source_ = own_source_ || group.find("source") == nullptr;
    if (own_source_) {
      std::erase_if(group.entries, [](const base::Entry& entry) { return entry.key == "source"; });
    }
    group[key] = base::scalar_node(text, die_.place);
    if (own_source_) {
      group["source"] = base::scalar_node(source_, die_.place);  // behind its figures
    }
  }
  void not_known(std::string_view key) {
    follow(key, "");
    Node& value = document_[key_][key];
    if (value.text.empty()) {
      value.kind = Node::Kind::null;
    }
  }

 private:
  Node& document_;
  std::string_view key_;
  const Node& die_;
  std::string source_;
  bool own_source_ = false;
};

std::string flops(double rate) { return fmt::format("{:.10g} TFLOPS", rate / base::tera); }

}  // namespace

void read_die(Fields& f) {
  Die die;
  read(f, die);
}

bool is_die(const Node& document) {
  return document.find("die") != nullptr && document.find("base") == nullptr;
}

Node from_die(const Node& document) {
  base::Problems problems;
  Die die;
  Fields whole(document, "", problems);
  std::string id;
  read_architecture(whole, id);
  const ChipArchitecture* architecture = architecture_called(id);
  if (!whole.has("architecture")) {
    whole.problem("architecture", "a chip with a die needs it");
  }
  whole.group("die", [&](Fields& f) {
    read(f, die);
    if (architecture != nullptr) {  // else it was reported
      complete(f, die, *architecture);
    }
  });
  for (const std::string_view key : {"compute", "shared_memory", "registers"}) {
    const auto stated = std::find_if(document.entries.begin(), document.entries.end(),
                                     [&](const base::Entry& entry) { return entry.key == key; });
    if (stated != document.entries.end()) {
      problems.add(stated->key_place, std::string(key), "is said by die: state it there");
    }
  }
  problems.throw_if_any();

  Node out = document;
  std::erase_if(out.entries, [](const base::Entry& entry) { return entry.key == "die"; });
  const Node& at = *document.find("die");
  const std::string source = at.find("source")->text;
  const auto group = [&](std::string_view key, const std::string& why) {
    return Group(out, key, at, why);
  };
  const std::string clocks = fmt::format("follows from the die: {} SMs at {:.4g} MHz", die.sms,
                                         die.clock.si() / base::mega);
  const std::string follows = fmt::format("{}, and what one does in a clock: {}", clocks, source);
  // Times the FLOP of one SM and clock: what the die does not state is the architecture's.
  const auto times = [&](double flop, bool own) {
    return own ? fmt::format("{}, {:g} FLOP of one in a clock: {}", clocks, flop, source)
               : fmt::format("{}: {}; {:g} FLOP of one in a clock: hardware/architectures, {}",
                             clocks, source, flop, architecture->name);
  };
  Group compute = group("compute", source);
  compute.follow("sms", at.find("sms")->text);
  compute.follow("clock", at.find("clock")->text);
  if (!die.tensor_instruction.empty()) {
    compute.follow("tensor_instruction", die.tensor_instruction);
  }
  const bool by_ratios = !architecture->widths.empty();
  Group tensor =
      group("tensor", times(die.width, die.own_width) +
                          (by_ratios ? fmt::format("; other formats by the ratios of {}: "
                                                   "hardware/architectures",
                                                   architecture->name)
                                     : ""));
  for (int i = 1; i < base::kMathTypes; ++i) {
    const auto type = static_cast<MathType>(i);
    if (const double ratio = ratio_of(*architecture, die, type); ratio > 0.0) {
      tensor.follow(base::name(type), flops(die.clocks() * die.width * ratio));
    }
  }
  Group vector = group("vector", die.vector > 0.0 ? times(die.vector, die.own_vector)
                                                  : "neither the die nor the architecture says it");
  if (die.vector > 0.0) {
    vector.follow("fp32", flops(die.clocks() * die.vector));
  } else {
    vector.not_known("fp32");
  }
  Group measured = group("measured", follows);
  if (die.exponentials > 0.0) {
    measured.follow("exponential_rate", flops(die.clocks() * die.exponentials));
  }
  if (die.l2_bytes > 0.0) {
    measured.follow("l2_bandwidth",
                    fmt::format("{:.10g} TB/s", die.clocks() * die.l2_bytes / base::tera));
  }
  const auto size = [&](std::string_view key, std::string_view figure, std::string_view of) {
    Group to = group(key, source);
    if (const Node* stated = at.find(of); stated != nullptr && !stated->is_null()) {
      to.follow(figure, stated->text);
    } else {
      to.not_known(figure);
    }
  };
  size("shared_memory", "per_sm", "shared_memory");
  if (die.registers) {
    size("registers", "per_sm", "registers");
  }
  if (die.tensor_memory) {
    size("registers", "tensor_memory_per_sm", "tensor_memory");
  }
  Group pcie = group("pcie", "not told");
  if (out.find("pcie") == nullptr) {
    pcie.not_known("generation");
    pcie.not_known("bandwidth_per_direction");
  }
  if (out.find("status") == nullptr) {
    out["status"] = base::scalar_node("announced", at.place);
  }
  return out;
}

}  // namespace roofcast::hardware
