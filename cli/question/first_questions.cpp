// SPDX-License-Identifier: Apache-2.0
#include "cli/question/first_questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <iterator>
#include <ostream>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units/unit_text.hpp"
#include "cli/text/quoted.hpp"
#include "cli/text/scenario_text.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/section_readers.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/scenario/usual_sections.hpp"

namespace roofcast::cli {
namespace {

using base::Node;

// Reports what is wrong with an answer; nothing where it will do.
using Check = std::string (*)(FirstAnswers& answers, const std::string& answer);

std::string wrong_reference(const char* section, const std::string& name) {
  Node document;
  document[section] = base::scalar_node(
      name, {std::make_shared<const base::Source>(base::Source{"answer", name, {}}), {}});
  base::Problems problems;
  sim::load_at(document, section, problems);
  return problems.size() > 0 ? problems.text() : "";
}

std::string take_model(FirstAnswers& answers, const std::string& answer) {
  answers.said.model = answer;
  return answer.empty() ? "a model is needed\n" : wrong_reference("model", answer);
}

// "hgx_h200 8"
std::string take_system(FirstAnswers& answers, const std::string& answer) {
  std::istringstream words(answer);
  words >> answers.said.system;
  const std::string wrong = answers.said.system.empty()
                                ? "a system is needed\n"
                                : wrong_reference("system", answers.said.system);
  if (!(words >> answers.said.gpus)) {
    answers.said.gpus = 1;
  }
  return wrong.empty() && answers.said.gpus < 1 ? "the number of GPUs must be 1 or more\n" : wrong;
}

// What the answers make of the traffic.
std::string wrong_traffic(const FirstAnswers& answers) {
  Node document;
  document.kind = Node::Kind::map;
  base::Problems problems;
  ScenarioOptions lengths = answers.said;
  lengths.model.clear();
  set_model_and_traffic(document, lengths, problems);
  if (!says_load(document)) {
    document["traffic"]["concurrency"] = base::scalar_node("1", document.place);
  }
  sim::read_stream(document, problems);
  return problems.size() > 0 ? problems.text() : "";
}

// "2000 500 64" with clients, "2000 500 4 /s" with requests that arrive.
std::string take_traffic(FirstAnswers& answers, const std::string& answer) {
  std::istringstream words(answer);
  ScenarioOptions& said = answers.said;
  std::string load;
  words >> said.input >> said.output >> std::ws;
  std::getline(words, load);
  if (said.output.empty()) {
    return "two lengths are needed: 2000 500\n";
  }
  const bool arrives = load.find("/s") != std::string::npos;
  for (const std::string_view unit : {" clients", " client"}) {
    load = load.ends_with(unit) ? load.substr(0, load.size() - unit.size()) : load;
  }
  said.rate = arrives ? load : "";
  said.clients = arrives ? "" : load;
  return wrong_traffic(answers);
}

std::string wrong_time(const std::string& text) {
  const base::ParsedQuantity time = base::parse_quantity(text, base::dimension_of<base::Seconds>());
  return !time.ok()       ? fmt::format("{}: {}\n", text, time.error)
         : time.si <= 0.0 ? fmt::format("{}: must be more than 0\n", text)
                          : "";
}

// "1s 30ms", "1s", or nothing.
std::string take_limits(FirstAnswers& answers, const std::string& answer) {
  std::istringstream words(answer);
  answers.said.ttft.clear();
  answers.said.tpot.clear();
  words >> answers.said.ttft >> answers.said.tpot;
  std::string wrong;
  for (const std::string* time : {&answers.said.ttft, &answers.said.tpot}) {
    wrong += time->empty() ? "" : wrong_time(*time);
  }
  return wrong;
}

bool is_findable(const std::string& name) {
  return std::any_of(std::begin(kFindable), std::end(kFindable),
                     [&](const Findable& findable) { return name == findable.name; });
}

std::string take_find(FirstAnswers& answers, const std::string& answer) {
  answers.find = answer.empty() ? kFindable[0].name : answer;
  if (is_findable(answers.find)) {
    return "";
  }
  std::string names;
  for (const Findable& findable : kFindable) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", findable.name);
  }
  return fmt::format("\"{}\" is none of {}\n", answer, names);
}

struct Question {
  const char* text;
  bool (*is_answered)(const FirstAnswers& answers);
  Check take;
};

constexpr Question kQuestions[] = {
    {"1 of 5  Which model? An id of `roofcast list models`, or the path of a config.json.",
     [](const FirstAnswers& a) { return !a.said.model.empty(); }, take_model},
    {"2 of 5  Which system, and how many of its GPUs? ID 8, with an id of `roofcast list "
     "systems`.",
     [](const FirstAnswers& a) { return !a.said.system.empty(); }, take_system},
    {"3 of 5  Tokens of a prompt and of an answer, then clients or a rate: 2000 500 64, or 2000 "
     "500 4 /s",
     [](const FirstAnswers& a) { return !a.said.input.empty() && !a.said.output.empty(); },
     take_traffic},
    {"4 of 5  At most what TTFT and TPOT for 95 % of the requests? For example: 1s 30ms. Empty: "
     "no limit.",
     [](const FirstAnswers& a) { return !a.said.ttft.empty() || !a.said.tpot.empty(); },
     take_limits},
    {"5 of 5  What to find?", [](const FirstAnswers& a) { return !a.find.empty(); }, take_find},
};

const char* comment_on(std::string_view section) {
  return section == "system"       ? "the hardware: roofcast list systems, roofcast show system ID"
         : section == "model"      ? "roofcast list models; the path of a config.json works too"
         : section == "precision"  ? "roofcast list precisions"
         : section == "deployment" ? "GPUs of one replica; roofcast recommend finds the best"
         : section == "serving"    ? "the serving software: roofcast list stacks"
                                   : "lengths, load and limits; lengths may be distributions";
}

}  // namespace

void ask(std::istream& in, std::ostream& out, FirstAnswers& answers) {
  for (const Question& question : kQuestions) {
    if (question.is_answered(answers)) {
      continue;
    }
    for (bool is_known = false; !is_known;) {
      out << question.text << "\n";
      if (question.take == take_find) {
        for (const Findable& findable : kFindable) {
          out << fmt::format("        {:<12}{}{}\n", findable.name, findable.what,
                             &findable == kFindable ? " (default)" : "");
        }
      }
      out << "> " << std::flush;
      std::string answer;
      if (!std::getline(in, answer)) {
        throw base::InputError("error: the input ended before the questions did\n");
      }
      FirstAnswers taken = answers;
      const std::string wrong = question.take(taken, answer);
      out << wrong;
      is_known = wrong.empty();
      if (is_known) {
        answers = std::move(taken);
      }
    }
  }
}

std::string missing_options(const FirstAnswers& answers) {
  std::string missing;
  for (const auto& [option, value] : {std::pair{"--model", &answers.said.model},
                                      {"--system", &answers.said.system},
                                      {"--input", &answers.said.input},
                                      {"--output", &answers.said.output}}) {
    missing += value->empty() ? fmt::format("{}{}", missing.empty() ? "" : ", ", option) : "";
  }
  return missing;
}

std::string next_command(const FirstAnswers& answers, const std::string& file) {
  const std::string& find = answers.find;
  if (find == "requests") {
    return fmt::format("roofcast simulate {}", file);
  }
  if (find == "limits") {
    return fmt::format("roofcast sensitivity {}", file);
  }
  std::string limits;
  if (find == "deployment") {
    for (const auto& [option, limit] :
         {std::pair{"--ttft-p95", &answers.said.ttft}, {"--tpot-p95", &answers.said.tpot}}) {
      limits += limit->empty() ? "" : fmt::format(" {} {}", option, *limit);
    }
    return fmt::format("roofcast recommend {} --gpus {}{}", file,
                       std::max<std::int64_t>(answers.said.gpus, 1), limits);
  }
  if (find != "clients") {
    return fmt::format("roofcast estimate {}", file);
  }
  for (const auto& [metric, limit] :
       {std::pair{"ttft_p95", &answers.said.ttft}, {"tpot_p95", &answers.said.tpot}}) {
    limits += limit->empty() ? "" : fmt::format(" --until '{} <= {}'", metric, *limit);
  }
  return fmt::format("roofcast solve {} --vary traffic.concurrency{}", file,
                     limits.empty() ? " --until 'tpot_p95 <= 50ms'" : limits);
}

std::string commented_scenario(const FirstAnswers& answers, const std::string& next) {
  for (const std::string* time : {&answers.said.ttft, &answers.said.tpot}) {
    if (const std::string wrong = time->empty() ? "" : wrong_time(*time); !wrong.empty()) {
      throw base::InputError("error: " + wrong);
    }
  }
  const Node document = described_scenario(answers.said, "init");
  const sim::Scenario s = sim::read_streamed_scenario(document).scenario;
  std::string text = comment_line(fmt::format("{}, {}", title(s), load_text(s))) +
                     comment_line("Written by roofcast init. Next: " + next);
  for (const auto name : sim::kSectionNames) {
    const Node* section = document.find(name);
    if (section == nullptr) {
      continue;
    }
    Node alone;
    alone[name] = *section;
    text += fmt::format("\n# {}\n{}", comment_on(name), base::to_yaml(alone));
  }
  return text;
}

}  // namespace roofcast::cli
