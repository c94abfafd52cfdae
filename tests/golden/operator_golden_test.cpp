// SPDX-License-Identifier: Apache-2.0
//
// tests/golden/operators.csv: a line an operator on a system, its shape as "m=64 n=8192 k=8192".
// What a shape leaves out has the default of workloads/graph/operator.hpp.
#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>

#include "base/units/number_format.hpp"
#include "models/operators/operator_cost.hpp"
#include "sim/scenario/scenario.hpp"
#include "tests/catch.hpp"
#include "tests/golden/golden_file.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::golden::golden_operator_golden {
namespace {

using namespace workloads;

// The keys of a shape. Each is taken once; one left over is a mistake in the file.
class Shape {
 public:
  explicit Shape(std::string_view text) {
    while (!text.empty()) {
      const std::string_view word = text.substr(0, text.find(' '));
      text.remove_prefix(std::min(text.size(), word.size() + 1));
      const auto equals = word.find('=');
      values_.emplace(word.substr(0, equals), equals == word.npos ? "" : word.substr(equals + 1));
    }
  }
  bool empty() const { return values_.empty(); }

  void take(std::string_view key, double& value) {
    if (const auto text = find(key)) {
      value = base::parse_number(*text).value();
    }
  }
  void take(std::string_view key, std::int64_t& value) {
    double number = static_cast<double>(value);
    take(key, number);
    value = static_cast<std::int64_t>(number);
  }
  void take(std::string_view key, bool& value) {
    if (const auto text = find(key)) {
      value = *text == "true";
    }
  }
  void take(std::string_view key, base::NumberFormat& value) {
    if (const auto text = find(key)) {
      value = named<base::NumberFormat>(*text, base::kNumberFormats);
    }
  }
  void take(std::string_view key, Recurrence& value) {
    if (const auto text = find(key)) {
      value = named<Recurrence>(*text, static_cast<int>(Recurrence::delta) + 1);
    }
  }
  void take(std::string_view key, AllReduceKernels& value) {
    if (const auto text = find(key)) {
      value = named<AllReduceKernels>(*text, static_cast<int>(AllReduceKernels::flags) + 1);
    }
  }
  void take(std::string_view key, CollectiveKind& value) {
    if (const auto text = find(key)) {
      value = named<CollectiveKind>(*text, static_cast<int>(CollectiveKind::send_receive) + 1);
    }
  }

 private:
  template <class T>
  static T named(std::string_view text, int count) {
    for (int i = 0; i < count; ++i) {
      if (name(static_cast<T>(i)) == text) {
        return static_cast<T>(i);
      }
    }
    throw std::out_of_range(std::string(text));
  }
  std::optional<std::string_view> find(std::string_view key) {
    const auto node = values_.extract(key);
    return node.empty() ? std::nullopt : std::optional(node.mapped());
  }

  std::map<std::string_view, std::string_view> values_;
};

void take(Shape& shape, Gemm& o) {
  shape.take("m", o.m);
  shape.take("n", o.n);
  shape.take("k", o.k);
  shape.take("batch", o.batch);
  shape.take("activations", o.activations);
  shape.take("weights", o.weights);
}

void take(Shape& shape, GroupedGemm& o) {
  shape.take("pairs", o.pairs);
  shape.take("distinct", o.distinct);
  shape.take("n", o.n);
  shape.take("k", o.k);
  shape.take("activations", o.activations);
  shape.take("weights", o.weights);
}

void take(Shape& shape, AttentionHeads& h) {
  shape.take("query_heads", h.query_heads);
  shape.take("kv_heads", h.kv_heads);
  shape.take("qk_dim", h.qk_dim);
  shape.take("value_dim", h.value_dim);
  shape.take("window", h.window);
  shape.take("cache_elements", h.cache_elements);
  shape.take("cache", h.cache);
  shape.take("chunked", h.chunked);
  shape.take("bidirectional", h.bidirectional);
}

void take(Shape& shape, RecurrentHeads& h) {
  shape.take("kind", h.kind);
  shape.take("heads", h.heads);
  shape.take("key_heads", h.key_heads);
  shape.take("key_dim", h.key_dim);
  shape.take("value_dim", h.value_dim);
  shape.take("state", h.state);
}

void take(Shape& shape, StateScan& o) {
  take(shape, o.heads);
  shape.take("sequences", o.sequences);
  shape.take("tokens", o.tokens);
  shape.take("chunk", o.chunk);
}

void take(Shape& shape, StateUpdate& o) {
  take(shape, o.heads);
  shape.take("sequences", o.sequences);
  shape.take("tokens", o.tokens);
}

void take(Shape& shape, IndexScores& o) {
  shape.take("heads", o.heads);
  shape.take("dim", o.dim);
  shape.take("top_k", o.top_k);
  shape.take("sequences", o.sequences);
  shape.take("queries", o.queries);
  shape.take("cached", o.cached);
  shape.take("keys", o.keys);
}

void take(Shape& shape, PrefillAttention& o) {
  take(shape, o.heads);
  shape.take("sequences", o.sequences);
  shape.take("new_tokens", o.new_tokens);
  shape.take("cached_tokens", o.cached_tokens);
}

void take(Shape& shape, DecodeAttention& o) {
  take(shape, o.heads);
  shape.take("sequences", o.sequences);
  shape.take("query_tokens", o.query_tokens);
  shape.take("context", o.context);
}

void take(Shape& shape, Elementwise& o) {
  shape.take("read_bytes", o.read_bytes);
  shape.take("written_bytes", o.written_bytes);
  shape.take("flop", o.flop);
}

void take(Shape& shape, TableLookup& o) {
  shape.take("rows", o.rows);
  shape.take("distinct", o.distinct);
  shape.take("bags", o.bags);
  shape.take("width", o.width);
  shape.take("format", o.format);
}

void take(Shape& shape, ExpertRouting& o) {
  shape.take("tokens", o.tokens);
  shape.take("pairs", o.pairs);
  shape.take("hidden", o.hidden);
  shape.take("experts", o.experts);
  shape.take("activations", o.activations);
}

void take(Shape& shape, Collective& o) {
  shape.take("kind", o.kind);
  shape.take("bytes", o.bytes);
  shape.take("ranks", o.ranks);
  shape.take("stride", o.stride);
  shape.take("custom", o.custom);
}

template <class T>
Operator read(std::string_view text) {
  Shape shape(text);
  T op;
  take(shape, op);
  CHECK(shape.empty());
  return op;
}

Operator operator_of(std::string_view kind, std::string_view shape) {
  static const std::map<std::string_view, Operator (*)(std::string_view)> readers = {
      {"gemm", read<Gemm>},
      {"grouped_gemm", read<GroupedGemm>},
      {"prefill_attention", read<PrefillAttention>},
      {"decode_attention", read<DecodeAttention>},
      {"index_scores", read<IndexScores>},
      {"state_scan", read<StateScan>},
      {"state_update", read<StateUpdate>},
      {"elementwise", read<Elementwise>},
      {"table_lookup", read<TableLookup>},
      {"expert_routing", read<ExpertRouting>},
      {"collective", read<Collective>}};
  return readers.at(kind)(shape);
}

}  // namespace

TEST_CASE("Times of operators change only on purpose", "[golden]") {
  check_golden("operators.csv",
               {"time_s", "flop", "dram_bytes", "message_bytes", "bound", "algorithm"},
               [](const Row& row) -> std::vector<std::string> {
                 const sim::Platform& platform = laws::platform(row["system"]);
                 const Operator op = operator_of(row["operator"], row["shape"]);
                 INFO(row["system"] << " " << row["operator"] << " " << row["shape"]);
                 REQUIRE(laws::runs_on(op, platform));
                 const models::Cost cost = models::cost_of(op, platform.machine);
                 return {number(cost.time.si()),
                         number(cost.flop.si()),
                         number(cost.dram_bytes.si()),
                         number(cost.message_bytes.si()),
                         std::string(models::name(cost.bound)),
                         std::string(models::name(cost.algorithm))};
               });
}

}  // namespace roofcast::golden::golden_operator_golden
