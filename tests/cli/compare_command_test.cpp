// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_compare_command {
namespace {

// The same sweep over a chip with other memory: what a change of the simulator would be.
void write_results(const Program& roofcast) {
  for (const auto& [name, factor] : {std::pair{"old", "x1"}, std::pair{"new", "x0.9"}}) {
    roofcast.write(std::string(name) + ".yaml",
                   "base:\n"
                   "  system: hgx_h200\n  model: llama-3.1-70b\n  precision: fp8\n"
                   "  deployment: {tensor_parallel: 8}\n  serving: {stack: vllm}\n"
                   "  traffic: {input_tokens: 2048, output_tokens: 512, concurrency: 64}\n"
                   "axes:\n"
                   "  both: {a: {system.chip.hbm.bandwidth: " +
                       std::string(factor) +
                       "}}\n"
                       "  deployment.tensor_parallel: [1, 8]\n"
                       "  traffic.concurrency: [1, 64]\n"
                       "where: [fits]\n");
    roofcast.output(
        {"sweep", std::string(name) + ".yaml", "--csv", std::string(name) + ".csv", "--quiet"});
  }
}

}  // namespace

TEST_CASE("less memory bandwidth is a loss of every row, and a gate refuses it", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  write_results(roofcast);
  const Outcome worse = roofcast.run({"compare", "old.csv", "new.csv", "--strict", "--metric",
                                      "tpot_mean_s", "ttft_mean_s", "--csv", "c.csv"});
  CHECK(worse.code == 3);
  CHECK(contains(worse.out, "4 rows: 4 loss\n"));
  CHECK(contains(worse.out, "matched by both, deployment.tensor_parallel, traffic.concurrency\n"));
  const base::CsvTable rows = base::read_csv(roofcast.path("c.csv"));
  REQUIRE(rows.rows() == 4);
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    CHECK(cell(rows, row, "change") == "loss");
    CHECK(cell(rows, row, "metric") == "tpot_mean_s");
    CHECK(number(rows, row, "moved") > 0.01);
    CHECK(number(rows, row, "new_tpot_mean_s") ==
          Approx(number(rows, row, "old_tpot_mean_s") * (1.0 + number(rows, row, "moved"))));
  }
  CHECK(roofcast.run({"compare", "old.csv", "new.csv"}).code == 0);
  CHECK(
      roofcast.run({"compare", "new.csv", "old.csv", "--strict", "--metric", "tpot_mean_s"}).code ==
      0);
  CHECK(roofcast.run({"compare", "old.csv", "new.csv", "--strict", "--tolerance", "40%"}).code ==
        0);
  const Outcome equal = roofcast.run({"compare", "old.csv", "old.csv", "--strict"});
  CHECK(equal.code == 0);
  CHECK(contains(equal.out, "4 rows: 4 same\n"));
}

TEST_CASE("tables of others are compared by what is said of their columns", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("old.csv", "size,run,us,GB/s\n8,x,10,1.0\n16,x,11,2.0\n32,x,12,3.0\n");
  roofcast.write("new.csv", "size,run,us,GB/s\n8,y,10.05,1.0\n16,y,14,2.5\n");
  const Outcome outcome = roofcast.run({"compare", "old.csv", "new.csv", "--key", "size",
                                        "--minimize", "us", "--maximize", "GB/s", "--strict"});
  CHECK(outcome.code == 3);
  CHECK(contains(outcome.out, "3 rows: 1 missing, 1 loss, 1 drift\n"));
  // Without a key the name of the run tells rows apart.
  const std::string apart = roofcast.output({"compare", "old.csv", "new.csv", "--minimize", "us"});
  CHECK(contains(apart, "5 rows: 3 missing, 2 new\n"));
}

TEST_CASE("A row that no longer meets its conditions is listed with the new reason", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("old.csv", "size,meets,reason,tpot_mean_s\n8,true,,0.01\n16,false,old one,0.02\n");
  roofcast.write("new.csv",
                 "size,meets,reason,tpot_mean_s\n8,false,misses ttft_p95_s <= 1: 1.2,0.005\n"
                 "16,false,new one,0.02\n");
  const std::string out = roofcast.output({"compare", "old.csv", "new.csv", "--key", "size"});
  CHECK(contains(out, "1 no longer meets"));
  CHECK(contains(out, "misses ttft_p95_s <= 1: 1.2"));
  CHECK_FALSE(contains(out, "old one"));
}

TEST_CASE("A roadmap with a workload that does not run says its weight, and fails when strict",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write(
      "roadmap.yaml",
      "workloads:\n"
      "  chat:\n"
      "    weight: 3\n"
      "    base: {system: hgx_h200, model: llama-3.1-8b, precision: fp8, deployment: "
      "{tensor_parallel: 1}, serving: {stack: vllm}, traffic: {input_tokens: 512, "
      "output_tokens: 64, concurrency: 4}}\n"
      "    where: ['tpot_mean_s <= 1e-9']\n"
      "  long:\n"
      "    base: {system: hgx_h200, model: llama-3.1-8b, precision: fp8, deployment: "
      "{tensor_parallel: 1}, serving: {stack: vllm}, traffic: {input_tokens: 512, "
      "output_tokens: 64, concurrency: 4}}\n"
      "options: {more: {system.chip.hbm.bandwidth: x1.5}}\n"
      "features: {a: {system.chip.compute.sms: 140}, b: {system.chip.compute.sms: 150}}\n");
  const Outcome outcome = roofcast.run({"compare", "roadmap.yaml", "--no-replay", "--strict"});
  CHECK(outcome.code == 3);
  CHECK(contains(outcome.out, "chat (weight 3) is left out of all gains"));
  CHECK(contains(outcome.out, "a and b both set system.chip.compute.sms"));
}

TEST_CASE("compare says what it cannot make sense of", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("a.csv", "size,us,utilisation\n8,10,1\n8,11,1\n");
  const auto refused = [&](std::vector<std::string> options, const std::string& said) {
    options.insert(options.begin(), {"compare", "a.csv", "a.csv"});
    const Outcome outcome = roofcast.run(options);
    INFO(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, said));
  };
  refused({}, "share no metric");
  refused({"--metric", "us"}, "--maximize or --minimize");
  refused({"--metric", "utilisation"}, "--maximize or --minimize");
  refused({"--metric", "u"}, "no column \"u\"");
  refused({"--minimize", "us"}, "rows 1 and 2 have one key, size=8");
  refused({"--minimize", "us", "--maximize", "us"}, "named twice");
  refused({"--minimize", "us", "--tolerance", "0.1"}, "expects a share such as 1%");
  refused({"--minimize", "us", "--tolerance", "size=1%"}, "\"size\" is not compared");
  CHECK(roofcast.run({"compare", "a.csv"}).code == 2);
  CHECK(contains(roofcast.run({"compare", "a.csv", "b.csv"}).err, "b.csv"));
}

TEST_CASE("pareto against an older file says by how much the front moved", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("old.csv", "id,tok,s,meets\n1,1,1,true\n2,2,4,true\n3,3,9,true\n4,9,1,false\n");
  roofcast.write("new.csv", "id,tok,s,meets\n1,1,0.5,true\n2,2,2,true\n3,3,4.5,true\n");
  const std::string out = roofcast.output(
      {"pareto", "new.csv", "--maximize", "tok", "--minimize", "s", "--against", "old.csv"});
  CHECK(contains(out, "3 of 3 rows on the front\n"));
  CHECK(contains(out, "Against old.csv, 3 points on its front\n"));
  CHECK(contains(out, "old points: 3 beaten, 0 equalled, 0 not reached"));
  CHECK(contains(out, "new points: 0 beaten, 0 equalled, 3 not reached"));
  CHECK(contains(out, " 3  x0.5    x0.5   x0.5\n"));
}

TEST_CASE("pareto keeps to its conditions, and to few points where they stand for all", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("r.csv",
                 "id,fits,tok,s,gpus\n1,true,100,1,1\n2,true,101,1.01,1\n3,true,102,1.02,1\n"
                 "4,true,200,4,1\n5,false,900,1,1\n6,true,300,9,8\n");
  const auto ids = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"pareto", "r.csv", "--maximize", "tok", "--minimize", "s",
                                     "--csv", "f.csv", "--force"});
    roofcast.output(options);
    const base::CsvTable front = base::read_csv(roofcast.path("f.csv"));
    std::string all;
    for (std::size_t row = 0; row < front.rows(); ++row) {
      all += cell(front, row, "id");
    }
    return all;
  };
  CHECK(ids({}) == "5");
  CHECK(ids({"--where", "fits"}) == "12346");
  CHECK(ids({"--where", "fits", "--where", "gpus < 8"}) == "1234");
  CHECK(ids({"--where", "fits", "--epsilon", "tok=10%", "--epsilon", "s=10%"}).size() == 3);
  const auto refused = [&](std::vector<std::string> options, const std::string& said) {
    options.insert(options.begin(), {"pareto", "r.csv", "--maximize", "tok"});
    const Outcome outcome = roofcast.run(options);
    INFO(outcome.err);
    CHECK(outcome.code == 2);
    CHECK(contains(outcome.err, said));
  };
  refused({"--where", "gpu < 8"}, "did you mean \"gpus\"");
  refused({"--where", "gpus < few"}, "\"few\" is not a number");
  refused({"--epsilon", "s=1%"}, "one of tok");
  refused({"--epsilon", "tok=-1%"}, "expects a share");
  refused({"--reference", "tok=x"}, "expects a number");
  refused({"--reference", "tok=1000"}, "no row is better");
  refused({"--by", "gpus", "--against", "r.csv"}, "leave out --by");
}

TEST_CASE("Each gain of a roadmap says whether it was replayed", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("roadmap.yaml",
                 "workloads:\n"
                 "  chat:\n"
                 "    base: {system: hgx_h200, model: llama-3.1-8b, precision: fp8, deployment: "
                 "{tensor_parallel: 1}, serving: {stack: vllm}, traffic: {input_tokens: 512, "
                 "output_tokens: 64, concurrency: 8}}\n"
                 "options: {faster: {system.chip.hbm.bandwidth: x1.5}}\n"
                 "features: {wider: {system.chip.hbm.bandwidth: x1.2}}\n");
  for (const bool replay : {true, false}) {
    std::vector<std::string> words = {"compare", "roadmap.yaml", "--csv", "r.csv", "--force"};
    if (!replay) {
      words.emplace_back("--no-replay");
    }
    const std::string verdict = replay ? "confirmed" : "estimated only";
    CHECK(contains(roofcast.output(words), "together (" + verdict));
    const base::CsvTable rows = base::read_csv(roofcast.path("r.csv"));
    REQUIRE(rows.rows() == 5);
    for (std::size_t row = 0; row < rows.rows(); ++row) {
      CHECK(cell(rows, row, "replay") == verdict);
      CHECK(cell(rows, row, "replayed_gain").empty() != replay);
    }
    words[2] = "--json";
    words.erase(words.begin() + 3);
    const auto json = nlohmann::json::parse(roofcast.output(words));
    CHECK(json["options"][0]["replay"] == verdict);
    CHECK(json["options"][0]["workloads"][0]["replay"] == verdict);
    CHECK(json["order"][0]["replay"] == verdict);
    CHECK(json["features"][0]["replay"] == "estimated only");
    words = {"brief", "roadmap.yaml"};
    if (!replay) {
      words.emplace_back("--no-replay");
    }
    CHECK(contains(roofcast.output(words), "The gain of faster over the portfolio is " + verdict));
  }
}

}  // namespace roofcast::cli::cli_compare_command
