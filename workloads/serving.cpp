// SPDX-License-Identifier: Apache-2.0
#include "workloads/serving.hpp"

namespace roofcast::workloads {

std::span<const base::CatalogEntry> embedded_stacks();

base::Catalog stack_catalog() { return {"stacks", "stack", embedded_stacks()}; }

namespace {

void read_limits(base::Fields& f, SchedulerLimits& limits, base::Need need) {
  f.integer("max_tokens_per_step", limits.max_tokens_per_step, {1.0, 1e9}, need);
  f.integer("max_sequences", limits.max_sequences, {1.0, 1e9}, need);
  f.number("memory_fraction", limits.memory_fraction, {0.0, 1.0, true}, need);
}

void read(base::Fields& f, ServedError& error) {
  f.integer("rows", error.rows, base::not_negative);
  f.number("median", error.median, base::not_negative);
  f.number("low", error.low, {0.0, 1.0, true});
  f.number("high", error.high, {1.0, 1e3});
}

}  // namespace

void read(base::Fields& f, Stack& stack) {
  stack.id = f.node().reference;
  f.text("name", stack.name);
  f.group("limits", [&](base::Fields& g) {
    read_limits(g, stack.limits, base::required);
    g.source();
  });
  f.group("cache", [&](base::Fields& g) {
    g.integer("block_tokens", stack.kv_block_tokens, base::at_least_one);
    g.choice<FractionOf>("memory_fraction_of", stack.fraction_of,
                         {{"device", FractionOf::device},
                          {"weights and cache", FractionOf::weights_and_cache},
                          {"free memory", FractionOf::free_memory}});
    g.quantity("runtime_reserve", stack.runtime_reserve, base::not_negative);
    g.source();
  });
  f.group("overhead", [&](base::Fields& g) {
    g.quantity("per_step", stack.step_overhead, base::not_negative);
    g.quantity("per_sequence", stack.sequence_overhead, base::not_negative);
    g.quantity("per_request", stack.request_overhead, base::not_negative);
    g.source();
  });
  f.group("fusion", [&](base::Fields& g) {
    g.flag("quantise", stack.fused_quantise);
    g.choice<AllReduceKernels>("custom_all_reduce", stack.custom_all_reduce,
                               {{"none", AllReduceKernels::library},
                                {"barriers", AllReduceKernels::barriers},
                                {"flags", AllReduceKernels::flags}});
    g.source();
  });
  f.group("errors", [&](base::Fields& g) {
    g.group("ttft", [&](base::Fields& e) { read(e, stack.ttft_error); });
    g.group("tpot", [&](base::Fields& e) { read(e, stack.tpot_error); });
    g.source();
  });
}

void read(base::Fields& f, Serving& serving) {
  f.group("stack", [&](base::Fields& g) { read(g, serving.stack); });
  serving.limits = serving.stack.limits;
  read_limits(f, serving.limits, base::optional);
}

void read(base::Fields& f, Traffic& traffic) {
  const base::Range tokens{1.0, 1e9};
  f.integer("input_tokens", traffic.input_tokens, tokens);
  f.integer("output_tokens", traffic.output_tokens, tokens);
  f.integer("concurrency", traffic.concurrency, tokens);
  f.integer("cached_tokens", traffic.cached_tokens, base::not_negative, base::optional);
  if (traffic.cached_tokens >= traffic.input_tokens && traffic.input_tokens > 0) {
    f.problem("cached_tokens",
              "must be fewer than input_tokens: the last prompt token is never reused");
  }
}

}  // namespace roofcast::workloads
