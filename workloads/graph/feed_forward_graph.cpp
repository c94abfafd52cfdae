// SPDX-License-Identifier: Apache-2.0
#include "base/integers.hpp"
#include "workloads/graph/graph_builder.hpp"
#include "workloads/graph/unfused_kernels.hpp"

namespace roofcast::workloads {

// up (and gate), activation and down, on the tokens of the rank.
void GraphBuilder::feed_forward(const char* up, const char* act, const char* down,
                                std::int64_t intermediate, bool gated, LinearFormat format,
                                double count, std::int64_t streams) {
  const std::int64_t width = intermediate / tp_;
  streamed(up, tokens_, (gated ? 2 : 1) * width, hidden_, format, count, streams);
  const auto inner = static_cast<double>(tokens_ * width);
  const bool fused =
      base::bits(format.activations) < 16.0 && fuses_quantise(format, QuantisedAfter::other);
  elementwise(act, (gated ? 2.0 : 1.0) * inner * kHiddenBytes,
              fused ? byte_count(inner, format.activations) : inner * kHiddenBytes, count);
  quantise("mlp.quantise_inner", inner, format, count, QuantisedAfter::other);
  streamed(down, tokens_, hidden_, width, format, count, streams);
}

void GraphBuilder::dense(const LayerGroup& layer, double count) {
  norm("mlp.norm", count);
  quantise("mlp.quantise", own_elements(), precision_.mlp, count, QuantisedAfter::norm);
  feed_forward("mlp.up", "mlp.activation", "mlp.down", layer.intermediate, model_.mlp.gated,
               precision_.mlp, count, layer.streams);
  reduce("mlp.all_reduce", precision_.mlp, count);
}

// A trainer's router has the format of what it does not quantise.
LinearFormat GraphBuilder::router_format() const {
  if (!model_.moe.fp32_router || batch_.loss) {
    return precision_.plain;
  }
  const NumberFormat format = fusion_.tf32_products ? NumberFormat::tf32 : NumberFormat::fp32;
  return {format, format, {}};
}

// The kernels must be the same: as wide, in the same formats, without a gate of their own.
bool GraphBuilder::joins_shared_experts() const {
  const MoeShape& moe = model_.moe;
  return fusion_.shared_experts == SharedExperts::among && mapping_.expert_parallel == 1 &&
         moe.shared_intermediate == moe.intermediate && !moe.shared_gate &&
         !model_.projects_latent() && precision_.shared == precision_.experts && !batch_.loss;
}

// all_tokens  tokens of all ranks that share these experts
// exchange    experts are on other ranks than the tokens, which must be sent to them
// by_expert   experts are whole, and tokens go to the ranks of their experts only
// first       tokens are quantised before they are sent, in training
// own         tokens that this rank combines
// projected   tokens that this rank projects to the width of the experts
// tokens      tokens that this rank hands out; the ranks of a group share their tokens
// copies      elements that it hands out: top_k copies of each token
// gathered    elements of all tokens at the width of the experts
void GraphBuilder::experts(double count) {
  const MoeShape& moe = model_.moe;
  const LinearFormat format = precision_.experts;
  const std::int64_t hidden = model_.expert_hidden();
  const std::int64_t ranks = mapping_.expert_ranks();
  const std::int64_t groups = batch_.groups > 0 ? batch_.groups : mapping_.data_parallel;
  // All ranks of a context group have the same decoding rows and share the tokens of prompts.
  const std::int64_t all_tokens =
      ceil_div(groups * (decode_rows_ + cp_ * prefill_rows_), mapping_.expert_replicas);
  const bool exchange = ranks > tp_;
  const bool gathers = fusion_.exchange == Exchange::gather ||
                       (fusion_.exchange == Exchange::gather_few && ranks <= moe.top_k);
  const bool by_expert = mapping_.expert_tensor_parallel() == 1 && !gathers;
  // A server sends tokens as experts read them. Training does too, or sends 16 bits and quantises what has come.
  const bool first = batch_.loss && fusion_.sends_quantised && exchange && by_expert &&
                     base::bits(format.activations) < 16.0;
  const NumberFormat sent =
      batch_.loss && !first ? precision_.plain.activations : format.activations;
  const std::int64_t own = ceil_div(ceil_div(decode_rows_, cp_) + prefill_rows_, tp_);
  const std::int64_t projected = exchange ? own : tokens_;
  norm("moe.norm", count);
  linear("moe.router", tokens_, moe.experts + (moe.shared_gate ? 1 : 0), hidden_, router_format(),
         count);
  const auto share = [&] {
    if (moe.shared_experts == 0) {
      return;
    }
    quantise("moe.quantise_shared", static_cast<double>(tokens_ * hidden_), precision_.shared,
             count, QuantisedAfter::norm);
    feed_forward("moe.shared_up", "moe.shared_activation", "moe.shared_down",
                 moe.shared_experts * moe.shared_intermediate, moe.gated, precision_.shared, count);
  };
  // Experts that the kernels of the routed ones compute too, for every token.
  const std::int64_t joined = joins_shared_experts() ? moe.shared_experts : 0;
  const bool overlaps_shared = fusion_.overlaps_shared_experts && exchange;
  const bool streams = fusion_.shared_experts == SharedExperts::beside ||
                       (fusion_.shared_experts == SharedExperts::among && (!exchange || gathers));
  const bool beside =
      streams && prefill_rows_ == 0 && !batch_.loss && !overlaps_shared && joined == 0;
  if (!overlaps_shared && !beside && joined == 0) {
    share();
  }
  if (model_.projects_latent()) {
    linear("moe.latent_down", projected, hidden, hidden_, precision_.latent, count);
  }
  const double tokens =
      static_cast<double>(decode_rows_ + cp_ * prefill_rows_) / static_cast<double>(tp_ * cp_);
  const double copies = tokens * static_cast<double>(moe.top_k * hidden);
  const auto gathered = static_cast<double>(all_tokens * hidden);
  const auto all_to_all = [&](std::string_view name, double bytes, double backward) {
    Collective sends{
        CollectiveKind::all_to_all,           bytes, ranks, 1, fusion_.custom_all_reduce,
        fusion_.sorts_copies ? 1 : moe.top_k, false, tokens};
    if (first) {
      sends.backward_bytes = backward;
    }
    call(name, sends, count);
    graph_.back().exchange = true;
  };
  const auto between_ranks = [&](std::string_view name, CollectiveKind kind, double bytes) {
    collective(name, kind, bytes, ranks, count);
    graph_.back().exchange = true;
  };
  // Copies are made, or sorted, by a kernel of its own.
  const auto sort = [&](std::string_view name, double read, double written) {
    if (fusion_.sorts_copies && exchange && by_expert) {
      elementwise(name, byte_count(read, sent), byte_count(written, sent), count);
    }
  };
  const double whole = tokens * static_cast<double>(hidden);
  sort("moe.copy", whole, copies);
  if (first) {
    quantise("moe.quantise", whole, format, count, QuantisedAfter::other);
  }
  if (exchange && by_expert) {
    all_to_all("moe.dispatch", byte_count(copies, sent), copies * kHiddenBytes);
  } else if (exchange) {
    between_ranks("moe.gather", CollectiveKind::all_gather, byte_count(gathered, sent));
  }
  const auto share_behind = [&] {
    const std::size_t begin = graph_.size();
    share();
    for (std::size_t i = begin; i < graph_.size(); ++i) {
      graph_[i].overlapped = true;
    }
  };
  if (overlaps_shared) {
    share_behind();
  }
  const ExpertPlacement placement = mapping_.expert_placement();
  const RankLoads loads = rank_loads(static_cast<double>(all_tokens), moe.top_k, moe.experts,
                                     moe.groups, moe.popularity, placement, !batch_.loss);
  const ExpertLoad& load = batch_.mean_rank ? loads.mean : loads.busiest;
  const double pairs = load.pairs + static_cast<double>(joined * all_tokens);
  const double distinct = load.distinct + static_cast<double>(joined);
  const std::int64_t width = moe.intermediate / mapping_.expert_tensor_parallel();
  const std::int64_t up = (moe.gated ? 2 : 1) * width;
  const double rows = pairs * static_cast<double>(hidden);
  sort("moe.sort", rows, rows);
  const bool second =
      fusion_.alternative_experts ||
      (fusion_.alternative_mxfp4_experts && format.weights == base::NumberFormat::mxfp4 &&
       format.activations == base::NumberFormat::fp8);
  const std::int64_t searched =
      fusion_.searches_experts && !second
          ? base::ceil_div(moe.experts + placement.redundant, placement.ranks) + joined
          : 0;
  call("moe.routing",
       ExpertRouting{tokens_, pairs, hidden, moe.experts + joined, moe.top_k + joined, sent, second,
                     searched},
       count);
  if (beside) {
    share_behind();
  }
  if (batch_.loss && !first) {
    quantise("moe.quantise", rows, format, count, QuantisedAfter::other);
  }
  call("moe.up",
       GroupedGemm{pairs, distinct, up, hidden, format.activations, format.weights, false, second,
                   format.storage},
       count);
  if (fusion_.unfused_experts) {
    call("moe.activation", unfused_clamp(pairs * static_cast<double>(up)), count);
  }
  elementwise("moe.activation", pairs * static_cast<double>(up) * kHiddenBytes,
              byte_count(pairs * static_cast<double>(width), format.activations), count);
  call("moe.down",
       GroupedGemm{pairs, distinct, hidden, width, format.activations, format.weights, false,
                   second, format.storage},
       count);
  if (fusion_.unfused_experts) {
    call("moe.bias", unfused_bias(rows), count);
  }
  const auto project_back = [&] {
    if (model_.projects_latent()) {
      linear("moe.latent_up", projected, hidden_, hidden, precision_.latent, count);
    }
  };
  // A rank of a context group combined a part of the decoding rows. It goes on with all of them.
  const auto share_decodes = [&] {
    const double decodes = static_cast<double>(decode_rows_ * hidden_) / static_cast<double>(tp_);
    collective("moe.gather_decodes", CollectiveKind::all_gather, decodes * kHiddenBytes,
               decode_rows_ > 0 ? cp_ : 1, count, tp_);
  };
  // What is added by an all-reduce of its own: workloads/stacks/trtllm.yaml.
  const bool all_reduce_adds = second && format.weights == NumberFormat::nvfp4;
  if (moe.shared_experts > joined && !batch_.loss && !all_reduce_adds) {
    elementwise("moe.add_shared", 2.0 * rows_bytes(), rows_bytes(), count);
  }
  if (exchange && by_expert) {
    sort("moe.sort", rows, rows);
    all_to_all("moe.combine", copies * kHiddenBytes, byte_count(copies, sent));
    sort("moe.sum", copies, whole);
    project_back();
    share_decodes();
    // Each rank combined its share of the tokens. The parts of the shared expert must be summed too.
    if (moe.shared_experts > 0) {
      collective("moe.all_reduce", CollectiveKind::all_reduce, rows_bytes(), tp_, count);
    } else {
      collective("moe.all_gather", CollectiveKind::all_gather, rows_bytes(), tp_, count);
    }
  } else if (exchange) {
    between_ranks("moe.scatter", CollectiveKind::reduce_scatter, gathered * kHiddenBytes);
    project_back();
    share_decodes();
    collective("moe.all_gather", CollectiveKind::all_gather, rows_bytes(), tp_, count);
  } else {
    project_back();
    reduce("moe.all_reduce", precision_.plain, count, false);
  }
}

}  // namespace roofcast::workloads
