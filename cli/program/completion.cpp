// SPDX-License-Identifier: Apache-2.0
#include "cli/program/completion.hpp"

#include <algorithm>
#include <fstream>
#include <map>

#include "base/csv/csv.hpp"
#include "cli/catalog/catalogs.hpp"
#include "cli/program/usage.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/references.hpp"

namespace roofcast::cli {
namespace {

// How far the finished words lead.
struct Position {
  const CLI::App* command = nullptr;
  const CLI::Option* option = nullptr;  // whose value is to come
  bool option_has_value = false;        // so that something else may come instead
  bool only_arguments = false;          // after "--"
  std::vector<std::string> arguments;
};

const CLI::App* subcommand_named(const CLI::App& command, const std::string& name) {
  for (const CLI::App* each : subcommands(command)) {
    if (name_of(*each) == name) {
      return each;
    }
  }
  return nullptr;
}

const CLI::Option* option_named(const CLI::App& command, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  for (const CLI::Option* each : options(command)) {
    if (has_name(*each, name)) {
      return each;
    }
  }
  return nullptr;
}

void advance(Position& at, const std::string& word) {
  if (!at.only_arguments && word == "--") {
    at.only_arguments = true;
    at.option = nullptr;
  } else if (!at.only_arguments && word.size() > 1 && word.starts_with('-')) {
    const CLI::Option* option = option_named(*at.command, word);
    const bool complete = option == nullptr || !takes_value(*option) ||
                          (word.find('=') != std::string::npos && !takes_several(*option));
    at.option = complete ? nullptr : option;
    at.option_has_value = word.find('=') != std::string::npos;
  } else if (at.option != nullptr) {
    at.option = takes_several(*at.option) ? at.option : nullptr;
    at.option_has_value = true;
  } else if (const CLI::App* sub = subcommand_named(*at.command, word);
             sub != nullptr && at.arguments.empty()) {
    at.command = sub;
  } else {
    at.arguments.push_back(word);
  }
}

using Values = Proposals (*)(const std::vector<std::string>& arguments, const std::string& typed);

Proposals without_notes(const std::vector<std::string>& words, const std::string& before = "") {
  Proposals out;
  for (const std::string& word : words) {
    out.words.push_back({before + word, ""});
  }
  return out;
}

Proposals files(const std::vector<std::string>&, const std::string&) { return {{}, true}; }

// What only the user knows.
Proposals nothing(const std::vector<std::string>&, const std::string&) { return {}; }

Proposals kinds(const std::vector<std::string>&, const std::string&) {
  std::vector<std::string> names;
  for (const DocumentKind& kind : document_kinds()) {
    names.emplace_back(kind.name);
  }
  return without_notes(names);
}

Proposals plural_kinds(const std::vector<std::string>&, const std::string&) {
  std::vector<std::string> names;
  for (const DocumentKind& kind : document_kinds()) {
    names.emplace_back(kind.catalog().kind);
  }
  names.insert(names.end(), {"metrics", "knobs", "questions"});
  return without_notes(names);
}

Proposals ids(const std::vector<std::string>& arguments, const std::string&) {
  return arguments.empty()
             ? Proposals()
             : without_notes(base::catalog_ids(kind_named(arguments.back()).catalog()));
}

// Ids of one catalog, or files of the same kind.
template <base::Catalog (*catalog)()>
Proposals entries(const std::vector<std::string>&, const std::string&) {
  Proposals out = without_notes(base::catalog_ids(catalog()));
  out.files = true;
  return out;
}

// Only the first line is read: the table may be long. Compressed tables have the usual columns.
std::vector<std::string> columns_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string header;
  if (base::unpacked_name(file) == file && std::getline(in, header)) {
    return base::parse_csv(header + "\n", file).columns();
  }
  std::vector<std::string> names;
  for (const sim::Metric& metric : sim::metrics()) {
    names.emplace_back(metric.name);
  }
  return names;
}

Proposals columns(const std::vector<std::string>& arguments, const std::string&) {
  Proposals out;
  for (const std::string& name : columns_of(arguments.empty() ? "" : arguments.back())) {
    const sim::Metric* metric = sim::find_metric(name);
    out.words.push_back({name, metric != nullptr ? std::string(metric->description) : ""});
  }
  return out;
}

Proposals column_values(const std::vector<std::string>& arguments, const std::string& typed) {
  Proposals out = columns(arguments, typed);
  for (Proposal& each : out.words) {
    each.word += '=';
  }
  return out;
}

Proposals metric_names(const std::vector<std::string>&, const std::string&) {
  Proposals out;
  for (const sim::Metric& metric : sim::metrics()) {
    out.words.push_back({std::string(metric.name), std::string(metric.description)});
  }
  return out;
}

// What a knob that names a part can be set to.
Proposals knob_values(const std::string& path) {
  for (const DocumentKind& kind : document_kinds()) {
    if (!path.empty() && kind.place == path) {
      return without_notes(base::catalog_ids(kind.catalog()), path + "=");
    }
  }
  return {};
}

// One step of the path at a time, as a shell proposes directories; after "=" catalog ids.
Proposals knobs(const std::vector<std::string>& arguments, const std::string& typed) {
  if (const auto equals = typed.find('='); equals != std::string::npos) {
    return knob_values(typed.substr(0, equals));
  }
  Proposals out;
  if (arguments.empty()) {
    return out;
  }
  base::Node document = base::load_document(arguments.front());
  base::Problems ignored;
  sim::load_references(document, ignored);
  const auto dot = typed.rfind('.');
  const std::string above = dot == std::string::npos ? "" : typed.substr(0, dot);
  const base::Node* group = document.find_path(above);
  if (group == nullptr) {
    return out;
  }
  for (const auto& [key, place, value] : group->entries) {
    const std::string path = above.empty() ? key : above + "." + key;
    if (value.is_map()) {
      out.words.push_back({path + ".", ""});
    }
    if (!value.is_map() || !value.reference.empty()) {
      const std::string& now = value.is_map() ? value.reference : value.text;
      out.words.push_back({path + "=", now.substr(0, now.find('\n'))});
    }
  }
  return out;
}

const std::map<std::string_view, Values>& values_by_type() {
  static const std::map<std::string_view, Values> table = {
      {kFile, files},
      {kKind, kinds},
      {kKinds, plural_kinds},
      {kId, ids},
      {kColumn, columns},
      {kColumnValue, column_values},
      {kKnobValue, knobs},
      {kKnobRange, knobs},
      {kMetric, metric_names},
      {kCondition, metric_names},
      {kChip, entries<hardware::chip_catalog>},
      {kSystem, entries<hardware::system_catalog>},
      {kStack, entries<workloads::stack_catalog>},
      {kModel, entries<workloads::model_catalog>},
      {kPrecision, entries<workloads::precision_catalog>},
      {kNumber, nothing},
      {kText, nothing}};
  return table;
}

Proposals values(const CLI::Option& option, const Position& at, const std::string& typed) {
  if (const auto words = choices(option); !words.empty()) {
    return without_notes(words);
  }
  const auto known = values_by_type().find(value_type(option));
  try {
    return known == values_by_type().end() ? Proposals() : known->second(at.arguments, typed);
  } catch (const base::InputError&) {
    return {};
  }
}

void add(Proposals& all, Proposals more) {
  all.files = all.files || more.files;
  all.words.insert(all.words.end(), more.words.begin(), more.words.end());
}

Proposals option_names(const CLI::App& command) {
  Proposals out;
  for (const CLI::Option* option : options(command)) {
    for (const std::string& name : long_names(*option)) {
      out.words.push_back({"--" + name, description_of(*option)});
    }
  }
  return out;
}

// Commands, or the argument that comes next.
Proposals next(const Position& at, const std::string& typed) {
  Proposals out;
  for (const CLI::App* each : subcommands(*at.command)) {
    out.words.push_back({name_of(*each), summary(*each)});
  }
  const auto taken = arguments(*at.command);
  if (at.arguments.size() < taken.size()) {
    add(out, values(*taken[at.arguments.size()], at, typed));
  } else if (!taken.empty() && takes_several(*taken.back())) {
    add(out, values(*taken.back(), at, typed));
  } else if (subcommands(*at.command).empty()) {
    add(out, option_names(*at.command));
  }
  return out;
}

Proposals everything(const Position& at, const std::string& typed) {
  if (!at.only_arguments && typed.starts_with('-')) {
    const auto equals = typed.find('=');
    if (equals == std::string::npos) {
      return option_names(*at.command);
    }
    const CLI::Option* option = option_named(*at.command, typed);
    Proposals out = option == nullptr ? Proposals() : values(*option, at, typed.substr(equals + 1));
    for (Proposal& each : out.words) {
      each.word = typed.substr(0, equals + 1) + each.word;
    }
    return out;
  }
  if (at.option == nullptr) {
    return next(at, typed);
  }
  Proposals out = values(*at.option, at, typed);
  if (at.option_has_value) {
    add(out, next(at, typed));
  }
  return out;
}

}  // namespace

Proposals propose(const CLI::App& program, const std::vector<std::string>& words) {
  Position at;
  at.command = &program;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    advance(at, words[i]);
  }
  const std::string typed = words.empty() ? "" : words.back();
  Proposals out = everything(at, typed);
  std::erase_if(out.words, [&](const Proposal& each) { return !each.word.starts_with(typed); });
  return out;
}

bool knows_values(const CLI::Option& option) {
  return !choices(option).empty() || values_by_type().count(value_type(option)) != 0;
}

}  // namespace roofcast::cli
