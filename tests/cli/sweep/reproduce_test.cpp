// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace roofcast::cli::cli_sweep_reproduce {
namespace {

void provide(const Program& roofcast) {
  roofcast.write("s.yaml", roofcast.output({"show", "example", "llama70b_h200_hbm"}));
  roofcast.write("llama-70b.yaml", roofcast.output({"show", "example", "llama-70b"}));
}

}  // namespace

TEST_CASE("What is made again is compared with the file that is named, not with its original",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  roofcast.output(
      {"sweep", "s.yaml", "--csv", "a.csv", "--report", "a.html", "--quiet", "--no-replay"});
  roofcast.shell("mkdir moved; cp a.* moved; sed -i '2s/,true,/,false,/' moved/a.csv");
  CHECK(roofcast.run({"reproduce", "a.csv"}).code == 0);
  const Outcome edited = roofcast.run({"reproduce", "moved/a.csv"});
  CHECK(edited.code == 3);
  CHECK(contains(edited.out,
                 "a.csv: it was changed after it was made; what is made now is what was "
                 "made then"));
  CHECK(contains(edited.out, "a.html: the same bytes"));
  // A good copy needs no original.
  roofcast.shell("cp a.csv moved/a.csv; rm a.csv a.html");
  CHECK(roofcast.run({"reproduce", "moved/a.csv"}).code == 0);
  CHECK(roofcast.run({"reproduce", "moved/a.html"}).code == 0);
  CHECK(roofcast.run({"reproduce", "moved/a.provenance.json"}).code == 0);
  roofcast.shell("mv moved/a.csv moved/b.csv; mv moved/a.provenance.json moved/b.provenance.json");
  CHECK(contains(roofcast.output({"reproduce", "moved/b.csv"}), "b.csv: the same bytes"));
  CHECK_FALSE(std::filesystem::exists(roofcast.path("a.csv")));
}

TEST_CASE("What is made again names the inputs that have changed", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  roofcast.output({"simulate", "llama-70b.yaml", "--csv", "a.csv"});
  roofcast.shell(
      "sed -i 's/hgx_h100/hgx_h200/; s/hgx_b200/hgx_h200/' llama-70b.yaml; echo '# mine' >> "
      "llama-70b.yaml");
  const Outcome changed = roofcast.run({"reproduce", "a.csv"});
  CHECK(contains(changed.out, "llama-70b.yaml has changed since"));
  roofcast.shell("rm llama-70b.yaml");
  const Outcome lost = roofcast.run({"reproduce", "a.csv"});
  CHECK(lost.code == 2);
  CHECK(contains(lost.out, "llama-70b.yaml has changed since"));
}

TEST_CASE("A result is made again with the catalog of the user that there was", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  std::filesystem::create_directories(roofcast.path("own/chips"));
  roofcast.write("own/chips/h200_sxm.yaml", roofcast.output({"show", "chip", "h200_sxm"}));
  roofcast.shell("sed -i 's/4.8 TB/20 TB/' own/chips/h200_sxm.yaml");
  roofcast.output({"sweep", "s.yaml", "--csv", "shipped.csv", "--quiet", "--no-replay"});
  CHECK(
      roofcast.shell("ROOFCAST_CATALOG=own roofcast sweep s.yaml --csv own.csv --quiet --no-replay")
          .code == 0);
  CHECK(roofcast.read("own.csv") != roofcast.read("shipped.csv"));
  CHECK(contains(roofcast.output({"reproduce", "own.csv"}), "/own, as then"));
  const Outcome shipped = roofcast.shell("ROOFCAST_CATALOG=own roofcast reproduce shipped.csv");
  CHECK(shipped.code == 0);
  CHECK(contains(shipped.out, "without ROOFCAST_CATALOG, as then"));
  roofcast.shell("sed -i 's/20 TB/21 TB/' own/chips/h200_sxm.yaml");
  const Outcome changed = roofcast.run({"reproduce", "own.csv"});
  CHECK(changed.code == 3);
  CHECK(contains(changed.out, "own/chips/h200_sxm.yaml has changed since"));
  CHECK(contains(changed.out, "own.csv: other bytes than now"));
  CHECK(contains(changed.out, "chips/h200_sxm of the catalog differs"));
  roofcast.shell("rm -r own");
  CHECK(contains(roofcast.run({"reproduce", "own.csv"}).out, "which is not there"));
}

TEST_CASE("A page and a JSON answer hold what made them, and are made again from it", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  for (const auto& [line, file] :
       {std::pair{"sweep s.yaml --csv a.csv --no-replay --json > sweep.json", "sweep.json"},
        {"report a.csv -o page.html --json > report.json", "page.html"},
        {"brief s.yaml -o brief.html --no-replay", "brief.html"},
        {"estimate llama-70b.yaml --set traffic.concurrency=7 --no-replay --json > e.json",
         "e.json"},
        {"simulate llama-70b.yaml --seed 5 --report run.html --json > run.json", "run.html"},
        {"solve llama-70b.yaml --vary traffic.concurrency=1..8 --until 'tpot_p95_s <= 0.02' "
         "--json > solve.json",
         "solve.json"},
        {"sensitivity llama-70b.yaml --report s.html", "s.html"},
        {"kernel gemm --m 512 --n 8192 --k 8192 --chip h100_sxm --json > k.json", "k.json"},
        {"collective all_reduce --system hgx_h100 --ranks 8 --bytes 1MB --vary protocol=LL,Simple "
         "--json > c.json",
         "c.json"},
        {"pareto a.csv --maximize throughput_tok_per_s_per_gpu --json > front.json", "front.json"},
        {"compare a.csv a.csv --json > same.json", "same.json"}}) {
    INFO(line);
    CHECK(roofcast.shell(std::string("roofcast ") + line).code == 0);
    const std::string copy = std::string("copy_of_") + file;
    roofcast.shell(std::string("mv ") + file + " " + copy);
    const Outcome same = roofcast.run({"reproduce", copy});
    INFO(same.out << same.err);
    CHECK(same.code == 0);
    CHECK(contains(same.out, copy + ": the same bytes"));
    roofcast.shell("echo >> " + copy);
    const Outcome edited = roofcast.run({"reproduce", copy});
    CHECK(edited.code == 3);
    CHECK(contains(edited.out, copy + ": other bytes than now"));
  }
  const auto answer = nlohmann::json::parse(roofcast.read("run.json"))["made_by"];
  CHECK(answer["seeds"]["traffic"] == 5);
  CHECK(answer["question"]["scenario"]["model"] == "llama-3.1-70b");
  CHECK(answer["inputs"][0]["path"] == "llama-70b.yaml");
}

TEST_CASE("The resolved question and its seeds are in the provenance of a CSV", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  roofcast.output({"simulate", "llama-70b.yaml", "--set", "traffic.concurrency=7", "--seed", "5",
                   "--csv", "a.csv"});
  const auto simulated = nlohmann::json::parse(roofcast.read("a.provenance.json"));
  CHECK(simulated["question"]["scenario"]["traffic"]["concurrency"] == 7);
  CHECK(simulated["seeds"]["traffic"] == 5);
  roofcast.output({"sweep", "s.yaml", "--csv", "b.csv", "--quiet", "--no-replay"});
  const auto swept = nlohmann::json::parse(roofcast.read("b.provenance.json"));
  CHECK(swept["question"]["sweep"]["base"]["model"] == "llama-3.1-70b");
  CHECK(swept["seeds"]["traffic"] == 1);
}

TEST_CASE("A row that ends with the id of its provenance can be traced after it was joined",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  roofcast.output({"sweep", "s.yaml", "--csv", "a.csv", "--quiet", "--no-replay"});
  roofcast.output({"sweep", "s.yaml", "--csv", "b.csv", "--quiet", "--no-replay", "--made-by"});
  const std::string id = nlohmann::json::parse(roofcast.read("b.provenance.json"))["id"];
  const base::CsvTable rows = base::read_csv(roofcast.path("b.csv"));
  CHECK(rows.columns().back() == "made_by");
  CHECK(cell(rows, 0, "made_by") == id);
  CHECK(cell(rows, rows.rows() - 1, "made_by") == id);
  CHECK(roofcast.shell("sed -i 's/,[^,]*$//' b.csv; cmp a.csv b.csv").code == 0);
  roofcast.output({"sweep", "s.yaml", "--csv", "c.csv", "--quiet", "--no-replay", "--threads", "1",
                   "--made-by"});
  CHECK(contains(roofcast.output({"compare", "a.csv", "c.csv"}), "60 rows"));
  CHECK(roofcast.run({"reproduce", "c.csv"}).code == 0);
}

TEST_CASE("A provenance from elsewhere makes no file of the user change", "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  provide(roofcast);
  roofcast.output({"sweep", "s.yaml", "--csv", "a.csv", "--quiet", "--no-replay"});
  auto provenance = nlohmann::json::parse(roofcast.read("a.provenance.json"));
  roofcast.write("victim.txt", "precious\n");
  std::filesystem::create_directories(roofcast.path("victim.csv.parts"));
  roofcast.write("victim.csv.parts/00000.csv", "precious\n");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"sweep", "s.yaml", "--csv", "a.csv", "--report", "victim.txt"},
        {"sweep", "s.yaml", "--csv", "victim.csv", "--resume"},
        {"estimate", "llama-70b.yaml", "--save", "victim.txt"},
        {"init", "victim.txt", "--force"}}) {
    INFO(command.front());
    provenance["command"] = command;
    roofcast.write("a.provenance.json", provenance.dump());
    const Outcome outcome = roofcast.run({"reproduce", "a.csv"});
    INFO(outcome.err);
    CHECK(outcome.code != 1);
    CHECK(roofcast.read("victim.txt") == "precious\n");
    CHECK(roofcast.read("victim.csv.parts/00000.csv") == "precious\n");
    CHECK(roofcast.shell("ls").out ==
          "a.csv\na.provenance.json\na.sweep.yaml\nllama-70b.yaml\ns.yaml\nvictim.csv.parts\n"
          "victim.txt\n");
  }
}

TEST_CASE("What is made again goes through no link, and a result behind a link is made again",
          "[cli]") {
  const Program roofcast;
  if (!roofcast.exists()) {
    return;
  }
  roofcast.write("s.yaml", roofcast.output({"show", "example", "llama70b_h200_hbm"}));
  roofcast.write("llama-70b.yaml", roofcast.output({"show", "example", "llama-70b"}));
  roofcast.shell("mkdir arch; touch arch/linked.csv; ln -s arch/linked.csv linked.csv");
  for (const char* csv : {"o.csv", "linked.csv"}) {
    roofcast.output({"sweep", "s.yaml", "--csv", csv, "--quiet", "--no-replay", "--force"});
  }
  roofcast.shell("mv o.csv o.sweep.yaml arch; ln -s arch/o.csv arch/o.sweep.yaml .");
  roofcast.shell("echo '# a note' >> arch/o.sweep.yaml; cat arch/* > before");
  CHECK(contains(roofcast.run({"reproduce", "o.csv"}).out,
                 "o.csv: the same bytes\no.sweep.yaml: it was changed after it was made; what is "
                 "made now is what was made then\n"));
  CHECK(roofcast.output({"reproduce", "linked.csv", "--quiet"}) ==
        "linked.csv: the same bytes\nlinked.sweep.yaml: the same bytes\n");
  CHECK(roofcast.shell("cat arch/* | cmp - before && ls arch").out ==
        "linked.csv\no.csv\no.sweep.yaml\n");
}

}  // namespace roofcast::cli::cli_sweep_reproduce
