// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "sim/result/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_sweep_sweep_command {
namespace {

void sweep(const Program& roofcast, const std::string& file, const std::string& csv,
           const std::vector<std::string>& options = {}) {
  std::vector<std::string> arguments = {"sweep", file, "--csv", csv, "--quiet", "--force"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  roofcast.output(arguments);
}

// The same for every row: empty when the row does not fit.
bool empty_where_it_does_not_fit(const base::CsvTable& table, std::size_t row) {
  const bool fits = cell(table, row, "fits") == "true";
  return cell(table, row, "throughput_tok_per_s").empty() != fits &&
         cell(table, row, "weights_b_per_gpu").empty() != fits &&
         cell(table, row, "limited_by_ttft").empty() != fits;
}

}  // namespace

TEST_CASE("A sweep with a front for each group says how many there are", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("s.yaml",
                 fmt::format("base: {}\n"
                             "axes: {{system: [hgx_h100, hgx_h200], traffic.concurrency: "
                             "[1, 16]}}\n"
                             "pareto: {{maximize: [throughput_tok_per_s_per_gpu], by: system}}\n",
                             example("llama-70b")));
  CHECK(contains(roofcast.output({"sweep", "s.yaml", "--csv", "s.csv", "--no-replay"}),
                 "2 on the fronts of 2 groups (system)"));
}

TEST_CASE("The columns of a sweep's CSV are point, axes, verdict, metrics, texts", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.output(
      {"sweep", example("llama70b_what_if"), "--csv", "o.csv", "--quiet", "--all-columns"});
  const base::CsvTable table = base::read_csv(roofcast.path("o.csv"));
  std::vector<std::string> expected = {"point",
                                       "system",
                                       "precision",
                                       "deployment.tensor_parallel",
                                       "traffic.concurrency",
                                       "fits",
                                       "meets",
                                       "pareto_rank",
                                       "reason"};
  for (const sim::Metric& metric : sim::metrics()) {
    expected.emplace_back(metric.name);
  }
  for (const sim::TextMetric& text : sim::text_metrics()) {
    if (!text.of_parents) {
      expected.emplace_back(text.name);
    }
  }
  for (const char* of_replays :
       {"replay", "replay_note", "replayed_ttft_p50_s", "replayed_throughput_tok_per_s_per_gpu",
        "replayed_interactivity_tok_per_s_per_user", "replayed_ttft_p95_s", "replayed_tpot_p95_s",
        "replayed_attainment"}) {
    expected.emplace_back(of_replays);
  }
  CHECK(table.columns() == expected);

  // One row a point, the last axis fastest.
  REQUIRE(table.rows() == 240);
  bool numbered = true;
  bool said = true;
  bool ranked = true;
  bool blank = true;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const bool meets = cell(table, row, "meets") == "true";
    numbered = numbered && number(table, row, "point") == static_cast<double>(row);
    said = said && cell(table, row, "reason").empty() == meets;
    ranked = ranked && cell(table, row, "pareto_rank").empty() != meets;
    blank = blank && empty_where_it_does_not_fit(table, row);
  }
  CHECK(numbered);
  CHECK(said);
  CHECK(ranked);
  CHECK(blank);
  CHECK(cell(table, 0, "traffic.concurrency") == "1");
  CHECK(cell(table, 1, "traffic.concurrency") == "2");
  CHECK(cell(table, 10, "deployment.tensor_parallel") == "2");
  CHECK(cell(table, 0, "system") == "hgx_h100");
  CHECK(cell(table, 239, "system") == "hgx_b200");
}

TEST_CASE("A row of a sweep is what estimate says about its scenario", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.output(
      {"sweep", example("llama70b_what_if"), "--csv", "o.csv", "--quiet", "--all-columns"});
  const base::CsvTable table = base::read_csv(roofcast.path("o.csv"));
  for (const std::size_t row : {std::size_t{17}, std::size_t{111}, std::size_t{233}}) {
    std::vector<std::string> arguments = {"estimate", example("llama-70b"), "--format", "csv"};
    for (std::size_t c = 1; table.columns()[c] != "fits"; ++c) {
      arguments.insert(arguments.end(),
                       {"--set", table.columns()[c] + "=" + std::string(table.cell(row, c))});
    }
    const base::CsvTable alone = base::parse_csv(roofcast.output(arguments), "stdout");
    CHECK(cell(alone, 0, "fits") == cell(table, row, "fits"));
    for (const sim::Metric& metric : sim::metrics()) {
      INFO("row " << row << " " << metric.name);
      CHECK(cell(alone, 0, metric.name) == cell(table, row, metric.name));
    }
  }
}

TEST_CASE("A sweep writes the same bytes whatever the number of threads", "[cli][long]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("wide.yaml", "base: " + example("llama-70b") +
                                  "\naxes:\n"
                                  "  deployment.tensor_parallel: [1, 2, 4, 8]\n"
                                  "  traffic.concurrency: {from: 1, to: 300, step: 1}\n"
                                  "  traffic.input_tokens: [1000, 4000]\n"
                                  "pareto: {maximize: [throughput_tok_per_s_per_gpu], "
                                  "minimize: [ttft_p50_s]}\n");
  sweep(roofcast, "wide.yaml", "1.csv", {"--threads", "1"});
  sweep(roofcast, "wide.yaml", "2.csv", {"--threads", "2"});
  sweep(roofcast, "wide.yaml", "5.csv", {"--threads", "5"});
  const std::string one = roofcast.read("1.csv");
  CHECK(lines_of(one).size() == 2401);
  CHECK((roofcast.read("2.csv") == one));
  CHECK((roofcast.read("5.csv") == one));
}

TEST_CASE("A name that ends in .gz or .zst gives the same table, compressed", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  sweep(roofcast, example("llama70b_what_if"), "o.csv");
  for (const auto& [name, begin] :
       {std::pair{"z.csv.gz", "\x1f\x8b"}, std::pair{"y.csv.zst", "\x28\xb5"}}) {
    INFO(name);
    sweep(roofcast, example("llama70b_what_if"), name);
    const std::string packed = roofcast.read(name);
    CHECK(packed.starts_with(begin));
    CHECK(packed.size() < roofcast.read("o.csv").size() / 2);
    CHECK((base::read_text(roofcast.path(name)) == roofcast.read("o.csv")));
    const std::string stem(name, 1);
    CHECK((roofcast.read(stem + ".sweep.yaml") == roofcast.read("o.sweep.yaml")));
    CHECK(contains(roofcast.read(stem + ".provenance.json"), name));
  }
}

TEST_CASE("The sweep written beside a CSV makes the same CSV again, wherever it lies", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  for (const char* name : {"llama70b_what_if", "llama70b_h200_hbm", "deepseek-v3_gb200_experts"}) {
    INFO(name);
    sweep(roofcast, example(name), "first.csv");
    CHECK(roofcast.run({"check", "first.sweep.yaml"}).code == 0);
    sweep(roofcast, "first.sweep.yaml", "again.csv");
    CHECK((roofcast.read("again.csv") == roofcast.read("first.csv")));
    CHECK((roofcast.read("again.sweep.yaml") == roofcast.read("first.sweep.yaml")));
  }
}

TEST_CASE(
    "A sweep keeps the result on stdout and the conversation on stderr, and --quiet says nothing",
    "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const Outcome loud =
      roofcast.run({"sweep", example("llama70b_what_if"), "--csv", "o.csv", "--report", "o.html"});
  const Outcome quiet = roofcast.run({"sweep", example("llama70b_what_if"), "--csv", "o.csv",
                                      "--report", "o.html", "--quiet", "--force"});
  CHECK(loud.code == 0);
  CHECK(quiet.out.empty());
  CHECK(quiet.err.empty());
  // No terminal, no progress: only how long estimates and replays took.
  CHECK(lines_of(loud.err).size() == 2);
  CHECK(loud.err.starts_with("240 points in "));
  CHECK(contains(loud.out, "Which of H100, H200 and B200"));
  CHECK(contains(loud.out, "240 points, "));
  CHECK(contains(loud.out, "o.csv"));
  CHECK(contains(loud.out, "o.html"));
}

TEST_CASE("A condition on the end of an interval is stricter than one on the forecast", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const auto meeting = [&](const std::string& metric) {
    roofcast.write("sweep.yaml", "base: " + example("llama-70b") +
                                     "\naxes: {traffic.concurrency: {from: 1, to: 200, step: 1}}\n"
                                     "where: ['" +
                                     metric +
                                     " <= 0.02']\n"
                                     "pareto: {maximize: [throughput_tok_per_s_per_gpu]}\n");
    sweep(roofcast, "sweep.yaml", "o.csv");
    const base::CsvTable table = base::read_csv(roofcast.path("o.csv"));
    std::size_t count = 0;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      count += cell(table, row, "meets") == "true" ? 1 : 0;
    }
    return count;
  };
  const std::size_t sure = meeting("high90_tpot_mean_s");
  const std::size_t likely = meeting("tpot_mean_s");
  CHECK(0 < sure);
  CHECK(sure < likely);
  CHECK(likely < meeting("low90_tpot_mean_s"));
}

TEST_CASE("A sweep that nothing can meet says why, and is a result", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("hard.yaml", "base: " + example("llama-70b") +
                                  "\naxes:\n  traffic.concurrency: [1, 2]\n"
                                  "where: ['ttft_p50_s <= 0.000001']\n");
  const Outcome outcome = roofcast.run({"sweep", "hard.yaml", "--csv", "o.csv"});
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "No point meets every constraint"));
  CHECK(contains(outcome.out, "ttft_p50_s <= 0.000001"));
  const base::CsvTable table = base::read_csv(roofcast.path("o.csv"));
  for (std::size_t row = 0; row < table.rows(); ++row) {
    CHECK(cell(table, row, "fits") == "true");
    CHECK(cell(table, row, "meets") == "false");
    CHECK(cell(table, row, "reason").starts_with("misses ttft_p50_s <= 0.000001: "));
  }
}

TEST_CASE("pareto of the sweep's own objectives finds the rows of rank 1", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  sweep(roofcast, example("llama70b_what_if"), "o.csv");
  const base::CsvTable table = base::read_csv(roofcast.path("o.csv"));
  std::vector<std::string> expected;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (cell(table, row, "pareto_rank") == "1") {
      expected.push_back(cell(table, row, "point"));
    }
  }
  const std::string out =
      roofcast.output({"pareto", "o.csv", "--maximize", "throughput_tok_per_s_per_gpu",
                       "interactivity_tok_per_s_per_user", "--csv", "f.csv"});
  const base::CsvTable front = base::read_csv(roofcast.path("f.csv"));
  CHECK(front.columns() == table.columns());
  std::vector<std::string> found;
  for (std::size_t row = 0; row < front.rows(); ++row) {
    found.push_back(cell(front, row, "point"));
    CHECK(cell(front, row, "pareto_rank") == "1");
    CHECK(cell(front, row, "meets") == "true");
  }
  CHECK(found == expected);
  CHECK(out.starts_with(std::to_string(found.size()) + " of 240 rows on the front\n"));
}

TEST_CASE("pareto ranks within the values of --by, in both directions, from .zst too", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  sweep(roofcast, example("llama70b_what_if"), "o.csv.zst");
  roofcast.output({"pareto", "o.csv.zst", "--minimize", "cost_usd_per_mtok", "--by", "system",
                   "--csv", "f.csv"});
  const base::CsvTable front = base::read_csv(roofcast.path("f.csv"));
  // The cheapest row of each system, and rows as cheap.
  std::vector<std::string> systems;
  for (std::size_t row = 0; row < front.rows(); ++row) {
    systems.push_back(cell(front, row, "system"));
  }
  systems.erase(std::unique(systems.begin(), systems.end()), systems.end());
  CHECK(systems == std::vector<std::string>{"hgx_h100", "hgx_h200", "hgx_b200"});
  const base::CsvTable all = base::read_csv(roofcast.path("o.csv.zst"));
  for (std::size_t row = 0; row < all.rows(); ++row) {
    for (std::size_t best = 0; best < front.rows(); ++best) {
      if (cell(all, row, "meets") == "true" &&
          cell(all, row, "system") == cell(front, best, "system")) {
        REQUIRE(number(all, row, "cost_usd_per_mtok") >= number(front, best, "cost_usd_per_mtok"));
      }
    }
  }
}

TEST_CASE("A confirmed row whose replay is far from its estimate says so", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  // Prompts of equal clients wait for other iterations in the estimate than in the replay.
  roofcast.write("step.yaml",
                 "base:\n  system: hgx_b200\n  model: llama-3.1-70b\n  precision: fp8\n"
                 "  deployment: {tensor_parallel: 2}\n  serving: {stack: vllm}\n"
                 "  traffic: {input_tokens: 2048, output_tokens: 512}\n"
                 "axes: {traffic.concurrency: [512]}\nwhere: [fits]\n");
  const Outcome outcome = roofcast.run({"sweep", "step.yaml", "--csv", "o.csv"});
  REQUIRE(outcome.code == 0);
  CHECK(contains(outcome.out, "far from an estimate: see replay_note"));
  const base::CsvTable table = base::read_csv(roofcast.path("o.csv"));
  REQUIRE(table.rows() == 1);
  CHECK(cell(table, 0, "replay") == "confirmed");
  CHECK(contains(cell(table, 0, "replay_note"), "; but ttft_p95_s is "));
  const double replayed = number(table, 0, "replayed_ttft_p95_s");
  CHECK(replayed != Approx(number(table, 0, "ttft_p95_s")).epsilon(0.15));
}

TEST_CASE("Where nothing meets, a sweep and its brief say what the nearest row misses, with a unit",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("s.yaml", base::read_text(example("llama-70b")));
  roofcast.write("sweep.yaml",
                 "question: Which?\nbase: s.yaml\n"
                 "axes: {deployment.tensor_parallel: [1, 8], traffic.concurrency: [64, 4]}\n"
                 "where: [fits, 'tpot_mean_s <= 0.001']\n"
                 "pareto: {minimize: [tpot_mean_s]}\n");
  const std::string swept = roofcast.output({"sweep", "sweep.yaml", "--csv", "o.csv"});
  INFO(swept);
  CHECK(contains(swept,
                 "the nearest is deployment.tensor_parallel 8, traffic.concurrency 4: "
                 "misses tpot_mean_s <= 0.001 by "));
  CHECK(contains(swept, " ms\n"));
  const std::string brief = roofcast.output({"brief", "sweep.yaml"});
  INFO(brief);
  CHECK(contains(brief,
                 "the nearest is deployment.tensor_parallel 8, traffic.concurrency 4: misses"));
}

TEST_CASE("A sweep writes the columns that apply, and the numbers of the whole table", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("s.yaml",
                 "base:\n"
                 "  {system: hgx_h100, model: llama-3.1-8b, precision: fp8, deployment: {},\n"
                 "   serving: {stack: vllm},\n"
                 "   traffic: {input_tokens: 512, output_tokens: 128, concurrency: 8}}\n"
                 "axes:\n"
                 "  system: [hgx_h100, hgx_h200]\n"
                 "  traffic.concurrency: [1, 8, 64]\n");
  roofcast.output({"sweep", "s.yaml", "--csv", "few.csv", "--report", "few.html", "--quiet"});
  roofcast.output({"sweep", "s.yaml", "--csv", "all.csv", "--all-columns", "--quiet"});
  const base::CsvTable few = base::read_csv(roofcast.path("few.csv"));
  const base::CsvTable all = base::read_csv(roofcast.path("all.csv"));
  CHECK(few.columns().size() + 30 < all.columns().size());
  REQUIRE(few.rows() == all.rows());
  for (const std::string& column : all.columns()) {
    INFO(column);
    const auto& written = few.columns();
    const bool is_written = std::find(written.begin(), written.end(), column) != written.end();
    const sim::Metric* metric = sim::find_metric(column);
    if (metric != nullptr && metric->of_clocks && !is_written) {
      continue;  // shown where the limit is a question
    }
    for (std::size_t row = 0; row < all.rows(); ++row) {
      CHECK(cell(all, row, column) == (is_written ? cell(few, row, column) : std::string()));
    }
  }
  // Whoever reads a result reads this one.
  CHECK(roofcast.run({"compare", "all.csv", "few.csv", "--strict"}).code == 0);
  roofcast.output({"report", "few.csv", "-o", "again.html"});
  CHECK(contains(roofcast.read("again.html"), "ttft_p95_s"));
  CHECK(!contains(roofcast.read("again.html"), "\"refit_s\""));
  CHECK(!contains(roofcast.read("few.html"), "\"refit_s\""));
  CHECK(!roofcast.output({"pareto", "few.csv", "--maximize", "throughput_tok_per_s_per_gpu"})
             .empty());
  CHECK(roofcast.run({"reproduce", "few.csv"}).code == 0);
  // Shards of a sweep with a list of columns join to what it is as a whole.
  roofcast.write("l.yaml", roofcast.read("s.yaml") + "columns: [ttft_p99_s, cost_usd_per_mtok]\n");
  roofcast.output({"sweep", "l.yaml", "--csv", "whole.csv", "--quiet"});
  roofcast.output({"sweep", "l.yaml", "--csv", "l.csv", "--shard", "1/2", "--quiet"});
  roofcast.output({"sweep", "l.yaml", "--csv", "l.csv", "--shard", "2/2", "--quiet"});
  roofcast.output({"merge", "l.csv.parts", "--csv", "l.csv", "--quiet"});
  CHECK(roofcast.read("l.csv") == roofcast.read("whole.csv"));
  roofcast.output({"sweep", "l.yaml", "--csv", "r.csv", "--resume", "--quiet"});
  CHECK(roofcast.read("r.csv") == roofcast.read("whole.csv"));
  CHECK(base::read_csv(roofcast.path("l.csv")).columns().size() < few.columns().size());
}

}  // namespace roofcast::cli::cli_sweep_sweep_command
