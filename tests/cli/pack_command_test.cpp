// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/text/exit_code.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_pack_command {
namespace {

using nlohmann::json;

constexpr const char* kLengths = "{lognormal: {mean: 1500, cv: 1.2, max: 8192}}";

std::vector<std::string> with_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "pack");
  arguments.insert(arguments.end(), {"--format", "json"});
  return arguments;
}

json pack(const Program& roofcast, const std::vector<std::string>& arguments) {
  return json::parse(roofcast.output(with_json(arguments)));
}

std::vector<std::size_t> numbers_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::size_t>(in), {}};
}

}  // namespace

TEST_CASE("pack writes a row for each bin, with every sequence once", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  for (const std::string order : {"kept", "size"}) {
    const json answer = pack(roofcast, {"--lengths", kLengths, "--count", "1000", "--tokens",
                                        "8192", "--order", order, "--csv", "bins.csv", "--force"});
    const base::CsvTable bins = base::parse_csv(roofcast.read("bins.csv"), "bins.csv");
    CHECK(bins.rows() == answer["orders"][order]["bins"].get<std::size_t>());
    CHECK(bins.rows() >= answer["least_bins"].get<std::size_t>());
    std::set<std::size_t> seen;
    double tokens = 0.0;
    std::size_t last = 0;
    for (std::size_t row = 0; row < bins.rows(); ++row) {
      CHECK(number(bins, row, "tokens") <= 8192.0);
      CHECK(cell(bins, row, "time_s").empty());
      tokens += number(bins, row, "tokens");
      const auto items = numbers_of(cell(bins, row, "items"));
      CHECK(static_cast<double>(items.size()) == number(bins, row, "sequences"));
      for (const std::size_t item : items) {
        CHECK(seen.insert(item).second);
        CHECK((order == "size" || seen.size() == 1 || item == last + 1));
        last = item;
      }
    }
    CHECK(seen.size() == 1000);
    CHECK(tokens == answer["tokens"].get<double>());
  }
}

TEST_CASE("Packing by size needs the fewest bins, packing in order more, padding the most",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json answer = pack(roofcast, {"--lengths", kLengths, "--count", "500", "--scenario",
                                      example("llama-70b"), "--csv", "bins.csv"});
  CHECK(answer["fits"] == true);
  CHECK(answer["bin_tokens"] == 8192);
  const json& orders = answer["orders"];
  CHECK(orders["size"]["bins"] < orders["kept"]["bins"]);
  CHECK(orders["kept"]["bins"] < orders["padded"]["bins"]);
  CHECK(orders["size"]["time_s"] < orders["kept"]["time_s"]);
  CHECK(orders["kept"]["time_s"] < orders["padded"]["time_s"]);
  CHECK(orders["size"]["padding_share"] < orders["padded"]["padding_share"]);
  // The bins of one deployment without pipeline stages follow each other.
  const base::CsvTable bins = base::parse_csv(roofcast.read("bins.csv"), "bins.csv");
  double time = 0.0;
  for (std::size_t row = 0; row < bins.rows(); ++row) {
    time += number(bins, row, "time_s");
  }
  CHECK(time == Approx(orders["size"]["time_s"].get<double>()));
}

TEST_CASE("Equal sequences that fill their bins have no padding in any order", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json answer = pack(roofcast, {"--lengths", "1024", "--count", "80", "--tokens", "8192"});
  CHECK(answer["least_bins"] == 10);
  for (const auto& [order, way] : answer["orders"].items()) {
    INFO(order);
    CHECK(way["bins"] == 10);
    CHECK(way["padding_share"] == 0.0);
    CHECK(way["fill_least"] == 1.0);
    CHECK(way["above_least_share"] == 0.0);
  }
}

TEST_CASE("A sequence longer than a bin is left out, and the answer says so", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("lengths.csv", "tokens\n50\n2000\n60\n");
  const std::vector<std::string> question = {"lengths.csv", "--tokens", "100", "--csv", "b.csv"};
  const json answer = pack(roofcast, question);
  CHECK(answer["fits"] == false);
  CHECK(answer["left_out"] == 1);
  CHECK(answer["reason"] ==
        "longer than a bin of 100 tokens and left out: 1 of 3 sequences, the longest has 2,000");
  const base::CsvTable bins = base::parse_csv(roofcast.read("b.csv"), "b.csv");
  REQUIRE(bins.rows() == 2);
  CHECK(cell(bins, 0, "items") == "2");  // positions in the table
  CHECK(cell(bins, 1, "items") == "0");
  std::vector<std::string> strict = with_json(question);
  strict.insert(strict.end(), {"--strict", "--force"});
  CHECK(roofcast.run(strict).code == kInfeasible);
  CHECK(contains(roofcast.output({"pack", "lengths.csv", "--tokens", "10"}), "left out: 3 of 3"));
}

TEST_CASE("An engine that cannot compute the bins has no times, and a reason", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  const json answer = pack(roofcast, {"--lengths", "100", "--count", "10", "--scenario",
                                      example("llama-70b"), "--tokens", "100000"});
  CHECK(answer["fits"] == false);
  CHECK(contains(answer["reason"], "at most 8192 tokens"));
  CHECK(answer["orders"]["size"]["bins"] == 1);
  CHECK(answer["orders"]["size"]["time_s"].is_null());
  const json many = pack(roofcast, {"--lengths", "10", "--count", "100", "--scenario",
                                    example("llama-70b"), "--set", "serving.max_sequences=50"});
  CHECK(many["fits"] == false);
  CHECK(many["reason"] ==
        "a bin has 100 sequences, the engine runs 50 at once (serving.max_sequences)");
}

TEST_CASE("Jobs share the memory of a GPU, and those that do not fit are named with the reason",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("jobs.csv",
                 "job,memory,time\nranker,12 GB,40\nchat,60e9,5 min\nbig,90 GB,3\nembedder,30 "
                 "GB,20\nwriter,50 GB,100\n");
  const std::vector<std::string> question = {"jobs.csv", "--memory", "80 GB", "--csv", "g.csv"};
  const json answer = pack(roofcast, question);
  CHECK(answer["fits"] == false);
  CHECK(answer["gpus"] == 2);
  CHECK(answer["least_gpus"] == 2);  // 152 GB
  CHECK(answer["left_out"] == json{{{"job", "big"}, {"reason", "needs 90 GB, a GPU has 80 GB"}}});
  CHECK(answer["bins"][0]["jobs"] == json{"chat", "ranker"});
  CHECK(answer["bins"][1]["jobs"] == json{"writer", "embedder"});
  CHECK(answer["bins"][0]["fill"] == 0.9);
  CHECK(answer["bins"][0]["in_turn_s"] == 340.0);
  CHECK(answer["bins"][0]["side_by_side_s"] == 300.0);
  CHECK(answer["in_turn_s"] == 340.0);
  CHECK(answer["side_by_side_s"] == 300.0);
  const base::CsvTable gpus = base::parse_csv(roofcast.read("g.csv"), "g.csv");
  REQUIRE(gpus.rows() == 2);
  CHECK(cell(gpus, 1, "items") == "writer embedder");
  CHECK(number(gpus, 1, "memory_b") == 80e9);
  const json kept = pack(roofcast, {"jobs.csv", "--memory", "80 GB", "--order", "kept"});
  CHECK(kept["bins"][1]["jobs"] == json{"embedder", "writer"});
  const json one = pack(roofcast, {"jobs.csv", "--memory", "80 GB", "--gpus", "1"});
  CHECK(one["gpus"] == 1);
  CHECK(one["left_out"].size() == 3);
  CHECK(one["left_out"][1]["reason"] == "needs 50 GB, no GPU is left for it");
}

TEST_CASE("A question that pack cannot answer is refused in words", "[bad_input]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("lengths.csv", "tokens\n50\n");
  roofcast.write("unit.csv", "job,memory,time\na,12 GX,1\n");
  roofcast.write("time.csv", "job,memory,time\na,12 GB,-1\n");
  roofcast.write("column.csv", "job,memory,time,gpu\na,12 GB,1,2\n");
  roofcast.write("none.csv", "job,memory,time\n");
  const struct {
    std::vector<std::string> arguments;
    std::string message;
  } wrong[] = {
      {{}, "error: name a table, or draw with --lengths; not both"},
      {{"lengths.csv"}, "error: what is packed?"},
      {{"lengths.csv", "--lengths", "5", "--tokens", "9"}, "not both"},
      {{"lengths.csv", "--tokens", "9", "--memory", "8 GB"}, "error: --memory packs jobs"},
      {{"lengths.csv", "--tokens", "9", "--gpus", "2"}, "error: --gpus is of jobs"},
      {{"lengths.csv", "--tokens", "9", "--set", "a=1"}, "error: --set needs a --scenario"},
      {{"lengths.csv", "--tokens", "9", "--window", "4"}, "error: --window is of --order kept"},
      {{"lengths.csv", "--tokens", "0"}, "--tokens"},
      {{"--lengths", "{lognorma: 3}", "--tokens", "9"}, "did you mean \"lognormal\"?"},
      {{"--lengths", "5.5", "--tokens", "9"}, "--lengths:1:10: error: lengths: a whole number"},
      {{"unit.csv", "--memory", "80"}, "error: --memory 80: \"80\" has no unit"},
      {{"unit.csv", "--memory", "80 GB"},
       "unit.csv:2: error: memory: bytes above 0, such as 12 GB"},
      {{"time.csv", "--memory", "80 GB"}, "time.csv:2: error: time: seconds from 0 to 1e9"},
      {{"column.csv", "--memory", "80 GB"}, "column.csv:1: error: unknown column \"gpu\""},
      {{"none.csv", "--memory", "80 GB"}, "none.csv: error: a table without a job"},
      {{"lengths.csv", "--scenario", example("llama-8b_training")}, "rl.packing"}};
  for (const auto& each : wrong) {
    std::vector<std::string> arguments = each.arguments;
    arguments.insert(arguments.begin(), "pack");
    const Outcome outcome = roofcast.run(arguments);
    INFO(fmt::format("{}", fmt::join(arguments, " ")) << "\n" << outcome.err);
    CHECK(outcome.code == kBadInput);
    CHECK(contains(outcome.err, each.message));
  }
}

TEST_CASE("A job that is larger than a GPU by less than is shown has the difference", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("jobs.csv", "job,memory,time\na,10 GB,1\nc,80.0000001 GB,1\n");
  CHECK(contains(roofcast.run({"pack", "jobs.csv", "--memory", "80 GB"}).out,
                 "c needs 80 GB and 100 B more, a GPU has 80 GB"));
}

}  // namespace roofcast::cli::cli_pack_command
