// SPDX-License-Identifier: Apache-2.0
#include "models/training_activations.hpp"

#include "base/integers.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {
namespace {

using base::as_double;
using base::byte_count;
using base::NumberFormat;
using workloads::Architecture;
using workloads::kHiddenBytes;
using workloads::LayerGroup;
using workloads::Module;

constexpr double kScoreBytes = 4.0;  // sums of softmax, scores of a router

// The parts of a layer; functions give bytes for one token.
class Layer {
 public:
  Layer(const Architecture& model, const LayerGroup& layer, const workloads::Mapping& mapping,
        const workloads::Precision& precision, const workloads::Recompute& recompute,
        NumberFormat widened, bool dropout, const workloads::Adapters& lora)
      : model_(model),
        layer_(layer),
        mapping_(mapping),
        precision_(precision),
        recompute_(recompute),
        widened_(widened),
        tp_(as_double(mapping.tensor_parallel)),
        rows_(as_double(model.hidden) / (mapping.sequence_parallel ? tp_ : 1.0)),
        mask_(dropout ? rows_ : 0.0),
        lora_(lora) {}

  double kept() const {
    double bytes = 0.0;
    if (layer_.mixer != workloads::Mixer::none) {
      const bool attends = workloads::attends(layer_.mixer);
      bytes += kHiddenBytes * rows_ + mask_ +
               normalised(attends ? precision_.attention : precision_.recurrent,
                          workloads::AdaptedLayer::qkv);
      bytes += !attends                                                 ? recurrence()
               : model_.attention.kind == workloads::AttentionKind::mla ? latent_attention()
                                                                        : attention();
    }
    if (layer_.ffn == workloads::Ffn::mlp) {
      bytes += kHiddenBytes * rows_ + mask_ + mlp();
    } else if (layer_.ffn == workloads::Ffn::moe) {
      bytes += kHiddenBytes * rows_ + mask_ + experts();
    }
    return bytes;
  }

 private:
  bool again(Module module) const { return recompute_.has(module); }
  static bool narrow(workloads::LinearFormat format) {
    return base::bits(format.activations) < 16.0;
  }
  static double stored(double elements, workloads::LinearFormat format) {
    return narrow(format) ? byte_count(elements, format.activations) : kHiddenBytes * elements;
  }
  // The input of a linear layer, of `elements`: an adapter reads it in 16 bits.
  double input(double elements, workloads::LinearFormat format,
               workloads::AdaptedLayer layer) const {
    return !lora_.trains()    ? stored(elements, format)
           : lora_.has(layer) ? kHiddenBytes * (elements + as_double(lora_.rank))
                              : 0.0;
  }
  double normalised(workloads::LinearFormat format, workloads::AdaptedLayer layer) const {
    return again(Module::norms) ? 0.0 : input(rows_, format, layer);
  }

  // The core's output of `elements`, as the core and as the projection behind it keep it.
  double attended(double elements) const {
    const bool both = !lora_.trains() && narrow(precision_.attention_output);
    const bool exchanged = mapping_.context_parallel > 1 &&
                           mapping_.context_method == workloads::ContextMethod::ulysses;
    double bytes = both ? stored(elements, precision_.attention_output) : kHiddenBytes * elements;
    if (!again(Module::attention)) {
      bytes += kHiddenBytes * elements * ((both ? 1.0 : 0.0) + (exchanged ? 1.0 : 0.0));
      bytes += kScoreBytes * as_double(model_.attention.query_heads) / tp_;
    }
    return bytes;
  }

  double attention() const {
    const workloads::AttentionShape& a = model_.attention;
    const double queries = as_double(a.query_heads * a.head_dim) / tp_;
    const double keys = as_double(layer_.kv_heads * a.head_dim) / tp_;
    double elements = queries + 2.0 * keys;
    if (a.qk_norm) {
      elements += queries + keys;
    }
    if (a.output_gate) {
      elements += 2.0 * queries;  // the gate, and what it scales
    }
    return kHiddenBytes * elements + attended(queries);
  }

  double latent_attention() const {
    const workloads::AttentionShape& a = model_.attention;
    const double cut = mapping_.sequence_parallel ? tp_ : 1.0;
    const double latents = as_double(2 * a.q_rank + 3 * a.kv_rank + a.rope_dim) / cut;
    const double full =
        as_double(a.query_heads * (2 * (a.nope_dim + a.rope_dim) + a.value_dim)) / tp_;
    return kHiddenBytes * (latents + (again(Module::mla_up) ? 0.0 : full)) +
           attended(as_double(a.query_heads * a.value_dim) / tp_);
  }

  double recurrence() const {
    const workloads::RecurrentShape& r = model_.recurrent(layer_.mixer);
    const std::int64_t convolved =
        r.kind == workloads::Recurrence::delta ? r.conv_channels() : std::int64_t{0};
    return (kHiddenBytes * as_double(r.projected() + convolved + r.inner()) +
            stored(as_double(r.inner()), precision_.recurrent)) /
               tp_ +
           kHiddenBytes * as_double(r.selected());
  }

  double mlp() const {
    if (again(Module::mlp)) {
      return again(Module::norms) ? 0.0 : kHiddenBytes * rows_;
    }
    const double width = as_double(layer_.intermediate) / tp_;
    return normalised(precision_.mlp, workloads::AdaptedLayer::up) +
           kHiddenBytes * (model_.mlp.gated ? 2.0 : 1.0) * width +
           input(width, precision_.mlp, workloads::AdaptedLayer::down);
  }

  double experts() const {
    const workloads::MoeShape& moe = model_.moe;
    double bytes = again(Module::norms) || lora_.trains() ? 0.0 : kHiddenBytes * rows_;
    if (again(Module::experts)) {
      return bytes;
    }
    const double gates = moe.gated ? 2.0 : 1.0;
    const double shared = as_double(moe.shared_experts * moe.shared_intermediate) / tp_;
    if (shared > 0.0 && !again(Module::norms) && !lora_.trains() && narrow(precision_.shared)) {
      bytes += stored(rows_, precision_.shared);
    }
    if (shared > 0.0 && !again(Module::shared_experts)) {
      bytes += kHiddenBytes * gates * shared +
               (lora_.trains() ? 0.0 : stored(shared, precision_.shared));
    }
    if (model_.projects_latent()) {
      bytes += kHiddenBytes * as_double(model_.expert_hidden()) / tp_;  // what comes back
    }
    const double width = as_double(moe.intermediate);
    double routed = byte_count(gates * width, widened_);
    if (!lora_.trains()) {
      routed += stored(as_double(model_.expert_hidden()), precision_.experts);
    }
    if (!again(Module::expert_activation) && !lora_.trains()) {
      routed += stored(width, precision_.experts);
    }
    return bytes + (as_double(moe.top_k) * routed + kScoreBytes * as_double(moe.experts)) / tp_;
  }

  const Architecture& model_;
  const LayerGroup& layer_;
  const workloads::Mapping& mapping_;
  const workloads::Precision& precision_;
  const workloads::Recompute& recompute_;
  const NumberFormat widened_;
  const double tp_;
  const double rows_;  // elements of a token in a tensor that tensor parallelism does not cut
  const double mask_;  // bytes
  const workloads::Adapters& lora_;
};

}  // namespace

double kept_bytes(const Architecture& model, const LayerGroup& layer,
                  const workloads::Mapping& mapping, const workloads::Precision& precision,
                  const workloads::Recompute& recompute, NumberFormat expert_activations,
                  bool dropout, const workloads::Adapters& lora) {
  if (recompute.full) {
    const double tp = mapping.sequence_parallel ? as_double(mapping.tensor_parallel) : 1.0;
    return kHiddenBytes * as_double(model.hidden) / tp;
  }
  return Layer(model, layer, mapping, precision, recompute, expert_activations, dropout, lora)
      .kept();
}

double backward_bytes(const Architecture& model, const LayerGroup& layer,
                      const workloads::Mapping& mapping) {
  const double tp = as_double(mapping.tensor_parallel);
  double widened = 0.0;
  if (layer.ffn == workloads::Ffn::mlp) {
    widened = (model.mlp.gated ? 2.0 : 1.0) * as_double(layer.intermediate);
  } else if (layer.ffn == workloads::Ffn::moe) {
    widened = as_double(model.moe.top_k * model.moe.intermediate) * (model.moe.gated ? 2.0 : 1.0);
  }
  return kHiddenBytes * (widened / tp + as_double(model.hidden));
}

}  // namespace roofcast::models
