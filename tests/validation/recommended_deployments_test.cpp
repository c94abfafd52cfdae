// SPDX-License-Identifier: Apache-2.0
//
// What `roofcast recommend` answers, beside what others published: ten questions, chosen by rule.
//
//   cell        measured servers of one pool (calibrate/measurements/e2e/serving_silicon.yaml) of one model, chip, stack,
//               precision and lengths, by their mapping (TP, EP, attention DP). Rows that speculate, or that may, are
//               left out.
//   eight       Cells by their number of mappings, the most first, then by rows, then by name. One of a model on a
//               chip, and two of a model at most. The eight first.
//               The front of a cell are the rows that no other row beats in TPOT and in throughput. The published
//               choice is the middle row of the front, of two the faster. Its TPOT is the limit, rounded up to 0.1 ms.
//               The rows at a quarter and at three quarters of the front are asked for too, and held to less.
//   two         A recipe of vLLM and one of TensorRT-LLM, in a cell that has its mapping measured. A recipe that says a
//               number of sequences is limited to the TPOT that was measured with it; one of the highest throughput
//               has no limit.
//   question    the stack, precision and lengths of the cell, one server of eight GPUs, one pool, mean TPOT within the
//               limit, the most output tokens a second of a GPU
//   engine      The settings are those of the published row (calibrate/conventions/servers.yaml), but for limits that
//               follow from its clients. The same questions are asked with the stack's own settings as well.
//   throughput  of a row: clients / (TTFT + TPOT · (tokens - 1)) · tokens, over its GPUs
//               of a mapping at a limit: that of its best row within the limit, or between its last row within and its
//               first beyond, on a line through their logarithms
//   right       Among the first three answers is the published mapping, or one that at the limit was measured to have
//               the throughput of the published row or more. Replicas do not count. A mapping that was not measured takes its place among the
//               three, and is neither right nor wrong.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "calibrate/servers/serving_rows.hpp"
#include "sim/recommend/recommendation.hpp"
#include "tests/catch.hpp"
#include "tests/measurements.hpp"

namespace roofcast::validation_recommended_deployments {
namespace {

constexpr std::size_t kCells = 8;
constexpr std::size_t kOfAModel = 2;
constexpr std::size_t kFirst = 3;
constexpr std::int64_t kGpus = 8;

struct Row {
  std::string mapping;
  std::int64_t clients = 0;
  double tpot = 0.0;        // s
  double throughput = 0.0;  // output tokens/s of a GPU
  base::Node serving;       // settings of the engine
};

struct Cell {
  std::string model, chip, stack, system;
  std::string precision;  // as a scenario writes it
  workloads::Lengths input, output;
  std::vector<Row> rows;

  std::set<std::string> mappings() const {
    std::set<std::string> all;
    for (const Row& row : rows) {
      all.insert(row.mapping);
    }
    return all;
  }
};

struct Question {
  const Cell* cell = nullptr;
  std::string who;  // published it
  Row published;
  bool has_limit = true;  // TPOT within that of the published row

  double limit() const {
    return has_limit ? std::ceil(1e4 * published.tpot) * 1e-4
                     : std::numeric_limits<double>::infinity();
  }
};

enum class Engine : std::uint8_t { as_published, of_the_stack };

std::string mapping_name(workloads::Mapping mapping) {
  sim::Shape shape;
  shape.main.mapping = mapping;
  return sim::name(shape);
}

std::string lengths_text(const workloads::Lengths& lengths) {
  return fmt::format("{{uniform: [{}, {}]}}", lengths.least, lengths.most);
}

// By name.
std::map<std::string, Cell> measured_cells() {
  const base::CsvTable table = base::read_csv(measured_table("e2e", "serving_silicon"));
  calibrate::ServingRows rows(table);
  std::map<std::string, Cell> cells;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const calibrate::MeasuredServer server = rows.row(i);
    if (!server.reason.empty() || server.pools || server.may_speculate ||
        server.serving.speculation.drafts() || server.traffic.cached_tokens > 0) {
      continue;
    }
    const std::string precision = fmt::format("{{base: {}, kv_cache: {}}}", server.precision->id,
                                              base::name(server.precision->kv_cache));
    const workloads::RequestStream& stream = server.stream;
    Cell& cell =
        cells[fmt::format("{}, {}, {}, {}, {} in, {} out", server.model, server.chip, server.stack,
                          precision, lengths_text(stream.input), lengths_text(stream.output))];
    cell.model = server.model;
    cell.chip = server.chip;
    cell.stack = server.stack;
    cell.system = server.platform->system.id;
    cell.precision = precision;
    cell.input = stream.input;
    cell.output = stream.output;
    const auto clients = static_cast<double>(server.traffic.concurrency);
    const double tokens = workloads::mean(stream.output);
    const double request = 1e-3 * (server.ttft_ms + server.tpot_ms * (tokens - 1.0));
    cell.rows.push_back({mapping_name(server.mapping), server.traffic.concurrency,
                         1e-3 * server.tpot_ms,
                         clients * tokens / request / static_cast<double>(server.mapping.ranks()),
                         *server.section});
  }
  return cells;
}

// The rows that no other row beats, by TPOT.
std::vector<Row> front_of(std::vector<Row> rows) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.tpot != b.tpot ? a.tpot < b.tpot : a.throughput > b.throughput;
  });
  std::vector<Row> front;
  for (const Row& row : rows) {
    if (front.empty() || row.throughput > front.back().throughput) {
      front.push_back(row);
    }
  }
  return front;
}

// 0 where it was not measured within the limit.
double throughput_at(const Cell& cell, const std::string& mapping, double limit) {
  std::vector<Row> rows;
  std::copy_if(cell.rows.begin(), cell.rows.end(), std::back_inserter(rows),
               [&](const Row& row) { return row.mapping == mapping; });
  const Row* within = nullptr;
  const std::vector<Row> front = front_of(std::move(rows));
  for (const Row& row : front) {
    if (row.tpot <= limit) {
      within = &row;
    } else if (within != nullptr) {
      const double share = std::log(limit / within->tpot) / std::log(row.tpot / within->tpot);
      return within->throughput * std::pow(row.throughput / within->throughput, share);
    }
  }
  return within == nullptr ? 0.0 : within->throughput;
}

// Each published the row at so many quarters of its front.
std::vector<Question> questions_of_cells(const std::map<std::string, Cell>& cells,
                                         std::size_t quarters) {
  std::vector<const Cell*> order;
  for (const auto& [name, cell] : cells) {
    order.push_back(&cell);
  }
  std::stable_sort(order.begin(), order.end(), [](const Cell* a, const Cell* b) {
    return std::pair(a->mappings().size(), a->rows.size()) >
           std::pair(b->mappings().size(), b->rows.size());
  });
  std::vector<Question> questions;
  std::set<std::pair<std::string, std::string>> known;
  std::map<std::string, std::size_t> of_a_model;
  for (const Cell* cell : order) {
    if (questions.size() == kCells || of_a_model[cell->model] == kOfAModel ||
        !known.emplace(cell->model, cell->chip).second) {
      continue;
    }
    ++of_a_model[cell->model];
    const std::vector<Row> front = front_of(cell->rows);
    questions.push_back({cell, "measured", front[quarters * (front.size() - 1) / 4]});
  }
  return questions;
}

// A recipe for 1,024 tokens in and 1,024 out.
struct Recipe {
  const char* who;
  const char* model;
  const char* chip;
  const char* stack;
  const char* mapping;
  std::int64_t clients;  // 0: the most throughput
};
constexpr Recipe kRecipes[] = {
    // vllm-project/recipes@00143a1 OpenAI/GPT-OSS.md: "Balanced: Set TP to 2 and set BS to 128", on B200
    {"vLLM's recipe", "gpt-oss-120b", "b200_sxm", "vllm", "TP2", 128},
    // NVIDIA/TensorRT-LLM@25f307e examples/configs/curated/gpt-oss-120b-throughput.yaml
    {"TensorRT-LLM's recipe", "gpt-oss-120b", "b200_sxm", "trtllm", "TP1 DP2 EP2", 0}};

Question question_of(const Recipe& recipe, const std::map<std::string, Cell>& cells) {
  for (const auto& [name, cell] : cells) {
    if (cell.model != recipe.model || cell.chip != recipe.chip || cell.stack != recipe.stack ||
        cell.input.most != 1024 || cell.output.most != 1024) {
      continue;
    }
    Question question{&cell, recipe.who, {}, recipe.clients > 0};
    for (const Row& row : cell.rows) {
      if (row.mapping == recipe.mapping &&
          (recipe.clients > 0 ? row.clients == recipe.clients
                              : row.throughput > question.published.throughput)) {
        question.published = row;
      }
    }
    if (question.published.clients > 0) {
      return question;
    }
  }
  FAIL("not measured");
  return {};
}

sim::Recommendation answers_to(const Question& question, Engine engine) {
  const Cell& cell = *question.cell;
  sim::Question q;
  q.base = base::parse_document(
      "question", fmt::format("{{system: {}, model: {}, precision: {}, serving: {{stack: {}}}, "
                              "deployment: {{tensor_parallel: 1}}, traffic: {{input_tokens: {}, "
                              "output_tokens: {}, concurrency: 1}}}}",
                              cell.system, cell.model, cell.precision, cell.stack,
                              lengths_text(cell.input), lengths_text(cell.output)));
  if (engine == Engine::as_published) {
    q.base["serving"] = question.published.serving;
  }
  q.gpus = kGpus;
  q.two_pools = false;
  q.objective = {sim::find_metric("throughput_tok_per_s_per_gpu"), sim::Direction::maximize};
  if (question.has_limit) {
    base::Problems problems;
    q.where.push_back(*sim::parse_condition(fmt::format("tpot_mean_s <= {:.15g}", question.limit()),
                                            q.base.place, problems));
    problems.throw_if_any();
  }
  return sim::recommend(q, {});
}

std::string text_of(const Question& question) {
  const Cell& cell = *question.cell;
  std::string text = fmt::format(
      "{}, {}, {}, {}, {} in, {} out, TPOT <= {:.2f} ms\n  {}: {}, {} clients\n  measured:",
      cell.model, cell.chip, cell.stack, cell.precision, lengths_text(cell.input),
      lengths_text(cell.output), 1e3 * question.limit(), question.who, question.published.mapping,
      question.published.clients);
  for (const std::string& mapping : cell.mappings()) {
    text += fmt::format(" {} {:.0f};", mapping, throughput_at(cell, mapping, question.limit()));
  }
  return text + "\n";
}

// Whether the first three answers are right. Adds to `report`.
bool is_right(const Question& question, Engine engine, std::string& report) {
  const Cell& cell = *question.cell;
  const std::string& published = question.published.mapping;
  const double enough = question.published.throughput;
  const sim::Recommendation r = answers_to(question, engine);
  bool right = false;
  report += text_of(question);
  for (std::size_t i = 0; i < r.answers.size(); ++i) {
    const sim::RankedRow& answer = *r.answers[i];
    const sim::Scan& scan = r.scans[answer.scan];
    const std::string mapping = mapping_name(scan.shapes[scan.shape_of(answer.row)].main.mapping);
    const double measured = throughput_at(cell, mapping, question.limit());
    right |= i < kFirst && (mapping == published || measured >= enough);
    report += fmt::format("  {}. {}: forecast {:.0f}, measured {:.0f}\n", i + 1, mapping,
                          answer.value, measured);
  }
  report += fmt::format("  {}, {} replays\n", right ? "right" : "wrong", r.replays);
  return right;
}

std::size_t right_of(const std::vector<Question>& questions, Engine engine) {
  std::string report;
  std::size_t right = 0;
  for (const Question& question : questions) {
    right += is_right(question, engine, report) ? 1 : 0;
  }
  WARN(report << right << " of " << questions.size());
  return right;
}

}  // namespace

TEST_CASE("Of ten published deployments at least seven are among the first three recommended",
          "[validation]") {
  const std::map<std::string, Cell> cells = measured_cells();
  std::vector<Question> questions = questions_of_cells(cells, 2);
  for (const Recipe& recipe : kRecipes) {
    questions.push_back(question_of(recipe, cells));
  }
  REQUIRE(questions.size() == 10);
  CHECK(right_of(questions, Engine::as_published) >= 7);
  CHECK(right_of(questions, Engine::of_the_stack) >= 7);
}

TEST_CASE("With shorter and longer limits most published deployments are among the first three",
          "[validation]") {
  const std::map<std::string, Cell> cells = measured_cells();
  CHECK(right_of(questions_of_cells(cells, 1), Engine::as_published) >= 5);
  CHECK(right_of(questions_of_cells(cells, 3), Engine::as_published) >= 5);
}

}  // namespace roofcast::validation_recommended_deployments
