// SPDX-License-Identifier: Apache-2.0
#include "hardware/known_architectures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <span>

#include "base/document/problems.hpp"
#include "base/nearest.hpp"

namespace roofcast::hardware {

std::span<const base::CatalogEntry> embedded_architectures();

base::Catalog architecture_catalog() {
  return {"architectures", "architecture", embedded_architectures()};
}

namespace {

using base::Fields;
using base::MathType;

void read_sm(Fields& f, ChipArchitecture& a) {
  f.numbers("flop_per_clock", a.widths, base::positive, base::optional);
  f.numbers("vector_flop_per_clock", a.vector_widths, base::positive, base::optional);
  f.numbers("usable_shared_memory", a.usable_shared_memory, {0.0, 1.0, true}, base::optional);
  f.group(
      "formats",
      [&](Fields& g) {
        for (int i = 1; i < base::kMathTypes; ++i) {
          g.numbers(base::name(static_cast<MathType>(i)), a.formats[static_cast<std::size_t>(i)],
                    base::positive, base::optional);
        }
      },
      base::optional);
}

void read_gemm(Fields& f, ChipArchitecture& a) {
  f.each("main_loops", [&](Fields& g) {
    MainLoop loop;
    g.text("instruction", loop.instruction, base::optional);
    g.quantity("depth", loop.depth);
    g.number("stages", loop.stages, base::at_least_one);
    a.main_loops.push_back(std::move(loop));
  });
}

void check_lengths(Fields& f, const ChipArchitecture& a) {
  const auto check = [&](const std::vector<double>& list, std::string_view key) {
    if (!list.empty() && list.size() != a.widths.size()) {
      f.problem("", fmt::format("{} has {} values, where {} kinds of dies have flop_per_clock", key,
                                list.size(), a.widths.size()));
    }
  };
  check(a.vector_widths, "vector_flop_per_clock");
  check(a.usable_shared_memory, "usable_shared_memory");
  for (int i = 1; i < base::kMathTypes; ++i) {
    check(a.formats[static_cast<std::size_t>(i)], base::name(static_cast<MathType>(i)));
  }
}

std::map<std::string, ChipArchitecture> all_architectures() {
  std::map<std::string, ChipArchitecture> known;
  for (const std::string& id : base::catalog_ids(architecture_catalog())) {
    const base::Node document = base::load_entry(architecture_catalog(), id);
    base::Problems problems;
    Fields f(document, "", problems);
    read(f, known[id]);
    f.end();
    problems.throw_if_any();
  }
  return known;
}

}  // namespace

void read(Fields& f, ChipArchitecture& a) {
  f.text("name", a.name);
  a.generation = std::nan("");
  f.group(
      "sm",
      [&](Fields& g) {
        read_sm(g, a);
        g.source();
      },
      base::optional);
  f.group(
      "gemm",
      [&](Fields& g) {
        read_gemm(g, a);
        g.source();
      },
      base::optional);
  f.group(
      "assumed",
      [&](Fields& g) {
        g.number("generation", a.generation, base::any_value, base::optional);
        g.group(
            "sm", [&](Fields& h) { read_sm(h, a); }, base::optional);
        g.group(
            "gemm", [&](Fields& h) { read_gemm(h, a); }, base::optional);
        g.source();
      },
      base::optional);
  check_lengths(f, a);
}

const ChipArchitecture* architecture_called(const std::string& id) {
  static const std::map<std::string, ChipArchitecture> all = all_architectures();
  const auto found = all.find(id);
  return found == all.end() ? nullptr : &found->second;
}

void read_architecture(Fields& f, std::string& id) {
  f.text("architecture", id);
  if (!f.has("architecture") || architecture_called(id) != nullptr) {
    return;
  }
  const auto ids = base::catalog_ids(architecture_catalog());
  const auto near = base::nearest_name(id, ids);
  f.problem(
      "architecture",
      fmt::format("no architecture is called \"{}\"{} (see `roofcast list architectures`; a new "
                  "one is a file architectures/NAME.yaml of the folder ROOFCAST_CATALOG)",
                  id, near ? base::did_you_mean(std::array{*near}) : ""));
}

namespace {

constexpr MemoryKind kKinds[] = {{"HBM", true},   {"stacked DRAM", true}, {"SRAM", true},
                                 {"GDDR", false}, {"LPDDR", false},       {"DDR", false}};

char small(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::optional<MemoryKind> memory_kind(std::string_view type) {
  for (const MemoryKind& kind : kKinds) {
    const std::size_t length = kind.family.size();
    if (type.size() >= length && (type.size() == length || !letter(type[length])) &&
        std::equal(kind.family.begin(), kind.family.end(), type.begin(),
                   [](char a, char b) { return small(a) == small(b); })) {
      return kind;
    }
  }
  return std::nullopt;
}

std::string unknown_memory_text(std::string_view type) {
  std::vector<std::string> families;
  for (const MemoryKind& kind : kKinds) {
    families.emplace_back(kind.family);
  }
  const auto letters = std::find_if(type.begin(), type.end(), digit);
  const std::string family(type.begin(), letters);
  const auto near = base::nearest_name(family, families);
  return fmt::format(
      "unknown kind of memory \"{}\"; expects {}, and perhaps a generation{}", type,
      fmt::join(families, ", "),
      near ? fmt::format("; did you mean \"{}{}\"?", *near, std::string(letters, type.end())) : "");
}

}  // namespace roofcast::hardware
