// SPDX-License-Identifier: Apache-2.0
#include "sim/numerics/facts.hpp"

#include <array>

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"

namespace roofcast::sim {

std::span<const base::CatalogEntry> embedded_numerics();

namespace {

using base::Fields;

constexpr std::array<std::string_view, 11> kRules = {
    "gradient_range",     "activation_range", "forward_products", "backward_products",
    "attention_products", "weight_update",    "second_moment",    "sums",
    "gradient_sums",      "tensor_scales",    "fp4_share"};

// The keys of a map that is keyed by names of the file's own.
template <class Read>
void each_name(Fields& f, Read read) {
  for (const base::Entry& entry : f.node().entries) {
    f.group(entry.key, [&](Fields& g) { read(entry.key, g); });
  }
}

void read_practice(Fields& f, Practice& practice) {
  f.number("loss_scale", practice.loss_scale, {1.0, 1e12}, base::optional);
  f.integer("backward_promotion", practice.backward_promotion, {0.0, 1e9}, base::optional);
  f.integer("attention_promotion", practice.attention_promotion, {0.0, 1e9}, base::optional);
  f.text("source", practice.source);
}

void read(Fields& f, NumericFacts& facts) {
  f.group("accumulators", [&](Fields& g) {
    each_name(g, [&](const std::string& architecture, Fields& h) {
      h.group("fp8", [&](Fields& i) {
        Accumulator& accumulator = facts.fp8_accumulators[architecture];
        i.number("bits", accumulator.error.bits, {2.0, 53.0});
        i.number("depth", accumulator.error.depth, {1.0, 1e6});
        i.text("source", accumulator.source);
      });
    });
  });
  f.group("usual", [&](Fields& g) {
    read_practice(g, facts.usual);
    g.number("learning_rate", facts.learning_rate, base::positive);
    g.number("weight", facts.weight, base::positive);
    g.number("beta1", facts.beta1, base::fraction);
    g.number("beta2", facts.beta2, base::fraction);
  });
  f.group("software", [&](Fields& g) {
    each_name(g, [&](const std::string& id, Fields& h) {
      read_practice(h, facts.software.emplace(id, facts.usual).first->second);
    });
  });
  f.group("block_promotion", [&](Fields& g) {
    g.integer("elements", facts.block_promotion, {1.0, 1e6});
    g.source();
  });
  f.group("rules", [&](Fields& g) {
    for (const std::string_view name : kRules) {
      g.group(name, [&](Fields& h) {
        Line& line = facts.rules[std::string(name)];
        h.number("threshold", line.threshold, base::positive, base::optional);
        h.text("source", line.source);
        if (name == "tensor_scales") {
          h.number("tokens_per_parameter", facts.tokens_per_parameter, base::positive);
        }
      });
    }
  });
}

NumericFacts load() {
  const base::Node document =
      base::load_entry({"numerics", "numeric facts", embedded_numerics()}, "facts");
  base::Problems problems;
  NumericFacts facts;
  Fields fields(document, "", problems);
  read(fields, facts);
  fields.end();
  problems.throw_if_any();
  return facts;
}

}  // namespace

const Practice& NumericFacts::practice(std::string_view id) const {
  const auto known = software.find(id);
  return known == software.end() ? usual : known->second;
}

const NumericFacts& numeric_facts() {
  static const NumericFacts loaded = load();
  return loaded;
}

}  // namespace roofcast::sim
