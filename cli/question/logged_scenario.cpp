// SPDX-License-Identifier: Apache-2.0
#include "cli/question/logged_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>

#include "calibrate/platforms/named_parts.hpp"
#include "cli/text/scenario_text.hpp"
#include "sim/scenario/knob.hpp"

namespace roofcast::cli {
namespace {

// The options that are missing, each with what the log does not say.
class Missing {
 public:
  explicit Missing(const std::string& log) : log_(log) {}

  void need(bool is_there, std::string_view option, std::string_view what) {
    if (!is_there) {
      problems_.add_text(
          fmt::format("error: {} is needed: {} does not say {}\n", option, log_, what));
    }
  }
  void throw_if_any() {
    if (problems_.size() > 0) {
      problems_.add_text(
          "A scenario file says it, too: roofcast compare SCENARIO.yaml LOG. Run with --help for "
          "more information.\n");
    }
    problems_.throw_if_any();
  }

 private:
  const std::string& log_;
  base::Problems problems_;
};

bool sets(const ScenarioOptions& options, std::string_view path) {
  return std::any_of(options.set.begin(), options.set.end(),
                     [&](const std::string& set) { return set.starts_with(path); });
}

bool says_gpus(const ScenarioOptions& options) {
  return options.gpus > 0 || sets(options, "deployment");
}

bool says_load_of(const ScenarioOptions& options) {
  return !options.clients.empty() || !options.rate.empty() ||
         sets(options, "traffic.concurrency") || sets(options, "traffic.arrivals");
}

void need_traffic(Missing& missing, const ScenarioOptions& options) {
  missing.need(!options.input.empty() || sets(options, "traffic.input_tokens"), "--input",
               "how long prompts were");
  missing.need(!options.output.empty() || sets(options, "traffic.output_tokens"), "--output",
               "how long answers were");
  missing.need(says_load_of(options), "--clients or --rate", "the load");
}

void need_system(Missing& missing, const ScenarioOptions& options) {
  missing.need(!options.system.empty(), "--system", "on which system it ran");
}

// Fills options that nobody gave.
class FromLog {
 public:
  FromLog(ScenarioOptions& options, std::vector<std::string>& said)
      : options_(options), said_(said) {}

  void take(std::string& option, std::string value, std::string_view name) {
    if (option.empty() && !value.empty()) {
      said_.push_back(fmt::format("{} {}", name, value));
      option = std::move(value);
    }
  }
  // What compare sets from the log anyway, and says so.
  void take(std::string& option, const std::optional<double>& tokens) {
    if (option.empty() && tokens) {
      option = fmt::format("{}", std::max<std::int64_t>(1, std::llround(*tokens)));
    }
  }
  void set(std::string_view path, const std::optional<std::int64_t>& value) {
    if (value && !sets(options_, path)) {
      options_.set.insert(options_.set.begin(), fmt::format("{}={}", path, *value));
    }
  }

 private:
  ScenarioOptions& options_;
  std::vector<std::string>& said_;
};

}  // namespace

base::Node logged_scenario(const ScenarioOptions& options, const calibrate::ServingLog& log,
                           std::vector<std::string>& from_log) {
  base::Problems problems;
  refuse_two_of_one_knob(options, Lists::no, problems);
  problems.throw_if_any();
  ScenarioOptions all = options;
  FromLog from(all, from_log);
  from.take(all.model, calibrate::model_in(log.model), "model");
  from.take(all.stack, log.stack, "serving.stack");
  from.take(all.input, log.input_tokens);
  from.take(all.output, log.output_tokens);
  if (!says_load_of(all)) {
    if (log.rate) {
      all.rate = fmt::format("{} /s", *log.rate);
    } else if (log.clients || (log.all_at_once && log.requests)) {
      all.clients = fmt::format("{}", log.clients.value_or(log.requests.value_or(1)));
    }
  }
  if (options.gpus == 0) {
    from.set("deployment.expert_parallel", log.expert_parallel);
    from.set("deployment.pipeline_parallel", log.pipeline_parallel);
    from.set("deployment.tensor_parallel", log.tensor_parallel);
  }
  Missing missing(log.name);
  missing.need(!all.model.empty(), "--model",
               log.model.empty()
                   ? std::string("which model it was")
                   : fmt::format("a model that the catalog knows, but \"{}\"", log.model));
  need_system(missing, all);
  missing.need(says_gpus(all), "--gpus", "on how many GPUs it ran");
  need_traffic(missing, all);
  missing.throw_if_any();
  return scenario_as_filled_in(all, "compare");
}

base::Node profiled_scenario(const ScenarioOptions& options, const std::string& log) {
  calibrate::ServingLog silent;
  silent.name = log;
  std::vector<std::string> nothing;
  return logged_scenario(options, silent, nothing);
}

base::Node collectives_scenario(const ScenarioOptions& options, const std::string& log) {
  Missing missing(log);
  need_system(missing, options);
  missing.throw_if_any();
  base::Problems problems;
  refuse_two_of_one_knob(options, Lists::no, problems);
  base::Node document;
  document.place = {std::make_shared<const base::Source>(base::Source{"the options", "", {}}), {}};
  for (const auto& [option, path, value] : {std::tuple{"--system", "system", &options.system},
                                            {"--stack", "serving.stack", &options.stack}}) {
    if (!value->empty()) {
      sim::set_knob(document, {option, fmt::format("{}={}", path, *value), {}}, problems);
    }
  }
  set_knobs(document, options.set, problems);
  problems.throw_if_any();
  return document;
}

}  // namespace roofcast::cli
