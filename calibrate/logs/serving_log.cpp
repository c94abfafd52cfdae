// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/serving_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "base/csv/csv.hpp"
#include "base/document/notes.hpp"
#include "base/document/problems.hpp"
#include "calibrate/logs/refuse.hpp"

namespace roofcast::calibrate {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kClientHeading = " Serving Benchmark Result ";
constexpr std::string_view kTrtllmHeading = "= PERFORMANCE OVERVIEW";
constexpr double kFromMilli = 1e-3;
constexpr double kMostTokens = 1e9;

// What a result tells, by key of the JSON or label of the text.
struct Column {
  std::string_view told;
  std::string_view metric;
  double scale = 1.0;
};

constexpr Column kJson[] = {
    {"mean_ttft_ms", "ttft_mean_s", kFromMilli},       {"median_ttft_ms", "ttft_p50_s", kFromMilli},
    {"p95_ttft_ms", "ttft_p95_s", kFromMilli},         {"p99_ttft_ms", "ttft_p99_s", kFromMilli},
    {"mean_tpot_ms", "tpot_mean_s", kFromMilli},       {"p95_tpot_ms", "tpot_p95_s", kFromMilli},
    {"p99_tpot_ms", "tpot_p99_s", kFromMilli},         {"mean_e2el_ms", "e2e_mean_s", kFromMilli},
    {"mean_e2e_latency_ms", "e2e_mean_s", kFromMilli}, {"request_throughput", "requests_per_s"},
    {"output_throughput", "throughput_tok_per_s"},
};

constexpr Column kText[] = {
    {"Mean TTFT (ms)", "ttft_mean_s", kFromMilli},
    {"Median TTFT (ms)", "ttft_p50_s", kFromMilli},
    {"P95 TTFT (ms)", "ttft_p95_s", kFromMilli},
    {"P99 TTFT (ms)", "ttft_p99_s", kFromMilli},
    {"Mean TPOT (ms)", "tpot_mean_s", kFromMilli},
    {"P95 TPOT (ms)", "tpot_p95_s", kFromMilli},
    {"P99 TPOT (ms)", "tpot_p99_s", kFromMilli},
    {"Mean E2EL (ms)", "e2e_mean_s", kFromMilli},
    {"Mean E2E Latency (ms)", "e2e_mean_s", kFromMilli},
    {"Request throughput (req/s)", "requests_per_s"},
    {"Output token throughput (tok/s)", "throughput_tok_per_s"},
};

// Until 0.17 "Token Throughput" is of output tokens; later ones say "Total Output Throughput" and give a
// "Total Token Throughput" of input and output beside.
constexpr Column kTrtllm[] = {
    {"Average time-to-first-token [TTFT] (ms)", "ttft_mean_s", kFromMilli},
    {"[TTFT] P50", "ttft_p50_s", kFromMilli},
    {"[TTFT] P95", "ttft_p95_s", kFromMilli},
    {"[TTFT] P99", "ttft_p99_s", kFromMilli},
    {"Average time-per-output-token [TPOT] (ms)", "tpot_mean_s", kFromMilli},
    {"[TPOT] P95", "tpot_p95_s", kFromMilli},
    {"[TPOT] P99", "tpot_p99_s", kFromMilli},
    {"Average request latency (ms)", "e2e_mean_s", kFromMilli},
    {"Request Throughput (req/sec)", "requests_per_s"},
    {"Token Throughput (tokens/sec)", "throughput_tok_per_s"},
    {"Total Output Throughput (tokens/sec)", "throughput_tok_per_s"},
};

std::int64_t whole(double value) { return static_cast<std::int64_t>(std::llround(value)); }

// Far above what any benchmark counts, and a whole number.
constexpr double kMostCounted = 1e12;

void refuse_beyond(double value, std::string_view what, const std::string& place) {
  if (value > kMostCounted) {
    refuse(place, fmt::format("{} {}: more than {}", value, what, kMostCounted));
  }
}

// Totals over the requests that were completed.
void set_lengths(ServingLog& log, std::optional<double> completed, std::optional<double> input,
                 std::optional<double> output, const std::string& place) {
  if (!completed) {
    return;
  }
  if (*completed < 1.0) {
    refuse(place, "no request was completed");
  }
  refuse_beyond(*completed, "requests were completed", place);
  log.requests = whole(*completed);
  const auto mean = [&](std::optional<double> total) {
    return total && *total > 0.0 ? std::optional(*total / *completed) : std::nullopt;
  };
  log.input_tokens = mean(input);
  log.output_tokens = mean(output);
}

// Figures of a run that lost requests are those of a lighter load.
void note_lost(const ServingLog& log, std::optional<double> sent, std::optional<double> failed,
               const std::string& place) {
  const auto completed = static_cast<double>(log.requests.value_or(0));
  const double lost = std::max(failed.value_or(0.0), sent.value_or(completed) - completed);
  if (log.requests && lost >= 1.0 && lost <= kMostCounted) {
    base::add_note(fmt::format(
        "note: {}: {} requests were completed and {} were lost: what is measured is of the {}",
        place, *log.requests, whole(lost), *log.requests));
  }
}

// A rate that is not finite asks for all requests at the start, as many at once as `clients` lets.
void set_load(ServingLog& log, std::optional<double> rate, std::optional<double> clients,
              const std::string& place) {
  if (clients && *clients >= 1.0 && std::isfinite(*clients)) {
    refuse_beyond(*clients, "clients", place);
    log.clients = whole(*clients);
  }
  if (rate && std::isfinite(*rate) && *rate > 0.0) {
    log.rate = rate;
  }
  log.all_at_once = rate && !std::isfinite(*rate) && !log.clients;
}

void check(const ServingLog& log, const std::string& place) {
  if (log.metrics.empty()) {
    refuse(place, "the result has none of the metrics that are forecast");
  }
  for (const MeasuredMetric& metric : log.metrics) {
    if (!std::isfinite(metric.value) || metric.value <= 0.0) {
      refuse(place, fmt::format("{} is {}: nothing was measured", metric.name, metric.value));
    }
  }
  for (const std::optional<double> tokens : {log.input_tokens, log.output_tokens}) {
    if (tokens && *tokens > kMostTokens) {
      refuse(place, fmt::format("{} tokens a request", *tokens));
    }
  }
}

// ---- JSON ---------------------------------------------------------------------------------------

// Python writes numbers that JSON has not; outside of strings they become strings, and null.
std::string as_json(std::string_view text) {
  std::string json;
  json.reserve(text.size());
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!quoted && text.substr(i).starts_with("Infinity")) {
      const bool negative = !json.empty() && json.back() == '-';
      if (negative) {
        json.pop_back();
      }
      json.append(negative ? "null" : "\"inf\"");
      i += 7;
    } else if (!quoted && text.substr(i).starts_with("NaN")) {
      json.append("null");
      i += 2;
    } else {
      json.push_back(text[i]);
      if (quoted && text[i] == '\\' && i + 1 < text.size()) {
        json.push_back(text[++i]);
      } else if (text[i] == '"') {
        quoted = !quoted;
      }
    }
  }
  return json;
}

Json parse(std::string_view text, const std::string& name, std::size_t line) {
  const std::string json = as_json(text);
  try {
    return Json::parse(json);
  } catch (const Json::parse_error& error) {
    const std::string_view before(json.data(), std::min(error.byte, json.size()));
    const auto lines = std::count(before.begin(), before.end(), '\n');
    const bool cut_off = error.byte > json.size();
    refuse(fmt::format("{}:{}", name, line + static_cast<std::size_t>(lines)),
           cut_off ? "the JSON ends in the middle: the file is cut off"
                   : fmt::format("no JSON at column {}",
                                 before.size() - std::min(before.rfind('\n') + 1, before.size())));
  } catch (const Json::out_of_range&) {
    refuse(fmt::format("{}:{}", name, line), "a number is too large");
  }
}

std::optional<double> number_at(const Json& object, std::string_view key,
                                const std::string& place) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) {
    return std::nullopt;
  }
  if (found->is_number()) {
    return found->get<double>();
  }
  if (found->is_string()) {
    if (const auto value = number_of(found->get_ref<const std::string&>())) {
      return value;
    }
    if (key == "request_rate") {  // "trace": as a file says
      return std::nullopt;
    }
  }
  refuse(place, fmt::format("{}: expects a number", key));
}

ServingLog log_of(const Json& object, const std::string& place) {
  if (!object.is_object()) {
    refuse(place, "expects an object, the result of a benchmark");
  }
  ServingLog log;
  log.name = place;
  if (const auto model = object.find("model_id"); model != object.end() && model->is_string()) {
    log.model = *model;
  }
  const auto at = [&](std::string_view key) { return number_at(object, key, place); };
  set_lengths(log, at("completed"), at("total_input_tokens"), at("total_output_tokens"), place);
  const auto told = [&](const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? std::optional(found->get<double>())
                                                       : std::nullopt;
  };
  note_lost(log, told("num_prompts"), told("failed"), place);
  set_load(log, at("request_rate"), at("max_concurrency"), place);
  log.burstiness = at("burstiness").value_or(1.0);
  for (const Column& column : kJson) {
    if (const auto value = at(column.told)) {
      log.metrics.push_back({std::string(column.metric), column.scale * *value});
    }
  }
  check(log, place);
  return log;
}

std::vector<ServingLog> read_json(const std::string& text, const std::string& name) {
  std::vector<std::pair<std::size_t, std::string_view>>
      objects;  // that begin on a line of their own
  std::string_view rest(text);
  for (std::size_t line = 1; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view one = rest.substr(0, end);
    if (one.starts_with('{') && one.find_last_not_of(" \t\r") != 0) {
      objects.emplace_back(line, one);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::vector<ServingLog> logs;
  if (objects.size() <= 1) {
    logs.push_back(log_of(parse(text, name, 1), name));
    return logs;
  }
  for (const auto& [line, object] : objects) {
    logs.push_back(log_of(parse(object, name, line), fmt::format("{}:{}", name, line)));
  }
  return logs;
}

// ---- Text ---------------------------------------------------------------------------------------

// One result, and what the client said of its settings before it.
class Labels {
 public:
  Labels(std::string file, std::span<const LogLine> settings, std::span<const LogLine> result)
      : file_(std::move(file)), settings_(settings), result_(result) {}

  std::optional<double> number(std::string_view label) const {
    const LogLine* line = find(label);
    return line == nullptr ? std::nullopt : number_of(line->value);
  }
  std::optional<std::int64_t> count(std::string_view label) const {
    const auto value = number(label);
    return value && *value >= 1.0 && *value < kMostTokens ? std::optional(whole(*value))
                                                          : std::nullopt;
  }
  std::string text(std::string_view label) const {
    const LogLine* line = find(label);
    return line == nullptr ? std::string() : std::string(line->value);
  }
  // A label without its number is a log that was cut off or edited.
  void metrics(std::span<const Column> columns, ServingLog& log) const {
    for (const Column& column : columns) {
      if (const LogLine* line = find_in(result_.begin(), result_.end(), column.told)) {
        const auto value = number_of(line->value);
        if (!value) {
          refuse(fmt::format("{}:{}", file_, line->number),
                 fmt::format("{}: expects a number", column.told));
        }
        log.metrics.push_back({std::string(column.metric), column.scale * *value});
      }
    }
  }

 private:
  template <class Iterator>
  static const LogLine* find_in(Iterator begin, Iterator end, std::string_view label) {
    const auto found =
        std::find_if(begin, end, [&](const LogLine& line) { return line.label == label; });
    return found == end ? nullptr : &*found;
  }
  const LogLine* find(std::string_view label) const {
    const LogLine* line = find_in(result_.begin(), result_.end(), label);
    return line != nullptr ? line : find_in(settings_.rbegin(), settings_.rend(), label);
  }

  std::string file_;
  std::span<const LogLine> settings_;
  std::span<const LogLine> result_;
};

ServingLog client_log(const Labels& labels, const std::string& place) {
  ServingLog log;
  log.name = place;
  set_lengths(log, labels.number("Successful requests"), labels.number("Total input tokens"),
              labels.number("Total generated tokens"), place);
  note_lost(log, std::nullopt, labels.number("Failed requests"), place);
  const auto configured = labels.number("Request rate configured (RPS)");
  const auto clients = labels.number("Maximum request concurrency");
  set_load(log, configured ? configured : labels.number("Traffic request rate"),
           clients ? clients : labels.number("Max request concurrency"), place);
  log.burstiness = labels.number("Burstiness factor").value_or(1.0);
  labels.metrics(kText, log);
  check(log, place);
  return log;
}

ServingLog trtllm_log(const Labels& labels, const std::string& place) {
  ServingLog log;
  log.name = place;
  log.model = labels.text("Model");
  log.stack = "trtllm";
  log.requests = labels.count("Number of requests");
  log.input_tokens = labels.number("Average Input Length (tokens)");
  log.output_tokens = labels.number("Average Output Length (tokens)");
  log.tensor_parallel = labels.count("TP Size");
  log.pipeline_parallel = labels.count("PP Size");
  log.expert_parallel = labels.count("EP Size");
  log.max_sequences = labels.count("Max Runtime Batch Size");
  log.max_tokens_per_iteration = labels.count("Max Runtime Tokens");
  log.clients = labels.count("Number of concurrent requests");
  log.all_at_once = !log.clients && log.requests;
  labels.metrics(kTrtllm, log);
  check(log, place);
  return log;
}

bool has(const LogLine& line, std::string_view part) {
  return line.text.find(part) != std::string_view::npos;
}

// Behind the last line of a result: the rule that closes it, or what trtllm-bench says first of the next one.
std::size_t end_of(const std::vector<LogLine>& lines, std::size_t start, bool trtllm) {
  std::size_t end = start + 1;
  for (; end < lines.size(); ++end) {
    const std::string_view text = lines[end].text;
    const bool rule = !text.empty() && text.find_first_not_of('=') == std::string_view::npos;
    if (trtllm ? has(lines[end], "= ENGINE DETAILS") || has(lines[end], "= PyTorch backend") ||
                     has(lines[end], "= REQUEST DETAILS")
               : rule || has(lines[end], kClientHeading)) {
      break;
    }
  }
  return end;
}

std::vector<ServingLog> read_text_logs(const std::string& text, const std::string& name,
                                       bool trtllm) {
  const std::vector<LogLine> lines = log_lines(text);
  const std::span<const LogLine> all(lines);
  std::vector<ServingLog> logs;
  std::size_t settings = 0;
  for (std::size_t start = 0; start < lines.size(); ++start) {
    if (has(lines[start], trtllm ? kTrtllmHeading : kClientHeading)) {
      const std::size_t end = end_of(lines, start, trtllm);
      const Labels labels(name, all.subspan(settings, start - settings),
                          all.subspan(start, end - start));
      const std::string place = fmt::format("{}:{}", name, lines[start].number);
      logs.push_back(trtllm ? trtllm_log(labels, place) : client_log(labels, place));
      settings = end;
      start = end - 1;
    }
  }
  return logs;
}

}  // namespace

std::vector<ServingLog> read_serving_logs(const std::filesystem::path& file, LogFormat format) {
  const std::string name = file.string();
  const std::string text = base::read_text(file);
  return format == LogFormat::client_json
             ? read_json(text, name)
             : read_text_logs(text, name, format == LogFormat::trtllm_bench);
}

}  // namespace roofcast::calibrate
