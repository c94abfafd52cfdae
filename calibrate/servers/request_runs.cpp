// SPDX-License-Identifier: Apache-2.0
#include "calibrate/servers/request_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/csv/csv.hpp"
#include "base/document/fields.hpp"
#include "base/no_number.hpp"
#include "models/footprint.hpp"
#include "sim/replay/kv_cache.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::calibrate {
namespace {

namespace fs = std::filesystem;

using base::kNoNumber;
constexpr base::Range kTokens{1.0, 1e9};

// Only what is missing is a problem: the files tell more than is read.
void end(base::Fields& f) {
  for (const base::Entry& entry : f.node().entries) {
    f.take(entry.key);
  }
  f.end();
}

// ---- The engine ---------------------------------------------------------------------------------

struct Engine {
  std::string model;
  std::string type = "auto";  // of weights and activations
  std::string cache_type = "auto";
  std::int64_t tensor_parallel = 1;
  std::int64_t data_parallel = 1;
  bool expert_parallel = false;
  std::optional<std::int64_t> sequences;
  std::optional<std::int64_t> step_tokens;
  double memory_fraction = 0.0;  // 0: the stack's
  bool prefix_cache = true;
  std::optional<std::int64_t> cache_tokens;
};

Engine read_engine(const fs::path& file) {
  const base::Node document = base::load_document(file);
  base::Problems problems;
  base::Fields meta(document, "", problems);
  Engine engine;
  meta.group("engine_kwargs", [&](base::Fields& f) {
    f.text("model", engine.model);
    f.text("dtype", engine.type, base::optional);
    f.text("kv_cache_dtype", engine.cache_type, base::optional);
    f.integer("tensor_parallel_size", engine.tensor_parallel, base::at_least_one, base::optional);
    f.integer("data_parallel_size", engine.data_parallel, base::at_least_one, base::optional);
    f.flag("enable_expert_parallel", engine.expert_parallel, base::optional);
    f.integer("max_num_seqs", engine.sequences, base::at_least_one);
    f.integer("max_num_batched_tokens", engine.step_tokens, base::at_least_one);
    end(f);
  });
  meta.group(
      "kv_cache",
      [&](base::Fields& f) {
        f.number("gpu_memory_utilization", engine.memory_fraction, {0.0, 1.0, true},
                 base::optional);
        f.flag("enable_prefix_caching", engine.prefix_cache, base::optional);
        f.integer("num_kv_tokens", engine.cache_tokens, base::at_least_one);
        end(f);
      },
      base::optional);
  end(meta);
  problems.throw_if_any();
  return engine;
}

// The GPU as the run names it.
std::string gpu_of(const fs::path& directory) {
  const fs::path file = directory / "config.json";
  if (!fs::exists(file)) {
    const std::string name = directory.filename().string();
    return name.substr(0, name.find('_'));
  }
  const base::Node document = base::load_document(file);
  base::Problems problems;
  base::Fields config(document, "", problems);
  std::string gpu;
  config.each("nodes", [&](base::Fields& node) {
    node.each("instances", [&](base::Fields& instance) {
      instance.text("hardware", gpu);
      end(instance);
    });
    end(node);
  });
  end(config);
  problems.throw_if_any();
  return gpu;
}

std::string small_letters(std::string_view text) {
  std::string small;
  for (const char c : text) {
    small += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return small;
}

// "RTXPRO6000" is the chip whose id begins so, blanks and signs aside.
std::vector<std::string> chips_called(const std::string& gpu) {
  if (const auto id = base::id_called(hardware::chip_catalog(), gpu)) {
    return {*id};
  }
  const auto plain = [](std::string text) {
    std::erase_if(text, [](unsigned char c) { return std::isalnum(c) == 0; });
    return text;
  };
  const std::string wanted = plain(small_letters(gpu));
  std::vector<std::string> found;
  for (const std::string& id : base::catalog_ids(hardware::chip_catalog())) {
    if (plain(id) == wanted) {
      return {id};
    }
    if (!wanted.empty() && plain(id).starts_with(wanted)) {
      found.push_back(id);
    }
  }
  return found;
}

// Whether what follows a model's id is "-instruct", "-v0.3", "-2507" and the like, or several of them.
bool says_trained_further(std::string_view rest) {
  while (rest.starts_with('-')) {
    const std::string_view word = rest.substr(1, rest.find('-', 1) - 1);
    const auto all_of = [](std::string_view text, std::string_view characters) {
      return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
    };
    const std::string_view words[] = {"base", "chat", "hf", "instruct", "thinking"};
    if (std::find(std::begin(words), std::end(words), word) == std::end(words) &&
        !(word.starts_with('v') && all_of(word.substr(1), "0123456789.")) &&
        !(word.size() == 4 && all_of(word, "0123456789"))) {
      return false;
    }
    rest.remove_prefix(1 + word.size());
  }
  return rest.empty();
}

// "meta-llama/Llama-3.1-8B-Instruct" is llama-3.1-8b: what was trained further has the same shapes.
std::string model_called(const std::string& path) {
  if (const auto id = base::id_called(workloads::model_catalog(), path)) {
    return *id;
  }
  const std::string name = small_letters(path.substr(path.find_last_of('/') + 1));
  for (const std::string& id : base::catalog_ids(workloads::model_catalog())) {
    if (name.starts_with(id) && says_trained_further(name.substr(id.size()))) {
      return id;
    }
  }
  return "";
}

// What vLLM calls a precision, as assignments to a scenario; nothing when there is no such one.
std::optional<std::string> precision_called(const Engine& engine) {
  std::string text;
  if (engine.type == "bfloat16" || engine.type == "bf16") {
    text = "precision: {base: bf16";
  } else if (engine.type == "float16" || engine.type == "half") {
    text = "precision: {base: fp16";
  } else {
    return std::nullopt;
  }
  if (engine.cache_type.starts_with("fp8")) {
    return text + ", kv_cache: fp8}";
  }
  return engine.cache_type == "auto" || engine.cache_type == engine.type ? std::optional(text + "}")
                                                                         : std::nullopt;
}

template <class ReadFunction>
auto section(const std::string& text, ReadFunction read) {
  base::Problems problems;
  base::Node document = base::parse_document("run", text);
  sim::load_references(document, problems);
  auto value = read(document, problems);
  problems.throw_if_any();
  return value;
}

void read_scenario(const Engine& engine, const std::string& gpu, ChipPlatforms& platforms,
                   RequestRun& run) {
  const std::vector<std::string> chips = chips_called(gpu);
  const std::string model = model_called(engine.model);
  run.chip = chips.size() == 1 ? chips.front() : gpu;
  run.model = model.empty() ? engine.model : model;
  run.platform = chips.size() == 1 ? platforms.find(run.chip, "vllm") : nullptr;
  const std::optional<std::string> precision = precision_called(engine);
  if (chips.size() > 1) {
    run.reason = fmt::format("{} may be {}", gpu, fmt::join(chips, " or "));
  } else if (chips.empty()) {
    run.reason = fmt::format("{} is not in the catalog", gpu);
  } else if (run.platform == nullptr) {
    run.reason = no_system_with(run.chip);
  } else if (model.empty()) {
    run.reason = fmt::format("{} is not in the catalog", engine.model);
  } else if (!precision) {
    run.reason = fmt::format("no precision with dtype {} and kv_cache_dtype {}", engine.type,
                             engine.cache_type);
  }
  if (!run.reason.empty()) {
    return;
  }
  run.architecture = section("model: " + model, sim::read_model);
  run.precision = section(*precision, sim::read_precision);
  run.serving = section("serving: {stack: vllm}", sim::read_serving);
  workloads::SchedulerLimits& limits = run.serving.limits;
  limits.max_sequences = engine.sequences.value_or(limits.max_sequences);
  limits.max_tokens_per_iteration = engine.step_tokens.value_or(limits.max_tokens_per_iteration);
  limits.memory_fraction =
      engine.memory_fraction > 0.0 ? engine.memory_fraction : limits.memory_fraction;
  run.serving.policy.prefix_cache = engine.prefix_cache;
  run.mapping.tensor_parallel = engine.tensor_parallel;
  run.mapping.data_parallel = engine.data_parallel;
  if (engine.expert_parallel && run.architecture.moe.experts > 0) {
    run.mapping.expert_parallel = engine.tensor_parallel * engine.data_parallel;
  }
}

// ---- Requests -----------------------------------------------------------------------------------

MeasuredRequest request_of(const base::Node& document) {
  base::Problems problems;
  base::Fields f(document, "", problems);
  MeasuredRequest request;
  f.integer("input_toks", request.input_tokens, kTokens);
  f.integer("output_toks", request.output_tokens, kTokens);
  for (const auto& [key, time] : {std::pair{"arrival_time", &request.arrival},
                                  {"queued_ts", &request.queued},
                                  {"first_token_ts", &request.first_token},
                                  {"last_token_ts", &request.last_token}}) {
    double seconds = 0.0;
    f.number(key, seconds, base::any_value);
    *time = seconds * base::second;
  }
  end(f);
  if (problems.empty() && request.first_token <= request.queued) {
    f.problem("first_token_ts", "is not after queued_ts");
  }
  if (problems.empty() && request.output_tokens > 1 && request.last_token <= request.first_token) {
    f.problem("last_token_ts", "is not after first_token_ts");
  }
  problems.throw_if_any();
  return request;
}

// One line of the file. What is wrong is told of the line in its place.
base::Node line_of(const std::string& name, const std::string& line, std::size_t lines_before) {
  return base::parse_document(name, std::string(lines_before, '\n') + line);
}

void read_requests(const fs::path& file, RequestRun& run) {
  const std::string text = base::read_text(file);
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size(); ++lines) {
    const std::size_t line_end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, line_end - at);
    at = line_end + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      continue;
    }
    base::Node document;
    MeasuredRequest request;
    try {
      document = line_of(file.string(), line, 0);
      request = request_of(document);
    } catch (const base::InputError&) {
      request_of(line_of(file.string(), line, lines));
    }
    if (run.columns.empty()) {
      for (const base::Entry& entry : document.entries) {
        run.columns.push_back(entry.key);
      }
    }
    for (const std::string& column : run.columns) {
      const base::Node* value = document.find(column);
      request.cells.push_back(value != nullptr ? value->text : "");
    }
    run.requests.push_back(std::move(request));
  }
  if (run.requests.empty()) {
    throw base::InputError(fmt::format("{}: error: no request\n", file.string()));
  }
  std::stable_sort(run.requests.begin(), run.requests.end(),
                   [](const auto& a, const auto& b) { return a.arrival < b.arrival; });
  base::Seconds first = run.requests.front().queued;
  base::Seconds last = first;
  for (const MeasuredRequest& request : run.requests) {
    first = base::min(first, request.queued);
    last = base::max(last, request.last_token);
  }
  run.one_clock = std::all_of(run.requests.begin(), run.requests.end(), [&](const auto& request) {
    return request.arrival <= request.queued && request.queued - request.arrival <= last - first;
  });
}

void read_loads(const fs::path& file, RequestRun& run) {
  const base::CsvTable table = base::read_csv(file);
  const std::size_t time = table.column("t");
  const std::size_t running = table.column("running");
  const std::size_t waiting = table.column("waiting");
  const auto output = table.find_column("gen_throughput");
  const auto cache = table.find_column("kv_cache_pct");
  bool cache_recorded = false;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto number = [&](std::size_t column) {
      const auto value = base::parse_number(table.cell(row, column));
      if (!value || !(*value >= 0.0) || *value > 1e9) {
        throw base::InputError(
            fmt::format("{}:{}: error: {}: a number from 0 to 1e9 is expected, not \"{}\"\n",
                        table.name(), row + 2, table.columns()[column], table.cell(row, column)));
      }
      return *value;
    };
    run.loads.push_back({number(time) * base::second, number(running), number(waiting),
                         output ? number(*output) : kNoNumber,
                         cache ? 0.01 * number(*cache) : kNoNumber});
    cache_recorded = cache_recorded || run.loads.back().cache > 0.0;
  }
  for (MeasuredLoad& load : run.loads) {
    load.cache = cache_recorded ? load.cache : kNoNumber;
  }
}

// ---- Simulation ---------------------------------------------------------------------------------

LoadDifference difference(const RequestRun& run, const std::vector<sim::SimulatedSecond>& seconds,
                          double MeasuredLoad::*measured, double sim::SimulatedSecond::*simulated) {
  if (run.loads.empty()) {
    return {kNoNumber, kNoNumber, kNoNumber};
  }
  LoadDifference sum;
  double count = 0.0;
  const auto add = [&](double m, double s) {
    sum.measured += m;
    sum.simulated += s;
    sum.difference += std::abs(s - m);
    count += 1.0;
  };
  std::size_t next = 0;  // second after the last measured one
  for (const MeasuredLoad& load : run.loads) {
    const auto second =
        static_cast<std::size_t>(std::max(std::ceil(load.time / base::second) - 1.0, 0.0));
    add(load.*measured, second < seconds.size() ? seconds[second].*simulated : 0.0);
    next = std::max(next, second + 1);
  }
  for (; next < seconds.size(); ++next) {
    add(0.0, seconds[next].*simulated);
  }
  return {sum.measured / count, sum.simulated / count, sum.difference / count};
}

// Up to a number that no cache limits.
std::int64_t cache_tokens(const sim::ScenarioView& s) {
  sim::KvCache cache(
      s, models::footprint(s.platform->system.chip, *s.model, *s.precision, *s.mapping, *s.serving)
             .cache);
  std::int64_t fits = 0;
  for (std::int64_t step = std::int64_t{1} << 26; step > 0; step /= 2) {
    fits += cache.could_hold(fits + step) ? step : 0;
  }
  return fits;
}

}  // namespace

std::vector<fs::path> request_runs(const fs::path& directory) {
  if (!fs::is_directory(directory)) {
    throw base::InputError(fmt::format("{}: error: is not a directory\n", directory.string()));
  }
  std::vector<fs::path> found;
  if (fs::exists(directory / "meta.json")) {
    found.push_back(directory);
  } else {
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
      if (entry.path().filename() == "meta.json") {
        found.push_back(entry.path().parent_path());
      }
    }
  }
  if (found.empty()) {
    throw base::InputError(fmt::format(
        "{}: error: no run of requests here or below: it has a meta.json and a requests.jsonl\n",
        directory.string()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

RequestRun read_request_run(const fs::path& directory, ChipPlatforms& platforms) {
  RequestRun run;
  const fs::path named = fs::weakly_canonical(directory);
  run.name = named.filename().string();
  const Engine engine = read_engine(directory / "meta.json");
  run.cache_tokens = engine.cache_tokens;
  read_requests(directory / "requests.jsonl", run);
  if (fs::exists(directory / "timeseries.csv")) {
    read_loads(directory / "timeseries.csv", run);
  }
  read_scenario(engine, gpu_of(named), platforms, run);
  return run;
}

Replay replay(const RequestRun& run) {
  Replay result;
  result.reason = run.reason;
  if (!result.reason.empty()) {
    return result;
  }
  const base::Seconds origin = run.requests.front().arrival;
  workloads::Requests requests;
  for (const MeasuredRequest& measured : run.requests) {
    workloads::Request request;
    request.arrival = measured.arrival - origin;
    request.input_tokens = measured.input_tokens;
    request.output_tokens = measured.output_tokens;
    requests.requests.push_back(request);
  }
  sim::Simulation simulation = sim::simulate(run.scenario(), requests, 0);
  result.reason = simulation.reason;
  if (!result.reason.empty()) {
    return result;
  }
  result.cache_tokens = cache_tokens(run.scenario());
  for (std::size_t i = 0; i < run.requests.size(); ++i) {
    const MeasuredRequest& m = run.requests[i];
    const sim::ServedRequest& s = simulation.requests[i];
    result.requests.push_back({{run.one_clock ? m.arrival : m.queued, m.first_token, m.last_token},
                               {run.one_clock ? s.arrival : s.queued, s.first_token, s.last_token},
                               m.output_tokens,
                               s.rejected});
  }
  result.running =
      difference(run, simulation.seconds, &MeasuredLoad::running, &sim::SimulatedSecond::running);
  result.waiting =
      difference(run, simulation.seconds, &MeasuredLoad::waiting, &sim::SimulatedSecond::waiting);
  result.seconds = std::move(simulation.seconds);
  return result;
}

}  // namespace roofcast::calibrate
