// SPDX-License-Identifier: Apache-2.0
#include "sim/training/exchange.hpp"

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"
#include "models/operators/operator_cost.hpp"

namespace roofcast::sim {
namespace {

using base::as_double;
using base::Seconds;
using workloads::CollectiveKind;
using workloads::RankOrder;

Seconds among(CollectiveKind kind, double bytes, std::int64_t ranks, std::int64_t stride,
              const models::Machine& machine) {
  return ranks > 1
             ? models::cost_of(workloads::Collective{kind, bytes, ranks, stride}, machine).time
             : Seconds{};
}

// Ranks from one replica of a part of the model to the next, such that a domain has as many replicas as it has in that order.
//
//   own        ranks of the parts beside it: tensor parallelism, or the ranks that share the experts
//   inner      of the replicas those that follow each other inside a model's replica, whatever the order
//   replicas   of a stage
//   copies     ranks of a pipeline that have the stage; in another domain unless the pipeline is in one
std::int64_t stride_of_replicas(const ScenarioView& s, std::int64_t own, std::int64_t inner,
                                std::int64_t replicas) {
  const std::int64_t domain = s.platform->machine.scale_up_domain;
  const std::int64_t copies = workloads::ranks_of_stage(s.training->schedule);
  const std::int64_t all = own * inner * s.mapping->pipeline_parallel;
  if (s.training->rank_order == RankOrder::data_then_pipeline || all == own * inner) {
    return copies == 1 || s.mapping->ranks() <= domain ? own : std::max(own, domain / replicas);
  }
  const std::int64_t together = all <= domain
                                    ? copies * inner * (domain / all)
                                    : std::min(inner, std::max<std::int64_t>(1, domain / own));
  return std::max<std::int64_t>(1, domain / together);
}

// Ranks of one replica of a part of the model, and how often it is there.
struct Replicas {
  std::int64_t ranks, stride;
};
Replicas dense_replicas(const ScenarioView& s, const workloads::Mapping& m) {
  const std::int64_t all = m.data_parallel * m.context_parallel;
  return {workloads::ranks_of_stage(s.training->schedule) * all,
          stride_of_replicas(s, m.tensor_parallel, m.context_parallel, all)};
}
Replicas expert_replicas(const ScenarioView& s, const workloads::Mapping& m) {
  return {workloads::ranks_of_stage(s.training->schedule) * m.expert_replicas,
          stride_of_replicas(s, m.expert_parallel, 1, m.expert_replicas)};
}

// Whether the next stage is in another domain.
bool stages_in_domains_of_their_own(const ScenarioView& s) {
  const workloads::Mapping& m = *s.mapping;
  const std::int64_t within = s.training->rank_order == RankOrder::pipeline_then_data
                                  ? m.ranks() / m.data_parallel
                                  : m.ranks();
  return within > s.platform->machine.scale_up_domain;
}

}  // namespace

Seconds send_time(const ScenarioView& s, const MicroBatches& batches) {
  const workloads::Mapping& m = *s.mapping;
  if (m.pipeline_parallel == 1) {
    return {};
  }
  const models::Machine& machine = s.platform->machine;
  const std::int64_t domain = machine.scale_up_domain;
  const double rows = as_double(batches.sequences * batches.tokens) /
                      as_double(m.context_parallel * m.tensor_parallel);
  const double bytes = rows * as_double(s.model->hidden) * workloads::kHiddenBytes;
  return among(CollectiveKind::send_receive, bytes, 2,
               stages_in_domains_of_their_own(s) ? domain : 1, machine);
}

Leaves leaves_domain(const ScenarioView& s, const workloads::Mapping& mapping) {
  const std::int64_t domain = s.platform->machine.scale_up_domain;
  const Replicas replicas = dense_replicas(s, mapping);
  return {replicas.ranks * replicas.stride > domain,
          mapping.pipeline_parallel > 1 && stages_in_domains_of_their_own(s)};
}

Exchange exchange_of(const ScenarioView& s, const workloads::Mapping& mapping,
                     const models::RankParameters& rank, double layers) {
  const workloads::Training& t = *s.training;
  const models::Machine& machine = s.platform->machine;
  const bool whole = t.sharding == workloads::Sharding::none;
  const CollectiveKind kind = whole ? CollectiveKind::all_reduce : CollectiveKind::reduce_scatter;
  const double pieces = t.sharding >= workloads::Sharding::gradients ? layers + 1.0 : 1.0;
  Exchange exchange;
  const auto add = [&](double parameters, base::Bytes sent, const Replicas& of) {
    exchange.reduced +=
        pieces * among(kind, parameters / pieces * t.gradient_bytes, of.ranks, of.stride, machine);
    if (!whole) {
      exchange.gathered += pieces * among(CollectiveKind::all_gather, sent.si() / pieces, of.ranks,
                                          of.stride, machine);
    }
  };
  add(rank.dense, rank.dense_sent, dense_replicas(s, mapping));
  if (rank.experts > 0.0) {
    add(rank.experts, rank.experts_sent, expert_replicas(s, mapping));
  }
  return exchange;
}

double updated_parameters(const workloads::Training& training, const workloads::Mapping& mapping,
                          const models::RankParameters& rank) {
  const std::int64_t copies = workloads::ranks_of_stage(training.schedule);
  return training.sharding == workloads::Sharding::none
             ? rank.total()
             : rank.dense / as_double(copies * mapping.data_parallel * mapping.context_parallel) +
                   rank.experts / as_double(copies * mapping.expert_replicas);
}

double stage_layers(const ScenarioView& s, const workloads::Mapping& mapping) {
  return std::ceil(as_double(s.model->layer_count()) / as_double(mapping.pipeline_parallel));
}

Exchange exchange_of_stage(const ScenarioView& s, const workloads::Mapping& mapping,
                           const models::RankParameters& rank) {
  const auto stages = as_double(workloads::ranks_of_stage(s.training->schedule));
  const Exchange all = exchange_of(s, mapping, rank, stages * stage_layers(s, mapping));
  return {all.reduced / stages, all.gathered / stages};
}

Beside beside_passes(const ScenarioView& s) {
  return {s.training->overlap, as_double(workloads::Collective{}.sms) / s.platform->machine.sms};
}

Seconds exposed(Seconds exchange, Seconds pass, double layers, const Beside& beside) {
  if (!beside.overlap) {
    return exchange;
  }
  const Seconds open = base::min(exchange, base::max(exchange / layers, exchange - pass));
  return open + beside.taken * (exchange - open);
}

Seconds exposed_gradients(Seconds exchange, Seconds backward, double layers, double chunks,
                          double together, const Beside& beside) {
  const Seconds at_end = exposed(exchange, backward, layers, beside);
  if (chunks <= 1.0 || !beside.overlap) {
    return at_end;
  }
  const Seconds before = together * (chunks - 1.0) / chunks * backward;
  const Seconds open = base::max(base::max(exchange / layers, (exchange - backward) / chunks),
                                 exchange - backward / chunks - before);
  return base::min(at_end, open + beside.taken * (exchange - open));
}

}  // namespace roofcast::sim
