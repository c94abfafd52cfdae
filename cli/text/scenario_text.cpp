// SPDX-License-Identifier: Apache-2.0
#include "cli/text/scenario_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"
#include "workloads/traffic/agents.hpp"

namespace roofcast::cli {
namespace {

// What is not the usual is named only where it is used.
std::string mapping_text(const workloads::Mapping& m) {
  std::string text = fmt::format("TP{} PP{} EP{} DP{}", m.tensor_parallel, m.pipeline_parallel,
                                 m.expert_parallel, m.data_parallel);
  if (m.context_parallel > 1) {
    const bool ring = m.context_method == workloads::ContextMethod::ring;
    text += fmt::format(" CP{} ({})", m.context_parallel, ring ? "ring" : "ulysses");
  }
  if (m.decode_context_parallel > 1) {
    text += fmt::format(" DCP{}", m.decode_context_parallel);
  }
  return text + (m.sequence_parallel ? " SP" : "");
}

std::string deployment(const sim::Scenario& s) {
  if (!s.deployment.pools) {
    return mapping_text(s.deployment.mapping);
  }
  const auto pool = [](const workloads::Pool& p, const sim::Platform* own) {
    return fmt::format("{} x {}{}", p.replicas, mapping_text(p.mapping),
                       own != nullptr ? " on " + own->system.name : "");
  };
  const sim::PoolPlatforms& own = s.deployment.platforms;
  return fmt::format("prefill {}, decode {}", pool(s.deployment.pools->prefill, own.prefill.get()),
                     pool(s.deployment.pools->decode, own.decode.get()));
}

}  // namespace

void refuse_two_of_one_knob(const std::vector<base::Source>& settings, base::Problems& problems) {
  const auto path_of = [](const base::Source& setting) {
    return std::string_view(setting.text).substr(0, setting.text.find('='));
  };
  const auto said = [&](const base::Source& setting) {
    return setting.name == "--set" ? fmt::format("--set {}", setting.text)
                                   : fmt::format("{} {}", setting.name,
                                                 setting.text.substr(setting.text.find('=') + 1));
  };
  for (auto at = settings.begin(); at != settings.end(); ++at) {
    const auto other = std::find_if(settings.begin(), at, [&](const base::Source& before) {
      return path_of(before) == path_of(*at);
    });
    if (other != at) {
      problems.add_text(fmt::format("error: {} and {} both set {}: leave one out\n", said(*other),
                                    said(*at), path_of(*at)));
    }
  }
}

std::vector<base::Source> set_options(const std::vector<std::string>& set) {
  std::vector<base::Source> settings;
  for (const std::string& assignment : set) {
    settings.push_back({"--set", assignment, {}});
  }
  return settings;
}

void set_knobs(base::Node& document, const std::vector<std::string>& set,
               base::Problems& problems) {
  // As in a sweep: a system is chosen before its chip is changed, in whatever order they were typed.
  std::vector<std::string> assignments = set;
  std::stable_sort(assignments.begin(), assignments.end(),
                   [](std::string_view a, std::string_view b) {
                     return sim::is_set_before(a.substr(0, a.find('=')), b.substr(0, b.find('=')));
                   });
  for (const std::string& assignment : assignments) {
    sim::set_knob(document, {"--set", assignment, {}}, problems);
  }
}

base::Node scenario_document(const std::string& file, const std::vector<std::string>& set) {
  base::Node document = base::load_document(file);
  if (document.find("axes") != nullptr) {
    throw base::InputError(
        fmt::format("error: {0} is a sweep: roofcast sweep {0} --csv out.csv\n", file));
  }
  base::Problems problems;
  refuse_two_of_one_knob(set_options(set), problems);
  set_knobs(document, set, problems);
  problems.throw_if_any();
  return document;
}

void set_as_if_unmeasured(base::Node& document, const std::string& unmeasured) {
  base::Problems problems;
  for (const std::string system :
       {"system", "deployment.prefill.system", "deployment.decode.system"}) {
    if (!unmeasured.empty() && document.find_path(system) != nullptr) {
      sim::set_knob(document,
                    {"--as-if-unmeasured", system + ".as_if_unmeasured=" + unmeasured, {}},
                    problems);
    }
  }
  problems.throw_if_any();
}

std::string title(const sim::Scenario& s) {
  return fmt::format("{} on {} · {} · {} · {}", s.model.name, s.platform.system.title(),
                     s.precision.id.empty() ? "custom precision" : s.precision.id, deployment(s),
                     s.training.trains() ? s.training.trainer.name : s.serving.stack.name);
}

namespace {

// The models that read before prompts.
std::string front_text(const workloads::Traffic& traffic) {
  std::string text;
  const auto add = [&](std::string_view what, const std::optional<workloads::FrontModel>& m) {
    if (m) {
      text +=
          fmt::format(", {} {} ({} x {} tokens, {})", what, m->model->name, m->sequences, m->tokens,
                      m->servers > 0 ? fmt::format("{} GPUs of its own", m->servers)
                                     : "on the GPUs of the model");
    }
  };
  if (traffic.agents) {
    add("embedder", traffic.agents->agents.embedder);
    add("reranker", traffic.agents->agents.reranker);
  }
  return text;
}

}  // namespace

std::string load_text(const sim::Scenario& s) {
  if (s.training.trains()) {
    return fmt::format("{} sequences of {} tokens, micro-batches of {}", s.training.global_batch,
                       s.training.sequence_length, s.training.micro_batch);
  }
  const std::int64_t cached = s.traffic.cached_tokens;
  const std::string load =
      s.traffic.agents && s.traffic.arrivals
          ? fmt::format("{:.4g} tasks a second (means of their turns)",
                        workloads::mean_rate(*s.traffic.agents->agents.arrivals).si())
      : s.traffic.arrivals
          ? fmt::format("{:.4g} requests a second", workloads::mean_rate(*s.traffic.arrivals).si())
      : s.traffic.agents ? fmt::format("{} agents (means of their turns)", s.traffic.concurrency)
                         : fmt::format("concurrency {}", s.traffic.concurrency);
  return fmt::format("{} tokens in{}, {} out, {}{}", s.traffic.input_tokens,
                     cached > 0 ? fmt::format(" ({} of them cached)", cached) : "",
                     s.traffic.output_tokens, load, front_text(s.traffic));
}

}  // namespace roofcast::cli
