// SPDX-License-Identifier: Apache-2.0
#include "cli/kernels/kernel_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/csv/csv.hpp"
#include "base/nearest.hpp"
#include "base/no_number.hpp"
#include "base/units/unit_text.hpp"
#include "workloads/architecture/expert_load.hpp"

namespace roofcast::cli {
namespace {

using namespace workloads;

constexpr double kMostWhole = 1e15;
constexpr std::int64_t kDeltaChunk = 64;  // tokens of a chunk of the delta rule

Dimension count(std::string name, std::string preset, std::string meaning) {
  return {std::move(name), Unit::whole, std::move(preset), std::move(meaning)};
}
Dimension format_of(std::string name, std::string preset, std::string meaning) {
  return {std::move(name), Unit::format, std::move(preset), std::move(meaning)};
}
Dimension size_of(std::string name, std::string preset, std::string meaning) {
  return {std::move(name), Unit::bytes, std::move(preset), std::move(meaning)};
}
Dimension flag_of(std::string name, std::string meaning) {
  return {std::move(name), Unit::flag, "no", std::move(meaning)};
}

std::vector<Dimension> operand_formats() {
  return {format_of("format", "bf16", "number format of both operands"),
          format_of("activations", "=format", "number format of the activations"),
          format_of("weights", "=format", "number format of the weights"),
          count("group-size", "0", "weights that share a scale; 0: as the format has it"),
          flag_of("sparse", "weights are 2:4 sparse")};
}

std::vector<Dimension> heads_of_attention() {
  return {
      count("heads", "", "query heads"),
      count("kv-heads", "=heads", "key-value heads"),
      count("head-dim", "128", "dimension of a key"),
      count("value-dim", "=head-dim", "dimension of a value"),
      format_of("cache", "bf16", "number format of keys and values"),
      count("window", "0", "the most keys that a query sees; 0: all"),
      flag_of("latent", "keys and values are one vector of head-dim, cached once (absorbed MLA)")};
}

std::vector<Dimension> heads_of_recurrence(std::string key_dim, std::string value_dim) {
  return {count("heads", "", "heads, each with a state"),
          count("key-heads", "1", "heads of keys and queries; groups of Mamba-2"),
          count("key-dim", std::move(key_dim), "rows of a state"),
          count("value-dim", std::move(value_dim), "columns of a state"),
          format_of("state", "fp32", "number format of the states")};
}

std::vector<Dimension> joined(std::vector<Dimension> first, const std::vector<Dimension>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

AttentionHeads attention_heads(const Shape& s) {
  AttentionHeads h;
  h.query_heads = s.whole("heads");
  h.kv_heads = s.whole("kv-heads");
  h.qk_dim = s.whole("head-dim");
  h.value_dim = s.whole("value-dim");
  h.window = s.whole("window");
  h.cache_elements = h.kv_heads * (h.qk_dim + (s.flag("latent") ? 0 : h.value_dim));
  h.cache = s.format("cache");
  return h;
}

RecurrentHeads recurrent_heads(const Shape& s, Recurrence kind) {
  return {kind,
          s.whole("heads"),
          s.whole("key-heads"),
          s.whole("key-dim"),
          s.whole("value-dim"),
          s.format("state")};
}

// A channel of Mamba-1 is a head of one value; all channels share B and C.
RecurrentHeads channels(const Shape& s) {
  return {Recurrence::selective, s.whole("channels"), 1, s.whole("state-size"), 1,
          s.format("state")};
}

std::vector<Dimension> channels_of_mamba1() {
  return {count("channels", "", "channels: the inner width of the layer on this rank"),
          count("state-size", "16", "elements of the state of a channel"),
          format_of("state", "fp32", "number format of the states")};
}

base::WeightStorage storage(const Shape& s) { return {s.whole("group-size"), s.flag("sparse")}; }

Operator gemm(const Shape& s) {
  Gemm op;
  op.m = s.whole("m");
  op.n = s.whole("n");
  op.k = s.whole("k");
  op.batch = s.whole("batch");
  op.activations = s.format("activations");
  op.weights = s.format("weights");
  op.storage = storage(s);
  return op;
}

// Experts that `tokens` tokens of all ranks reach, evenly at random, as in a model with an even load.
Operator moe(const Shape& s) {
  const ExpertLoad load =
      mean_load(s.number("tokens"), s.whole("top-k"), s.whole("experts"), s.whole("ranks"), 0.0);
  GroupedGemm op;
  op.pairs = load.pairs;
  op.distinct = s.flag("even") ? s.number("experts") / s.number("ranks") : load.distinct;
  op.n = s.whole("n");
  op.k = s.whole("k");
  op.activations = s.format("activations");
  op.weights = s.format("weights");
  op.storage = storage(s);
  op.even = s.flag("even");
  return op;
}

Operator routing(const Shape& s) {
  ExpertRouting op;
  op.tokens = s.whole("tokens");
  op.pairs = s.number("tokens") * s.number("top-k") / s.number("ranks");
  op.hidden = s.whole("hidden");
  op.experts = s.whole("experts");
  op.top_k = s.whole("top-k");
  op.activations = s.format("format");
  return op;
}

Operator attention(const Shape& s) {
  PrefillAttention op;
  op.heads = attention_heads(s);
  op.heads.bidirectional = s.flag("bidirectional");
  op.sequences = s.whole("sequences");
  op.new_tokens = s.whole("queries");
  op.cached_tokens = s.whole("cached");
  return op;
}

Operator decode_attention(const Shape& s) {
  DecodeAttention op;
  op.heads = attention_heads(s);
  op.sequences = s.whole("sequences");
  op.query_tokens = s.whole("queries");
  op.context = s.whole("context");
  op.repeated = s.flag("repeated");
  return op;
}

Operator index_scores(const Shape& s) {
  IndexScores op;
  op.heads = s.whole("heads");
  op.dim = s.whole("head-dim");
  op.top_k = s.whole("top-k");
  op.sequences = s.whole("sequences");
  op.queries = s.whole("queries");
  op.cached = s.whole("cached");
  op.keys = s.format("cache");
  return op;
}

template <Recurrence kind>
Operator scan(const Shape& s) {
  return StateScan{recurrent_heads(s, kind), s.whole("sequences"), s.whole("tokens"),
                   s.whole("chunk")};
}

template <Recurrence kind>
Operator update(const Shape& s) {
  return StateUpdate{recurrent_heads(s, kind), s.whole("sequences"), s.whole("tokens")};
}

Operator selective_scan(const Shape& s) {
  return StateScan{channels(s), s.whole("sequences"), s.whole("tokens"), kSelectiveBlock};
}

Operator selective_update(const Shape& s) {
  return StateUpdate{channels(s), s.whole("sequences"), s.whole("tokens")};
}

Operator elementwise(const Shape& s) {
  return Elementwise{.read_bytes = s.number("read"),
                     .written_bytes = s.number("written"),
                     .flop = s.number("flop"),
                     .stride = s.whole("stride"),
                     .element_bytes = s.whole("element")};
}

Operator lookup(const Shape& s) {
  return TableLookup{s.number("rows"), s.number("distinct"), s.number("bags"), s.whole("width"),
                     s.format("format")};
}

template <CollectiveKind kind>
Operator collective(const Shape& s) {
  Collective op;
  op.kind = kind;
  op.bytes = s.number("bytes");
  op.ranks = kind == CollectiveKind::send_receive ? 2 : s.whole("ranks");
  op.stride = s.whole("stride");
  return op;
}

Operator all_reduce(const Shape& s) {
  auto op = std::get<Collective>(collective<CollectiveKind::all_reduce>(s));
  op.custom = s.flag("flags")      ? AllReduceKernels::flags
              : s.flag("barriers") ? AllReduceKernels::barriers
                                   : AllReduceKernels::library;
  return op;
}

Operator all_to_all(const Shape& s) {
  auto op = std::get<Collective>(collective<CollectiveKind::all_to_all>(s));
  op.copies = s.whole("copies");
  op.rows = s.number("rows");
  op.deduplicated = s.flag("deduplicated");
  op.sms = s.whole("sms");
  op.custom = s.flag("put") ? AllReduceKernels::flags : AllReduceKernels::library;
  return op;
}

const Dimension kSequences = count("sequences", "1", "sequences");
const Dimension kRanks = count("ranks", "1", "ranks that share the experts");
const Dimension kStride = count("stride", "1", "distance of two ranks, in GPUs");

const Rule kGroups = {"heads", Rule::Is::multiple_of, "kv-heads"};
const Rule kKeyGroups = {"heads", Rule::Is::multiple_of, "key-heads"};
const std::vector<Rule> kExpertRules = {{"top-k", Rule::Is::at_most, "experts"},
                                        {"experts", Rule::Is::multiple_of, "ranks"}};

std::vector<KernelKind> sent(std::vector<KernelKind> kinds) {
  for (KernelKind& kind : kinds) {
    kind.sends = true;
  }
  return kinds;
}

std::vector<Dimension> message(std::string meaning) {
  return {size_of("bytes", "", std::move(meaning)), count("ranks", "", "ranks"), kStride};
}

}  // namespace

const std::vector<KernelKind>& kernel_kinds() {
  static const std::vector<KernelKind> kinds = {
      {"gemm",
       "A matrix product: out[m,n] = activations[m,k] x weights[k,n]",
       joined({count("m", "", "rows of the activations: tokens"),
               count("n", "", "columns of the weights"), count("k", "", "depth"),
               count("batch", "1", "independent products in one kernel")},
              operand_formats()),
       gemm,
       "--m 8192 --n 8192 --k 8192",
       {},
       true},
      {"moe", "The grouped matrix product of the experts of a rank",
       joined(
           {count("tokens", "", "tokens of all ranks"),
            count("experts", "", "experts of all ranks"), count("top-k", "", "experts of a token"),
            count("n", "", "columns of an expert"), count("k", "", "depth"), kRanks,
            flag_of("even", "every expert gets as many rows, as in benchmarks")},
           operand_formats()),
       moe, "--tokens 4096 --experts 128 --top-k 8 --n 1536 --k 4096", kExpertRules, true},
      {"routing",
       "Top-k, sort, permute and combine around the experts of a rank",
       {count("tokens", "", "tokens"), count("experts", "", "experts of all ranks"),
        count("top-k", "", "experts of a token"), count("hidden", "", "elements of a row"), kRanks,
        format_of("format", "bf16", "number format of the rows")},
       routing,
       "--tokens 4096 --experts 128 --top-k 8 --hidden 4096",
       kExpertRules},
      {"attention",
       "Attention of prompts (FlashAttention)",
       joined({kSequences, count("queries", "", "new tokens of a sequence"),
               count("cached", "0", "tokens before them"),
               flag_of("bidirectional", "a query sees the whole sequence")},
              heads_of_attention()),
       attention,
       "--queries 8192 --heads 32 --kv-heads 8",
       {kGroups}},
      {"decode_attention",
       "Attention of decoding sequences (split-KV)",
       joined({count("sequences", "", "sequences"), count("context", "", "tokens of a sequence"),
               count("queries", "1", "tokens that a sequence verifies"),
               flag_of("repeated", "a benchmark that finds its last run in the L2")},
              heads_of_attention()),
       decode_attention,
       "--sequences 64 --context 8192 --heads 32 --kv-heads 8",
       {kGroups}},
      {"index",
       "The scores of sparse attention, and the choice of the best keys",
       {count("heads", "64", "heads"), count("head-dim", "128", "dimension of a key"),
        count("top-k", "2048", "keys that are chosen"), kSequences,
        count("queries", "1", "new tokens of a sequence"),
        count("cached", "", "tokens before them"),
        format_of("cache", "fp8", "number format of the keys")},
       index_scores,
       "--cached 32768 --sequences 32"},
      {"mamba1", "The selective scan of Mamba-1 over prompts",
       joined({kSequences, count("tokens", "", "tokens of a sequence")}, channels_of_mamba1()),
       selective_scan, "--tokens 8192 --channels 8192"},
      {"mamba1_update", "The state update of Mamba-1 in decode",
       joined({count("sequences", "", "sequences"), count("tokens", "1", "tokens of a sequence")},
              channels_of_mamba1()),
       selective_update, "--sequences 64 --channels 8192"},
      {"mamba2",
       "The state-space scan of prompts",
       joined({kSequences, count("tokens", "", "tokens of a sequence"),
               count("chunk", "256", "tokens that are computed as matrix products")},
              heads_of_recurrence("128", "64")),
       scan<Recurrence::ssm>,
       "--tokens 8192 --heads 128 --key-heads 8",
       {kKeyGroups}},
      {"mamba2_update",
       "The state-space update of decoding sequences",
       joined({count("sequences", "", "sequences"), count("tokens", "1", "tokens of a sequence")},
              heads_of_recurrence("128", "64")),
       update<Recurrence::ssm>,
       "--sequences 64 --heads 128 --key-heads 8",
       {kKeyGroups}},
      {"gdn",
       "The scan of the gated delta rule over prompts",
       joined({kSequences, count("tokens", "", "tokens of a sequence"),
               count("chunk", std::to_string(kDeltaChunk),
                     "tokens that are computed as matrix products")},
              heads_of_recurrence("128", "128")),
       scan<Recurrence::delta>,
       "--tokens 8192 --heads 32 --key-heads 16",
       {kKeyGroups}},
      {"gdn_update",
       "The update of the gated delta rule in decode",
       joined({count("sequences", "", "sequences"), count("tokens", "1", "tokens of a sequence")},
              heads_of_recurrence("128", "128")),
       update<Recurrence::delta>,
       "--sequences 64 --heads 32 --key-heads 16",
       {kKeyGroups}},
      {"elementwise",
       "A kernel that streams: a norm, an activation, a copy",
       {size_of("read", "", "bytes that it reads"),
        size_of("written", "", "bytes that it writes"),
        {"flop", Unit::number, "0", "FLOP of its vector units"},
        count("stride", "1", "elements from what a thread reads to what the next one reads"),
        count("element", "4", "bytes that a thread reads at once")},
       elementwise,
       "--read 1GB --written 1GB"},
      {"lookup",
       "Rows of embedding tables, found by index and added up bag by bag",
       {count("rows", "", "rows that are read"), count("distinct", "=rows", "different ones"),
        count("bags", "=rows", "sums"), count("width", "128", "elements of a row"),
        format_of("format", "fp16", "number format of the rows")},
       lookup,
       "--rows 1000000 --bags 16384",
       {{"distinct", Rule::Is::at_most, "rows"}, {"bags", Rule::Is::at_most, "rows"}}},
  };
  return kinds;
}

const std::vector<KernelKind>& collective_kinds() {
  static const std::vector<KernelKind> kinds = sent({
      {"all_reduce",
       "Every rank gets the sum of all vectors",
       joined(message("the vector that each rank holds"),
              {flag_of("barriers", "with the stack's own kernels of vLLM and SGLang"),
               flag_of("flags", "with the stack's own kernels of TensorRT-LLM")}),
       all_reduce,
       "--ranks 8 --bytes 1GB",
       {{"barriers", Rule::Is::without, "flags"}}},
      {"all_gather", "Every rank gets the parts of all", message("the result"),
       collective<CollectiveKind::all_gather>, "--ranks 8 --bytes 256MB"},
      {"reduce_scatter", "Every rank gets a part of the sum", message("the input"),
       collective<CollectiveKind::reduce_scatter>, "--ranks 8 --bytes 256MB"},
      {"all_to_all", "Every rank sends another part to each",
       joined(message("what one rank hands out, with what it keeps"),
              {count("copies", "1", "copies of each row, to ranks drawn at random"),
               count("rows", "0", "rows of one rank, before they are copied"),
               flag_of("deduplicated", "only kernels that send a row once to each rank"),
               count("sms", "20", "SMs that those kernels use"),
               flag_of("put", "with kernels that store rows where receivers read them")}),
       all_to_all, "--ranks 8 --bytes 64MB"},
      {"broadcast", "Every rank gets the message of one", message("the message"),
       collective<CollectiveKind::broadcast>, "--ranks 8 --bytes 1GB"},
      {"send_receive",
       "One rank sends a message to another",
       {size_of("bytes", "", "the message"), kStride},
       collective<CollectiveKind::send_receive>,
       "--bytes 64MB"},
  });
  return kinds;
}

std::vector<std::string> choices_of(const Dimension& dimension) {
  std::vector<std::string> names;
  if (dimension.unit == Unit::format) {
    for (const auto& [name, format] : base::number_format_choices()) {
      names.push_back(name);
    }
  }
  return names;
}

std::int64_t Shape::whole(const std::string& name) const {
  return static_cast<std::int64_t>(numbers_.at(name));
}

Shape::Shape(const KernelKind& kind, const ShapeTexts& given, base::Problems& problems) {
  const std::vector<Dimension>& dimensions = kind.dimensions;
  const std::size_t before = problems.size();
  const auto text_of = [&](const Dimension& d) {
    const auto at = given.find(d.name);
    return at != given.end() ? at->second : d.preset;
  };
  for (const Dimension& d : dimensions) {
    std::string text = text_of(d);
    // A preset may name a dimension before this one, whose problems were reported there.
    if (text.starts_with('=') && given.find(d.name) == given.end()) {
      const std::string other = text.substr(1);
      if (const auto number = numbers_.find(other); number != numbers_.end()) {
        numbers_[d.name] = number->second;
      } else if (const auto format = formats_.find(other); format != formats_.end()) {
        formats_[d.name] = format->second;
      }
      continue;
    }
    const base::Place place{
        std::make_shared<const base::Source>(base::Source{"--" + d.name, text, {}}), {}};
    const auto problem = [&](const std::string& message) { problems.add(place, "", message); };
    if (text.empty()) {
      if (given.find(d.name) == given.end() && d.preset.empty()) {
        problems.add_text(fmt::format("error: --{} is needed: {}\n", d.name, d.meaning));
      }
      continue;
    }
    if (d.unit == Unit::flag) {
      numbers_[d.name] = text == "yes" ? 1.0 : 0.0;
    } else if (d.unit == Unit::format) {
      const auto choices = base::number_format_choices();
      const auto found = std::find_if(choices.begin(), choices.end(),
                                      [&](const auto& choice) { return choice.first == text; });
      if (found != choices.end()) {
        formats_[d.name] = found->second;
        continue;
      }
      const std::vector<std::string> names = choices_of(d);
      const auto near = base::nearest_name(text, names);
      problem(
          near
              ? fmt::format("there is no number format \"{}\"; did you mean \"{}\"?", text, *near)
              : fmt::format("there is no number format \"{}\" ({})", text, fmt::join(names, ", ")));
    } else if (d.unit == Unit::bytes) {
      const base::ParsedQuantity size =
          base::parse_quantity(text, base::dimension_of<base::Bytes>());
      if (!size.ok() || size.si < 0.0 || size.si > kMostWhole) {
        problem(!size.ok() ? size.error : "must be from 0 to 1 PB");
      }
      numbers_[d.name] = size.si;
    } else {
      const double value = base::parse_number(text).value_or(base::kNoNumber);
      const bool whole = d.unit == Unit::whole;
      const double least = d.preset == "0" ? 0.0 : 1.0;
      if (!std::isfinite(value) || (whole && value != std::floor(value))) {
        problem(fmt::format("expects a {}, not \"{}\"", whole ? "whole number" : "number", text));
      } else if (value < least || value > kMostWhole) {
        problem(fmt::format("must be at least {} and at most 1e15", least));
      }
      numbers_[d.name] = value;
    }
  }
  for (const Rule& rule : kind.rules) {
    if (problems.size() > before) {
      break;
    }
    const double first = numbers_.at(rule.first);
    const double second = numbers_.at(rule.second);
    const bool broken = rule.is == Rule::Is::multiple_of ? std::fmod(first, second) != 0.0
                        : rule.is == Rule::Is::at_most   ? first > second
                                                         : first * second > 0.0;
    if (broken) {
      constexpr const char* kTexts[] = {"error: --{} {} must be a multiple of --{} {}\n",
                                        "error: --{} {} must be at most --{} {}\n",
                                        "error: --{0} cannot be with --{2}\n"};
      problems.add_text(fmt::format(fmt::runtime(kTexts[static_cast<std::size_t>(rule.is)]),
                                    rule.first, first, rule.second, second));
    }
  }
}

}  // namespace roofcast::cli
