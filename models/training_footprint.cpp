// SPDX-License-Identifier: Apache-2.0
#include "models/training_footprint.hpp"

#include <algorithm>
#include <vector>

#include "base/integers.hpp"
#include "models/training_activations.hpp"
#include "workloads/architecture/parameters.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {
namespace {

using base::as_double;
using base::Bytes;
using workloads::Architecture;
using workloads::kHiddenBytes;
using workloads::LayerGroup;
using workloads::LayerParameters;
using workloads::LinearFormat;
using workloads::Mapping;
using workloads::PipelineChunk;
using workloads::PipelineLayout;
using workloads::Precision;
using workloads::Training;

bool shares_parameters(const Training& training) {
  return training.sharding == workloads::Sharding::parameters;
}

// Calls `of` with each group of layers in the chunk, and how many of them. Groups that alternate through the depth are in each
// chunk alike.
template <class Of>
void each_group(const Architecture& model, const PipelineChunk& chunk, Of of) {
  std::int64_t start = 0;
  for (std::size_t group = 0; group < model.layers.size(); ++group) {
    const std::int64_t count = model.layers[group].count;
    const std::int64_t own =
        std::min(start + count, chunk.first + chunk.layers) - std::max(start, chunk.first);
    const double layers = model.interleaved
                              ? as_double(count * chunk.layers) / as_double(model.layer_count())
                              : as_double(std::max(own, std::int64_t{0}));
    start += count;
    if (layers > 0.0) {
      of(group, layers);
    }
  }
}

// Elements of one rank, and the bytes in which they are kept.
struct Held {
  double dense = 0, experts = 0;
  double tables = 0;  // of dense: embedding and head
  double dense_bytes = 0, expert_bytes = 0;
  double dense_sent = 0, expert_sent = 0;  // bytes in which ranks send them to each other
  double elements() const { return dense + experts; }
  double bytes() const { return dense_bytes + expert_bytes; }
  void add(const Held& other, double times) {
    dense += times * other.dense;
    experts += times * other.experts;
    tables += times * other.tables;
    dense_bytes += times * other.dense_bytes;
    expert_bytes += times * other.expert_bytes;
    dense_sent += times * other.dense_sent;
    expert_sent += times * other.expert_sent;
  }
};

// Bytes of one weight: 16 bits, and what a narrow format adds to them or has in their place.
//
//   copies   by rows and by columns; a shard of a parameter that is gathered is kept once
double weight_bytes(const LinearFormat& format, const Training& training, bool shard) {
  if (base::bits(format.weights) >= 16.0) {
    return kHiddenBytes;
  }
  const double one = base::bits(format.weights) / 8.0;
  const double copies = shard ? (training.quantised_parameters ? 1.0 : 0.0) : 2.0;
  return (training.quantised_parameters ? 0.0 : kHiddenBytes) + copies * one;
}

Held layer_weights(const Architecture& model, const LayerGroup& group, const Mapping& mapping,
                   const Precision& precision, const Training& training, bool shard) {
  const LayerParameters p = workloads::layer_parameters(model, group);
  const double tp = as_double(mapping.tensor_parallel);
  Held held;
  const auto add = [&](double elements, const LinearFormat& format) {
    held.dense += elements;
    held.dense_bytes += elements * weight_bytes(format, training, shard);
    held.dense_sent += elements * weight_bytes(format, training, true);
  };
  const double repeated = workloads::repeated_parameters(model, group, mapping);
  add((p.attention - p.attention_output) / tp, precision.attention);
  add(p.attention_output / tp, precision.attention_output);
  add(p.recurrent / tp, precision.recurrent);
  add(repeated, workloads::attends(group.mixer) ? precision.attention : precision.recurrent);
  add(p.mlp / tp, precision.mlp);
  add(p.shared / tp, precision.shared);
  add(p.latent, precision.latent);
  add(p.index, precision.attention);
  add(p.modulation / tp + p.router + p.norms, precision.plain);
  held.experts = p.experts / as_double(mapping.expert_ranks());
  held.expert_bytes = held.experts * weight_bytes(precision.experts, training, shard);
  held.expert_sent = held.experts * weight_bytes(precision.experts, training, true);
  return held;
}

// Embedding or head.
Held vocabulary(const Architecture& model, const Mapping& mapping, const Precision& precision,
                const Training& training, bool shard) {
  Held held;
  held.dense = as_double(model.vocab * model.hidden) / as_double(mapping.tensor_parallel);
  held.tables = held.dense;
  held.dense_bytes = held.dense * weight_bytes(precision.head, training, shard);
  held.dense_sent = held.dense * weight_bytes(precision.head, training, true);
  return held;
}

std::int64_t stage_layers(const PipelineLayout& layout, const Training& training,
                          std::int64_t stages, std::int64_t stage) {
  std::int64_t layers = 0;
  for (std::size_t chunk = 0; chunk < layout.size(); ++chunk) {
    const bool own = workloads::rank_of_chunk(training.schedule, static_cast<std::int64_t>(chunk),
                                              stages) == stage;
    layers += own ? layout[chunk].layers : 0;
  }
  return layers;
}

// What is the same on all stages.
struct LayerBytes {
  Held weights;           // as they are kept
  Held gathered;          // as they are computed with
  double kept = 0;        // B a token, with what is computed again taken away
  double kept_whole = 0;  // B a token
  double backward = 0;    // B a token
  double adapters = 0;    // elements
  double linear = 0;      // elements of the shapes of its weights, with one expert
};

class StageFootprints {
 public:
  StageFootprints(const Architecture& model, const Mapping& mapping, const Precision& precision,
                  const Training& training, double tokens, std::int64_t micro_batches)
      : model_(model),
        mapping_(mapping),
        training_(training),
        rows_(tokens / as_double(mapping.context_parallel)),
        micro_batches_(micro_batches),
        layout_(workloads::layout_of(training, model.layer_count(), mapping.pipeline_parallel)),
        vocabulary_(vocabulary(model, mapping, precision, training, shares_parameters(training))),
        gathered_head_(vocabulary(model, mapping, precision, training, false)) {
    for (const LayerGroup& layer : model.layers) {
      groups_.push_back(group_of(layer, precision));
    }
    const std::int64_t modules = model.mtp_modules();
    for (std::int64_t token = 0; token < training.predicted_tokens && modules > 0; ++token) {
      const LayerBytes group = group_of(model.mtp_module(token), precision);
      mtp_kept_ += group.kept + 2.0 * kHiddenBytes * as_double(model.hidden);
      if (token < modules) {
        Held join;
        join.dense = 2.0 * as_double(model.hidden * model.hidden);
        join.dense_bytes = join.dense_sent = join.dense * kHiddenBytes;
        mtp_.add(group.weights, 1.0);
        mtp_.add(join, 1.0);
      }
    }
  }

  TrainingFootprint fullest() const {
    TrainingFootprint most;
    for (std::int64_t stage = 0; stage < mapping_.pipeline_parallel; ++stage) {
      const TrainingFootprint f = of(stage);
      if (f.total() > most.total()) {
        most = f;
      }
    }
    return most;
  }

  // That are trained.
  Held most_parameters() const {
    Held most;
    for (std::int64_t stage = 0; stage < mapping_.pipeline_parallel; ++stage) {
      const Held held = trained(stage);
      if (held.elements() > most.elements()) {
        most = held;
      }
    }
    return most;
  }

  // B a token, of the offloaded layers of the stage that has most.
  double offloaded() const {
    double most = 0.0;
    for (std::int64_t stage = 0; stage < mapping_.pipeline_parallel; ++stage) {
      double bytes = 0.0;
      for (std::int64_t k = 0; k < training_.virtual_stages; ++k) {
        bytes += kept_of(chunk(stage, k), stage, 1.0);
      }
      most = std::max(most, offloaded_share(stage) * bytes);
    }
    return most;
  }

 private:
  LayerBytes group_of(const LayerGroup& layer, const Precision& precision) const {
    LayerBytes group;
    group.weights =
        layer_weights(model_, layer, mapping_, precision, training_, shares_parameters(training_));
    group.gathered = layer_weights(model_, layer, mapping_, precision, training_, false);
    const base::NumberFormat experts_keep =
        training_.fp8_expert_activations ? base::NumberFormat::fp8 : base::NumberFormat::bf16;
    group.kept = kept_bytes(model_, layer, mapping_, precision, training_.recompute, experts_keep,
                            training_.dropout, training_.lora);
    group.kept_whole = kept_bytes(model_, layer, mapping_, precision, {}, experts_keep,
                                  training_.dropout, training_.lora);
    group.adapters = workloads::adapter_parameters(training_.lora, model_, layer, mapping_);
    group.backward = backward_bytes(model_, layer, mapping_);
    const LayerParameters p = workloads::layer_parameters(model_, layer);
    const double experts =
        layer.ffn == workloads::Ffn::moe ? p.experts / as_double(model_.moe.experts) : 0.0;
    group.linear =
        (p.attention + p.recurrent + p.mlp + p.shared) / as_double(mapping_.tensor_parallel) +
        workloads::repeated_parameters(model_, layer, mapping_) + p.latent + experts;
    return group;
  }
  const PipelineChunk& chunk(std::int64_t stage, std::int64_t k) const {
    return layout_[static_cast<std::size_t>(
        workloads::chunk_of_rank(training_.schedule, stage, k, mapping_.pipeline_parallel))];
  }
  double share_of_layers(std::int64_t layers, std::int64_t stage) const {
    const std::int64_t all = stage_layers(layout_, training_, mapping_.pipeline_parallel, stage);
    return all == 0 ? 0.0 : std::min(1.0, as_double(layers) / as_double(all));
  }
  double offloaded_share(std::int64_t stage) const {
    return share_of_layers(training_.offload.layers, stage);
  }

  Held weights(std::int64_t stage) const {
    Held held;
    for (std::int64_t k = 0; k < training_.virtual_stages; ++k) {
      const PipelineChunk& own = chunk(stage, k);
      each_group(model_, own, [&](std::size_t group, double layers) {
        held.add(groups_[group].weights, layers);
      });
      held.add(vocabulary_, own.embedding ? 1.0 : 0.0);
      const bool second = own.loss && !(model_.tied_embeddings && mapping_.pipeline_parallel == 1);
      held.add(vocabulary_, second ? 1.0 : 0.0);
      held.add(mtp_, own.loss ? 1.0 : 0.0);
    }
    return held;
  }

  Held adapters(std::int64_t stage) const {
    Held held;
    for (std::int64_t k = 0; k < training_.virtual_stages; ++k) {
      each_group(model_, chunk(stage, k), [&](std::size_t group, double layers) {
        held.dense += layers * groups_[group].adapters;
      });
    }
    held.dense_bytes = held.dense_sent = kHiddenBytes * held.dense;
    return held;
  }

  // With DualPipe a rank computes a stage and its mirror image, as another rank does, which shares their states.
  std::vector<std::int64_t> stages_of(std::int64_t rank) const {
    const std::int64_t mirrored = mapping_.pipeline_parallel - 1 - rank;
    return workloads::ranks_of_stage(training_.schedule) == 1 ? std::vector{rank}
                                                              : std::vector{rank, mirrored};
  }
  Held trained(std::int64_t rank) const {
    Held held;
    for (const std::int64_t from : stages_of(rank)) {
      held.add(training_.lora.trains() ? adapters(from) : weights(from), 1.0);
    }
    return held;
  }

  // B a token that a chunk keeps in this share of its layers.
  double kept_of(const PipelineChunk& own, std::int64_t stage, double share) const {
    const std::int64_t some = training_.recompute.layers;
    const double again = some == 0 ? 1.0 : share_of_layers(some, stage);
    double bytes = 0.0;
    each_group(model_, own, [&](std::size_t group, double layers) {
      bytes += layers * (again * groups_[group].kept + (1.0 - again) * groups_[group].kept_whole);
    });
    return share * bytes;
  }
  double final_norm() const {
    const double cut = mapping_.sequence_parallel ? as_double(mapping_.tensor_parallel) : 1.0;
    return 2.0 * kHiddenBytes * as_double(model_.hidden) / cut;
  }

  TrainingFootprint of(std::int64_t stage) const {
    const bool whole = training_.sharding == workloads::Sharding::none;
    const std::int64_t copies = workloads::ranks_of_stage(training_.schedule);
    const double replicas =
        whole ? 1.0 : as_double(copies * mapping_.data_parallel * mapping_.context_parallel);
    const double expert_replicas = whole ? 1.0 : as_double(copies * mapping_.expert_replicas);
    const bool both_ends = training_.schedule == workloads::Schedule::dualpipe;
    const std::vector<std::int64_t> stages = stages_of(stage);
    const bool some = training_.lora.trains();
    const Held held = trained(stage);
    Held frozen;
    for (const std::int64_t from : stages) {
      frozen.add(some ? weights(from) : Held{}, 1.0);
    }
    const double shared = held.dense / replicas + held.experts / expert_replicas;
    const bool all = shares_parameters(training_);
    TrainingFootprint f;
    f.stage = stage;
    f.parameters =
        Bytes::from_si(all ? held.dense_bytes / replicas + held.expert_bytes / expert_replicas
                           : held.bytes() + frozen.bytes());
    const bool scattered = all || training_.sharding == workloads::Sharding::gradients;
    f.gradients = Bytes::from_si(training_.gradient_bytes * (scattered ? shared : held.elements()));
    const double moments = workloads::moments(training_, shared, held.tables / replicas);
    f.optimizer = Bytes::from_si(kMaster * shared + training_.moment_bytes * moments);
    double activations = 0.0;
    double widest = 0.0;      // layer of the stage
    double on_its_way = 0.0;  // offloaded layer
    double backward = 0.0;
    double linear = 0.0;
    double gathered = 0.0;
    double gradient = 0.0;
    bool loss = false;
    const auto add = [&](std::int64_t from, std::int64_t k) {
      const PipelineChunk& own = chunk(from, k);
      const std::int64_t p = mapping_.pipeline_parallel;
      const double in_flight = both_ends
                                   ? std::min(as_double(p + 1), as_double(micro_batches_)) / 2.0
                               : training_.schedule == workloads::Schedule::zero_bubble_v
                                   ? as_double(workloads::held_by_v(p, from, k, micro_batches_))
                                   : as_double(workloads::held_micro_batches(
                                         p, training_.virtual_stages, from, k, micro_batches_));
      activations += in_flight * (kept_of(own, from, 1.0 - offloaded_share(from)) +
                                  (own.loss ? final_norm() + mtp_kept_ : 0.0));
      each_group(model_, own, [&](std::size_t index, double) {
        const LayerBytes& group = groups_[index];
        widest = std::max(widest, group.kept_whole);
        on_its_way =
            std::max(on_its_way, training_.recompute.layers == 0 ? group.kept : group.kept_whole);
        backward = std::max(backward, group.backward);
        linear = std::max(linear, group.linear);
        gathered = std::max(gathered, group.gathered.bytes());
        gradient = std::max(gradient, group.gathered.elements());
      });
      loss = loss || own.loss;
    };
    for (const std::int64_t from : stages) {
      for (std::int64_t k = 0; k < training_.virtual_stages; ++k) {
        add(from, k);
      }
    }
    if (training_.offload.layers > 0) {
      activations += on_its_way;
    }
    const double layer = backward + (training_.recompute.full ? widest : 0.0);
    const double logits = as_double(model_.vocab) / as_double(mapping_.tensor_parallel);
    const double at_loss = !loss ? 0.0
                                 : logits * (training_.fused_loss ? kHiddenBytes : kUnfusedLogit) +
                                       2.0 * kHiddenBytes * as_double(model_.hidden);
    double workspace = rows_ * std::max(layer, at_loss);
    if (all) {
      gathered = std::max(gathered, gathered_head_.bytes());
      gradient = std::max(gradient, gathered_head_.elements());
      workspace += 2.0 * gathered + training_.gradient_bytes * gradient;
    } else {
      workspace += (some ? 0.0 : kHiddenBytes * (linear + (loss ? vocabulary_.elements() : 0.0))) +
                   (scattered ? training_.gradient_bytes * gradient : 0.0);
    }
    f.activations = Bytes::from_si(rows_ * activations);
    f.workspace = Bytes::from_si(workspace);
    return f;
  }

  static constexpr double kMaster = 4.0;
  static constexpr double kUnfusedLogit = kHiddenBytes + 4.0;

  const Architecture& model_;
  const Mapping& mapping_;
  const Training& training_;
  const double rows_;  // tokens of one micro-batch on one rank of context parallelism
  const std::int64_t micro_batches_;
  const PipelineLayout layout_;
  const Held vocabulary_;
  const Held gathered_head_;
  std::vector<LayerBytes> groups_;
  Held mtp_;             // modules for the tokens after the next, on the stage of the loss
  double mtp_kept_ = 0;  // B a token, of all passes through them
};

}  // namespace

RankParameters rank_parameters(const Architecture& model, const Mapping& mapping,
                               const Precision& precision, const Training& training) {
  const Held most = StageFootprints(model, mapping, precision, training, 0.0, 1).most_parameters();
  return {most.dense, most.experts, most.tables, Bytes::from_si(most.dense_sent),
          Bytes::from_si(most.expert_sent)};
}

TrainingFootprint training_footprint(const Architecture& model, const Mapping& mapping,
                                     const Precision& precision, const Training& training,
                                     double tokens, std::int64_t micro_batches) {
  return StageFootprints(model, mapping, precision, training, tokens, micro_batches).fullest();
}

base::Bytes offloaded_bytes(const Architecture& model, const Mapping& mapping,
                            const Precision& precision, const Training& training, double tokens) {
  const double rows = tokens / as_double(mapping.context_parallel);
  return Bytes::from_si(
      rows * StageFootprints(model, mapping, precision, training, tokens, 1).offloaded());
}

}  // namespace roofcast::models
