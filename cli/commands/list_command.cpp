// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/nearest.hpp"
#include "cli/catalog/catalogs.hpp"
#include "cli/catalog/each_entry.hpp"
#include "cli/catalog/model_table.hpp"
#include "cli/catalog/scenario_keys.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/say.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/json_answer.hpp"
#include "hardware/calibration.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::cli {
namespace {

struct ListOptions {
  std::string kind;
  std::string word;
  bool csv = false;
  bool json = false;
};

// A table, and what its columns are called in JSON.
struct List {
  TextTable table;
  std::vector<std::string> keys;
};

// What an example answers, without loading what it refers to: its question, or the comment on top.
std::string answer_of(const base::Node& document) {
  if (const base::Node* question = document.find("question")) {
    return question->text;
  }
  std::istringstream text(document.place.source->text);
  std::string answer;
  for (std::string line; std::getline(text, line) && line.starts_with("# ");) {
    answer += (answer.empty() ? "" : " ") + line.substr(2);
    if (answer.ends_with('?') || answer.ends_with('.')) {
      break;
    }
  }
  return answer.empty() ? "scenario" : answer;
}

// Of which versions of the stacks each chip's kernels were measured, newest first.
std::string measured_versions() {
  TextTable table({"chip", "stack and measured versions of its kernels"});
  const base::Catalog catalog = hardware::calibration_catalog();
  each_entry(catalog, [&](const std::string& id) {
    const base::Node document = base::load_entry(catalog, id);
    const base::Node* newest = document.find("version");
    if (newest == nullptr) {
      return;
    }
    std::vector<std::string> versions = {newest->text};
    if (const base::Node* older = document.find("older_versions")) {
      for (const base::Node& item : older->items) {
        versions.push_back(item.find("version")->text);
      }
    }
    table.add({id.substr(0, id.find('.')),
               fmt::format("{} {}", document.find("stack")->text, fmt::join(versions, ", "))});
  });
  return table.text();
}

List catalog_list(const DocumentKind& kind) {
  const base::Catalog catalog = kind.catalog();
  List list{TextTable({std::string(catalog.kind), ""}), {"id", "description"}};
  each_entry(catalog, [&](const std::string& id) {
    const base::Node document = base::load_entry(catalog, id);
    list.table.add({id, catalog.kind == "examples" ? answer_of(document) : kind.check(document)});
  });
  return list;
}

List metric_list() {
  List list{TextTable({"metrics", "unit", "meaning"}), {"name", "unit", "meaning"}};
  for (const sim::Metric& metric : sim::metrics()) {
    if (metric.bounds.empty()) {  // `roofcast explain` names the ends of an interval
      list.table.add(
          {std::string(metric.name), std::string(metric.unit), std::string(metric.description)});
    }
  }
  for (const sim::TextMetric& text : sim::text_metrics()) {
    list.table.add({std::string(text.name), "", std::string(text.description)});
  }
  return list;
}

List knob_list() {
  List list{TextTable({"knobs", "takes"}), {"path", "takes"}};
  std::set<std::string> known;  // what only one kind of a list's entries has is named by each
  for (const Knob& knob : knobs_of(scenario_keys())) {
    const bool inner =
        knob.key.type == base::Key::Type::group && knob.key.single.empty();  // says nothing alone
    if (!inner && known.insert(knob.path).second) {
      list.table.add({knob.path, value_text(knob.key)});
    }
  }
  return list;
}

// The questions that the examples ask, each with the command that answers it.
List question_list() {
  List list{TextTable({"questions of", "command", "question"}), {"example", "command", "question"}};
  each_entry(example_catalog(), [&](const std::string& id) {
    const base::Node document = base::load_entry(example_catalog(), id);
    if (const base::Node* question = document.find("question")) {
      const char* command = document.find("workloads") != nullptr ? "compare"
                            : document.find("axes") != nullptr    ? "sweep"
                                                                  : "estimate";
      list.table.add({id, command, question->text});
    }
  });
  return list;
}

struct OtherList {
  std::string_view name;
  List (*list)();
};
constexpr OtherList kOther[] = {
    {"metrics", metric_list}, {"knobs", knob_list}, {"questions", question_list}};

// Rows with the word, in upper or lower case.
List only_with(const std::string& word, List list) {
  const auto has = [&](const std::string& cell) {
    return std::search(cell.begin(), cell.end(), word.begin(), word.end(), [](char a, char b) {
             return std::tolower(static_cast<unsigned char>(a)) ==
                    std::tolower(static_cast<unsigned char>(b));
           }) != cell.end();
  };
  const auto& rows = list.table.rows();
  List kept{TextTable(rows.front()), list.keys};
  for (std::size_t r = 1; r < rows.size(); ++r) {
    if (std::any_of(rows[r].begin(), rows[r].end(), has)) {
      kept.table.add(rows[r]);
    }
  }
  return kept;
}

nlohmann::ordered_json json_of(const List& list) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (std::size_t r = 1; r < list.table.rows().size(); ++r) {
    nlohmann::ordered_json row;
    for (std::size_t c = 0; c < list.keys.size(); ++c) {
      row[list.keys[c]] = list.table.rows()[r][c];
    }
    all.push_back(std::move(row));
  }
  return all;
}

const OtherList* other_named(const std::string& name) {
  const auto at = std::find_if(std::begin(kOther), std::end(kOther), [&](const OtherList& each) {
    return each.name == name || each.name == name + "s";
  });
  return at == std::end(kOther) ? nullptr : at;
}

const DocumentKind& catalog_named(const std::string& name) {
  std::vector<std::string_view> other;
  for (const OtherList& each : kOther) {
    other.push_back(each.name);
  }
  return kind_named(name, other);
}

List list_named(const std::string& name) {
  const OtherList* other = other_named(name);
  return other != nullptr ? other->list() : catalog_list(catalog_named(name));
}

int run_list(const ListOptions& options) {
  const bool models = !options.kind.empty() && other_named(options.kind) == nullptr &&
                      catalog_named(options.kind).name == "model";
  if (options.csv) {
    if (!options.kind.empty() && !models) {
      throw base::InputError("error: --csv lists models only\n");
    }
    print_model_csv(model_rows());
    return kDone;
  }
  std::vector<std::string> names;
  for (const DocumentKind& each : document_kinds()) {
    names.emplace_back(each.catalog().kind);
  }
  if (!options.kind.empty()) {
    names = {options.kind};
  }
  nlohmann::ordered_json json = json_answer();
  std::string_view gap;
  for (const std::string& name : names) {
    const List list = only_with(options.word, list_named(name));
    if (options.json) {
      json[name] = json_of(list);
    } else if (names.size() == 1 || options.word.empty() || list.table.rows().size() > 1) {
      const bool whole = options.word.empty() && (models || name == "models");
      say("{}{}", gap, whole ? model_text(model_rows()) : list.table.text());
      if (options.word.empty() && (name == "stacks" || name == "stack")) {
        say("\n{}", measured_versions());
      }
      gap = "\n";
    }
  }
  if (options.json) {
    print_json(json);
  }
  return kDone;
}

}  // namespace

void add_list(Command& app, Run& chosen) {
  auto* command =
      app.add_subcommand("list",
                         "Lists the entries of the catalog, metrics, knobs and questions\n"
                         "A knob is what --set and the axes of a sweep can change. `roofcast "
                         "explain` says more about a "
                         "metric, `roofcast show` prints an entry.");
  auto options = std::make_shared<ListOptions>();
  command
      ->add_option(
          "kind", options->kind,
          "chips, architectures, systems, prices, calibrated, models, precisions, stacks, "
          "trainers, failures, "
          "acceptance, "
          "scores, claims or examples; metrics, knobs or questions; default: all of the catalog")
      ->type_name(kKinds);
  command->add_option("word", options->word, "only lines with this text")->type_name(kText);
  command->add_flag("--csv", options->csv, "print the models as CSV, in SI units");
  command->add_json(options->json);
  command->footer(examples({"roofcast list", "roofcast list models --csv", "roofcast list metrics",
                            "roofcast list knobs bandwidth", "roofcast list questions --json"}));
  command->callback([&chosen, options] { chosen = [options] { return run_list(*options); }; });
}

}  // namespace roofcast::cli
