// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "sim/estimate.hpp"
#include "sim/iteration/draft_model.hpp"
#include "sim/scenario/sections.hpp"
#include "tests/catch.hpp"

namespace roofcast::sim::unit_sim_speculation_tree {
namespace {

Scenario drafting(const std::string& speculative) {
  return read_scenario(base::parse_document(
      "test",
      "system: hgx_h100\nmodel: llama-3.1-8b\nprecision: bf16\ndeployment: {}\n"
      "serving: {stack: vllm, speculative: " +
          speculative + "}\ntraffic: {input_tokens: 512, output_tokens: 512, concurrency: 1}\n"));
}

const workloads::Speculation& speculation(const Scenario& s) { return s.serving.speculation; }

// Every product of at most `levels` branches, the greatest first.
std::vector<double> all_products(const std::vector<double>& branches, int levels) {
  std::vector<double> products;
  std::vector<double> level{1.0};
  for (int i = 0; i < levels; ++i) {
    std::vector<double> next;
    for (const double path : level) {
      for (const double branch : branches) {
        next.push_back(path * branch);
      }
    }
    products.insert(products.end(), next.begin(), next.end());
    level = next;
  }
  std::sort(products.begin(), products.end(), std::greater<>());
  return products;
}

}  // namespace

TEST_CASE("A tree yields one token and the sum of its nodes' path products", "[unit]") {
  const std::vector<double> branches{0.6, 0.2, 0.1};
  const auto products = all_products(branches, 4);
  for (const std::int64_t nodes : {4, 7, 20, 60}) {
    workloads::Speculation tree;
    tree.draft_tokens = 4;
    tree.nodes = nodes;
    tree.acceptance = workloads::acceptance_of_tree(branches, 4, nodes);
    CHECK(tree.tokens_per_iteration() ==
          Approx(std::accumulate(products.begin(), products.begin() + nodes, 1.0)));
  }
}

TEST_CASE("A tree of one branch is a chain", "[unit]") {
  const Scenario tree =
      drafting("{method: eagle, draft_tokens: 5, tree: {nodes: 5, branches: [0.7]}}");
  const Scenario chain = drafting("{method: eagle, draft_tokens: 5, acceptance: 0.7}");
  CHECK(speculation(tree).tokens_per_iteration() ==
        Approx(speculation(chain).tokens_per_iteration()));
  CHECK(speculation(tree).query_tokens() == speculation(chain).query_tokens());
  Workspace workspace;
  CHECK(estimate(view(tree), workspace).steady.tpot ==
        estimate(view(chain), workspace).steady.tpot);
}

TEST_CASE("A tree verifies its nodes, drafts level by level and keeps at most a path", "[unit]") {
  const Scenario tree = drafting(
      "{method: eagle, draft_tokens: 6, tree: {nodes: 60, width: 10}, tokens_per_iteration: 4.11}");
  CHECK(speculation(tree).query_tokens() == 61);
  CHECK(speculation(tree).tokens_per_iteration() == Approx(4.11));
  CHECK(speculation(tree).accepted(0.0) == 6);
  const auto passes = draft_passes(view(tree), {1, 61, 768});
  CHECK(passes[0].batch.query_tokens == 7);
  CHECK(passes[1].batch.query_tokens == 10);
  CHECK(passes[1].count == 5);
}

TEST_CASE("More nodes yield more and cost more: many sequences are better off with fewer",
          "[unit]") {
  const auto tpot = [](const std::string& nodes, std::int64_t clients) {
    Scenario s = drafting("{method: eagle, draft_tokens: 4, tree: {nodes: " + nodes +
                          ", width: 8, branches: [0.6, 0.15, 0.07, 0.04]}}");
    s.traffic.concurrency = clients;
    Workspace workspace;
    return estimate(view(s), workspace).steady.tpot;
  };
  CHECK(tpot("32", 1) < tpot("4", 1));
  CHECK(tpot("32", 128) > tpot("4", 128));
}

}  // namespace roofcast::sim::unit_sim_speculation_tree
