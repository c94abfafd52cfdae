// SPDX-License-Identifier: Apache-2.0
#include "workloads/architecture/expert_load.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "models/footprint.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"
#include "workloads/architecture/mapping.hpp"

namespace roofcast::unit_workloads_expert_load {

using workloads::ExpertLoad;
using workloads::ExpertPlacement;
using workloads::ExpertPopularity;

namespace {

ExpertPopularity zipf(double exponent) { return {0.0, exponent, {}}; }
ExpertPopularity counted(std::vector<double> counts) { return {0.0, 0.0, std::move(counts)}; }

ExpertLoad busiest_load(double tokens, std::int64_t top_k, std::int64_t experts,
                        const ExpertPopularity& popularity, const ExpertPlacement& placement) {
  return workloads::rank_loads(tokens, top_k, experts, {}, popularity, placement, true).busiest;
}

// Pairs of the busiest rank over the mean rank's.
double imbalance(const ExpertPopularity& popularity, const ExpertPlacement& placement,
                 std::int64_t experts = 256, std::int64_t top_k = 8) {
  constexpr double kTokens = 1e15;  // chance leaves nothing of so many
  return busiest_load(kTokens, top_k, experts, popularity, placement).pairs /
         (kTokens * static_cast<double>(top_k) / static_cast<double>(placement.ranks));
}

}  // namespace

TEST_CASE("Experts without skew are balanced, however that is said and wherever they are",
          "[unit]") {
  for (const std::int64_t ranks : {1, 8, 64, 256}) {
    for (const double tokens : {0.0, 1.0, 50.0, 20000.0}) {
      const ExpertLoad even = busiest_load(tokens, 8, 256, {}, {ranks});
      CHECK(even.pairs >= tokens * 8.0 / static_cast<double>(ranks) * (1.0 - 1e-12));
      for (const auto& popularity : {zipf(0.0), counted(std::vector<double>(256, 17.0))}) {
        for (const bool balanced : {false, true}) {
          const ExpertLoad load = busiest_load(tokens, 8, 256, popularity, {ranks, balanced, 0});
          CHECK(load.pairs == Approx(even.pairs));
          CHECK(load.distinct == Approx(even.distinct));
        }
      }
    }
  }
}

TEST_CASE("The expected number of distinct experts is what random routing hits", "[unit]") {
  std::mt19937 random(7);
  struct Row {
    int tokens, top_k, experts, local;
  };
  for (const Row r :
       {Row{4, 8, 256, 32}, Row{16, 4, 128, 128}, Row{3, 2, 8, 2}, Row{40, 8, 256, 256}}) {
    std::vector<int> ids(static_cast<std::size_t>(r.experts));
    double sum = 0.0;
    constexpr int kDraws = 4000;
    for (int draw = 0; draw < kDraws; ++draw) {
      std::vector<bool> hit(ids.size(), false);
      for (int token = 0; token < r.tokens; ++token) {
        for (std::size_t i = 0; i < ids.size(); ++i) {
          ids[i] = static_cast<int>(i);
        }
        for (std::size_t i = 0; i < static_cast<std::size_t>(r.top_k); ++i) {
          const std::size_t j = i + random() % (ids.size() - i);
          std::swap(ids[i], ids[j]);
          hit[static_cast<std::size_t>(ids[i])] = true;
        }
      }
      sum += static_cast<double>(std::count(hit.begin(), hit.begin() + r.local, true));
    }
    CHECK(workloads::mean_load(r.tokens, r.top_k, r.experts, r.experts / r.local, 0.0).distinct ==
          Approx(sum / kDraws).epsilon(0.01));
  }
}

TEST_CASE("One token hits its top_k experts, many tokens all of them, however uneven their load",
          "[unit]") {
  const auto distinct = [](double tokens, std::int64_t top_k, std::int64_t experts,
                           std::int64_t ranks, double variation) {
    return workloads::mean_load(tokens, top_k, experts, ranks, variation).distinct;
  };
  for (const double variation : {0.0, 0.5, 0.84}) {
    CHECK(distinct(0.0, 8, 256, 8, variation) == 0.0);
    CHECK(distinct(1.0, 8, 256, 1, variation) == Approx(8.0));
    CHECK(distinct(1.0, 8, 256, 8, variation) == Approx(1.0));
    CHECK(distinct(1e9, 8, 256, 8, variation) == Approx(32.0).epsilon(1e-4));
  }
  CHECK(distinct(1.0, 8, 8, 1, 0.0) == Approx(8.0));
}

TEST_CASE("Uneven experts: a batch touches as many as drawn from gamma popularities", "[unit]") {
  constexpr int kExperts = 128;
  constexpr int kTokens = 32;
  constexpr int kDraws = 4000;
  constexpr double kTopK = 4.0;
  for (const double variation : {0.4, 0.84}) {
    std::mt19937 random(7);
    const double shape = 1.0 / (variation * variation);
    std::gamma_distribution<double> popularity(shape, kTopK / kExperts / shape);
    double touched = 0.0;
    for (int draw = 0; draw < kDraws; ++draw) {
      touched += 1.0 - std::pow(1.0 - std::min(1.0, popularity(random)), kTokens);
    }
    CHECK(workloads::mean_load(kTokens, 4, kExperts, 1, variation).distinct ==
          Approx(kExperts * touched / kDraws).epsilon(0.03));
  }
}

TEST_CASE("The busiest rank of a large batch has as many pairs as the largest of simulated ranks",
          "[unit]") {
  constexpr int kExperts = 128;
  constexpr int kRanks = 8;
  constexpr int kDraws = 2000;
  for (const double tokens : {4096.0, 65536.0}) {
    std::mt19937 random(11);
    const double variation = 0.84;
    const double shape = 1.0 / (variation * variation);
    double most = 0.0;
    for (int draw = 0; draw < kDraws; ++draw) {
      std::gamma_distribution<double> popularity(shape, 1.0);
      std::vector<double> of_expert(kExperts);
      std::generate(of_expert.begin(), of_expert.end(), [&] { return popularity(random); });
      const double all = std::accumulate(of_expert.begin(), of_expert.end(), 0.0);
      double largest = 0.0;
      for (int rank = 0; rank < kRanks; ++rank) {
        double pairs = 0.0;
        for (int e = 0; e < kExperts / kRanks; ++e) {
          const double mean = tokens * 8.0 *
                              of_expert[static_cast<std::size_t>(rank * kExperts / kRanks + e)] /
                              all;
          pairs += std::poisson_distribution<int>(mean)(random);
        }
        largest = std::max(largest, pairs);
      }
      most += largest;
    }
    CHECK(busiest_load(tokens, 8, kExperts, {variation, 0.0, {}}, {kRanks}).pairs ==
          Approx(most / kDraws).epsilon(0.05));
  }
}

TEST_CASE("A rank alone is the mean one; pairs of the busiest are no more than all", "[unit]") {
  for (const double tokens : {0.0, 1.0, 7.0, 1000.0}) {
    for (const double variation : {0.0, 0.84}) {
      const workloads::ExpertPopularity uneven{variation, 0.0, {}};
      const auto mean = workloads::mean_load(tokens, 8, 128, 1, variation);
      CHECK(busiest_load(tokens, 8, 128, uneven, {1}).pairs == mean.pairs);
      CHECK(busiest_load(tokens, 8, 128, uneven, {128}).pairs <= tokens);
      CHECK(busiest_load(tokens, 8, 128, uneven, {4}).pairs >= mean.pairs / 4.0);
    }
  }
}

// Draws with a fixed seed: each token keeps some groups, and picks 8 of their even experts.
TEST_CASE("Few tokens fall unevenly on ranks of even experts, more so where tokens keep few groups",
          "[unit]") {
  constexpr int kExperts = 256;
  struct Row {
    workloads::ExpertGroups groups;
    int ranks;
  };
  for (const Row& row :
       {Row{{}, 8}, Row{{8, 4}, 4}, Row{{8, 4}, 8}, Row{{8, 2}, 8}, Row{{8, 4}, 16}}) {
    std::mt19937 random(7);
    std::vector<int> groups(static_cast<std::size_t>(row.groups.count));
    std::iota(groups.begin(), groups.end(), 0);
    const int in_group = kExperts / static_cast<int>(row.groups.count);
    std::vector<int> ids;
    for (const int tokens : {4, 16, 64, 256}) {
      const int draws = tokens < 64 ? 2000 : 32000 / tokens;
      double pairs = 0.0;
      double distinct = 0.0;
      for (int draw = 0; draw < draws; ++draw) {
        std::vector<int> of_expert(kExperts, 0);
        for (int token = 0; token < tokens; ++token) {
          ids.clear();
          for (std::size_t g = 0; g < static_cast<std::size_t>(row.groups.kept); ++g) {
            std::swap(groups[g], groups[g + random() % (groups.size() - g)]);
            for (int i = 0; i < in_group; ++i) {
              ids.push_back(groups[g] * in_group + i);
            }
          }
          for (std::size_t i = 0; i < 8; ++i) {
            std::swap(ids[i], ids[i + random() % (ids.size() - i)]);
            ++of_expert[static_cast<std::size_t>(ids[i])];
          }
        }
        int most = 0;
        std::ptrdiff_t widest = 0;
        for (int rank = 0; rank < row.ranks; ++rank) {
          const auto first = of_expert.begin() + rank * (kExperts / row.ranks);
          const auto last = first + kExperts / row.ranks;
          most = std::max(most, std::accumulate(first, last, 0));
          widest = std::max(widest, std::count_if(first, last, [](int n) { return n > 0; }));
        }
        pairs += most;
        distinct += static_cast<double>(widest);
      }
      const ExpertLoad load =
          workloads::rank_loads(tokens, 8, kExperts, row.groups, {}, {row.ranks}, true).busiest;
      INFO(row.groups.kept << " of " << row.groups.count << " groups, " << row.ranks << " ranks, "
                           << tokens << " tokens");
      const double within = tokens < 16 ? 0.13 : 0.06;
      CHECK(load.pairs == Approx(pairs / draws).epsilon(within));
      CHECK(load.distinct == Approx(distinct / draws).epsilon(within));
    }
  }
}

TEST_CASE("Groups of experts change neither one rank's load nor the mean rank's", "[unit]") {
  for (const double tokens : {1.0, 16.0, 4096.0}) {
    for (const std::int64_t ranks : {1, 4, 8, 64}) {
      const auto grouped = workloads::rank_loads(tokens, 8, 256, {8, 4}, {}, {ranks}, true);
      const auto free = workloads::rank_loads(tokens, 8, 256, {}, {}, {ranks}, true);
      CHECK(grouped.mean.pairs == free.mean.pairs);
      CHECK(grouped.mean.distinct == free.mean.distinct);
      CHECK(grouped.busiest.pairs >= free.busiest.pairs);
      CHECK(grouped.busiest.distinct >= free.busiest.distinct);
      if (ranks == 1) {
        CHECK(grouped.busiest.pairs == free.busiest.pairs);
        CHECK(grouped.busiest.distinct == free.busiest.distinct);
      }
    }
  }
}

TEST_CASE("Where training balances each batch, even experts are even on every rank", "[unit]") {
  const auto loads = workloads::rank_loads(4.0, 8, 256, {}, {}, {8}, false);
  CHECK(loads.busiest.pairs == 4.0);
  CHECK(loads.busiest.distinct == loads.mean.distinct);
}

TEST_CASE("More skew gives the busiest rank more pairs and a small batch fewer experts", "[unit]") {
  for (const bool balanced : {false, true}) {
    const ExpertPlacement placement{32, balanced, 0};
    double pairs = 0.0;
    double distinct = 1e9;
    for (const double exponent : {0.0, 0.2, 0.4, 0.6, 0.8}) {
      const ExpertLoad load = busiest_load(64.0, 8, 256, zipf(exponent), placement);
      CHECK(load.pairs >= pairs * (1.0 - 1e-12));
      const double mean =
          workloads::rank_loads(64.0, 8, 256, {}, zipf(exponent), placement, true).mean.distinct;
      CHECK(mean < distinct);
      pairs = load.pairs;
      distinct = mean;
    }
    CHECK(pairs > 1.2 * 64.0 * 8.0 / 32.0);
  }
}

// Popularities 8:4:2:2 of four experts on two ranks. By index the first rank has 12 of 16. Packed: 8 and a
// 2, 4 and a 2. Two more copies, both of the first: 4, then 8/3, 8/3 | 8/3, 2, 2 after packing of 4 | 8/3, 8/3.
TEST_CASE("Balancing packs the fullest expert first, copies go to the fullest copy", "[unit]") {
  const auto popularity = counted({8.0, 4.0, 2.0, 2.0});
  CHECK(imbalance(popularity, {2}, 4, 1) == Approx(12.0 / 8.0));
  CHECK(imbalance(popularity, {2, true, 0}, 4, 1) == Approx(10.0 / 8.0));
  CHECK(imbalance(popularity, {2, true, 2}, 4, 1) == Approx((4.0 + 8.0 / 3.0 + 2.0) / 8.0));
}

// deepseek-ai/EPLB@d52c72d README.md: its hierarchical plan on two nodes leaves ranks of 156 of 129 and 179.5 of
// 144.5 on average; the global policy is free to do better.
TEST_CASE("The published example of balancing is packed at least as well without its nodes",
          "[unit]") {
  const auto first = counted({90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86});
  const auto second = counted({20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27});
  CHECK(imbalance(first, {8, true, 4}, 12, 1) == Approx(138.5 / 129.125));
  CHECK(imbalance(second, {8, true, 4}, 12, 1) == Approx(172.0 / 144.5));
}

TEST_CASE("Packing helps skewed experts, copies of hot ones help more", "[unit]") {
  for (const auto& popularity : {zipf(0.5), zipf(0.9), ExpertPopularity{0.84, 0.0, {}}}) {
    const double by_index = imbalance(popularity, {32});
    const double packed = imbalance(popularity, {32, true, 0});
    const double copied = imbalance(popularity, {32, true, 32});
    CHECK(packed < by_index);
    CHECK(copied < packed);
    CHECK(copied >= 1.0);
    CHECK(copied < 1.1);
  }
}

// An expert that every token would choose more than once is chosen by each of them once.
TEST_CASE("No token chooses an expert twice", "[unit]") {
  CHECK(imbalance(counted({1e9, 1.0, 1.0, 1.0}), {4}, 4, 2) == Approx(2.0));
  CHECK(busiest_load(1.0, 2, 4, counted({1e9, 1.0, 1.0, 1.0}), {1}).distinct == Approx(2.0));
}

// Chance itself: shuffles of the quantiles of a gamma distribution, and the closed form of the same.
TEST_CASE("Quantiles of a gamma distribution are as uneven as its closed form", "[unit]") {
  const ExpertLoad closed = busiest_load(64.0, 8, 256, {0.84, 0.0, {}}, {8});
  const ExpertLoad placed = busiest_load(64.0, 8, 256, {0.84, 0.0, {}}, {8, true, 0});
  CHECK(placed.distinct == Approx(closed.distinct).epsilon(0.03));
  CHECK(placed.pairs < closed.pairs);
}

// DeepSeek's decode unit: 256 experts and 32 copies on 144 ranks, two each.
TEST_CASE("Redundant experts count where ranks divide experts, and in memory", "[unit]") {
  const auto& model = laws::model("deepseek-v3");
  workloads::Mapping mapping;
  mapping.data_parallel = 144;
  mapping.expert_parallel = 144;
  CHECK(workloads::fault_of(model, mapping) == workloads::MappingFault::experts);
  mapping.redundant_experts = 32;
  CHECK(workloads::fault_of(model, mapping) == workloads::MappingFault::none);
  CHECK(workloads::fault_of(laws::model("llama-3.1-8b"), [] {
          workloads::Mapping dense;
          dense.redundant_experts = 1;
          return dense;
        }()) == workloads::MappingFault::no_experts);

  workloads::Mapping plain;
  plain.data_parallel = 32;
  plain.expert_parallel = 32;
  workloads::Mapping copied = plain;
  copied.redundant_experts = 32;
  const auto& fp8 = laws::precision("fp8");
  const double more =
      (models::weight_bytes(model, fp8, copied) - models::weight_bytes(model, fp8, plain)) /
      base::byte;
  // One expert more in each of 58 layers: three matrices of 7168 x 2048 in fp8.
  CHECK(more == Approx(58.0 * 3.0 * 7168.0 * 2048.0));
}

}  // namespace roofcast::unit_workloads_expert_load
