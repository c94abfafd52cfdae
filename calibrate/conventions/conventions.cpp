// SPDX-License-Identifier: Apache-2.0
#include "calibrate/conventions/conventions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "base/csv/csv.hpp"
#include "base/document/fields.hpp"
#include "sim/scenario/knob.hpp"

namespace roofcast::calibrate {

std::span<const base::CatalogEntry> embedded_conventions();

base::Catalog convention_catalog() {
  return {"conventions", "convention", embedded_conventions(), nullptr, true};
}

bool fits_pattern(std::string_view pattern, std::string_view text) {
  std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) {
    return pattern == text;
  }
  if (!text.starts_with(pattern.substr(0, star))) {
    return false;
  }
  text.remove_prefix(star);
  // Each part between two stars where it first occurs; the last part at the end.
  while (true) {
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    if (star == std::string_view::npos) {
      return text.ends_with(pattern);
    }
    const std::size_t at = text.find(pattern.substr(0, star));
    if (at == std::string_view::npos) {
      return false;
    }
    text.remove_prefix(at + star);
  }
}

namespace {

using base::Node;

constexpr std::string_view kRun = "run.";  // begins what is no part of a scenario

struct Bound {
  std::string_view sign;
  double number = 0.0;
};

// Of "< 8", "<= 8", "> 8" or ">= 8".
std::optional<Bound> bound_of(std::string_view text) {
  const std::size_t end = text.find_first_not_of("<>=");
  if (text.empty() || (text[0] != '<' && text[0] != '>') || end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest =
      text.substr(std::min(text.find_first_not_of(' ', end), text.size()));
  const auto number = base::parse_number(rest);
  return number ? std::optional(Bound{text.substr(0, end), *number}) : std::nullopt;
}

bool fits_text(std::string_view wanted, std::string_view fact) {
  const auto bound = bound_of(wanted);
  if (!bound) {
    return fits_pattern(wanted, fact);
  }
  const auto number = base::parse_number(fact);
  if (!number) {
    return false;
  }
  return bound->sign == "<"    ? *number < bound->number
         : bound->sign == "<=" ? *number <= bound->number
         : bound->sign == ">"  ? *number > bound->number
                               : *number >= bound->number;
}

bool fits(const Node& wanted, std::string_view fact) {
  return wanted.is_sequence() ? std::any_of(wanted.items.begin(), wanted.items.end(),
                                            [&](const Node& n) { return fits_text(n.text, fact); })
                              : fits_text(wanted.text, fact);
}

std::span<const base::Entry> entries_of(const Node* group) {
  return group == nullptr ? std::span<const base::Entry>() : group->entries;
}

bool is_text_or_list(const Node& node) {
  return node.is_scalar() ||
         (node.is_sequence() && std::all_of(node.items.begin(), node.items.end(),
                                            [](const Node& item) { return item.is_scalar(); }));
}

// The entry of the catalog. Below the user's own one, the shipped one.
std::vector<Node> documents_of(const std::string& id) {
  const base::Catalog catalog = convention_catalog();
  std::vector<Node> documents = {base::load_entry(catalog, id)};
  const std::string& file = documents.front().place.source->name;
  const auto shipped =
      std::find_if(catalog.embedded.begin(), catalog.embedded.end(),
                   [&](const base::CatalogEntry& entry) { return entry.id == id; });
  if (shipped != catalog.embedded.end() && shipped->file != file) {
    documents.push_back(
        base::parse_document(std::string(shipped->file), std::string(shipped->text)));
  }
  return documents;
}

}  // namespace

Conventions::Conventions(std::vector<Node> documents) : documents_(std::move(documents)) {
  base::Problems problems;
  // The last one has the order of the topics.
  for (auto document = documents_.rbegin(); document != documents_.rend(); ++document) {
    read(*document, problems);
  }
  problems.throw_if_any();
}

Conventions::Conventions(const std::string& id) : Conventions(documents_of(id)) {}

std::vector<Conventions::Rule>& Conventions::rules_of(const std::string& topic) {
  const auto known = std::find_if(topics_.begin(), topics_.end(),
                                  [&](const auto& each) { return each.first == topic; });
  return known != topics_.end() ? known->second
                                : topics_.emplace_back(topic, std::vector<Rule>{}).second;
}

void Conventions::read(const Node& document, base::Problems& problems) {
  base::Fields file(document, "", problems);
  std::string title;
  std::string source;
  file.text("title", title);
  file.text("source", source, base::optional);
  const Node* topics = file.take("rules", base::required);
  file.end();
  for (const base::Entry& topic : entries_of(topics)) {
    std::vector<Rule>& below = rules_of(topic.key);
    std::vector<Rule> rules;
    const std::string path = "rules." + topic.key;
    if (!topic.value.is_sequence()) {
      problems.add(topic.value.place, path, "expects a list of rules");
    }
    for (const Node& item : topic.value.items) {
      base::Fields f(item, path, problems);
      std::string of_rule;
      const Rule rule{f.take("where"), f.take("set")};
      f.text("source", of_rule, source.empty() ? base::required : base::optional);
      f.end();
      for (const Node* group : {rule.where, rule.set}) {
        if (group != nullptr && !group->is_map()) {
          problems.add(group->place, path, "expects a group of keys");
        }
      }
      for (const base::Entry& wanted : entries_of(rule.where)) {
        if (!is_text_or_list(wanted.value)) {
          problems.add(wanted.value.place, path, "expects a text or a list of texts");
        }
      }
      rules.push_back(rule);
    }
    below.insert(below.begin(), rules.begin(), rules.end());
  }
}

std::size_t Conventions::rules() const {
  std::size_t count = 0;
  for (const auto& [topic, rules] : topics_) {
    count += rules.size();
  }
  return count;
}

Settings Conventions::settings(const Facts& facts) const {
  Settings chosen;
  // Without a rule that sets it, a path that some rule could set has an empty text.
  const auto could_be_set = [&](const std::string& path) {
    return std::any_of(topics_.begin(), topics_.end(), [&](const auto& topic) {
      return std::any_of(topic.second.begin(), topic.second.end(), [&](const Rule& rule) {
        return rule.set != nullptr && rule.set->find(path) != nullptr;
      });
    });
  };
  const auto value_of = [&](const base::Entry& wanted) -> std::string_view {
    if (const std::string* fact = facts.find(wanted.key)) {
      return *fact;
    }
    if (const Node* set = find(chosen, wanted.key)) {
      return set->text;
    }
    if (!could_be_set(wanted.key)) {
      base::Problems problems;
      problems.add(wanted.key_place, wanted.key, "is no fact of these runs, and no rule sets it");
      problems.throw_if_any();
    }
    return {};
  };
  for (const auto& [topic, rules] : topics_) {
    for (const Rule& rule : rules) {
      const auto wanted = entries_of(rule.where);
      if (std::all_of(wanted.begin(), wanted.end(),
                      [&](const base::Entry& e) { return fits(e.value, value_of(e)); })) {
        for (const base::Entry& entry : entries_of(rule.set)) {
          chosen.push_back(&entry);
        }
        break;
      }
    }
  }
  return chosen;
}

const Node* find(const Settings& settings, std::string_view path) {
  const auto found = std::find_if(settings.rbegin(), settings.rend(),
                                  [&](const base::Entry* entry) { return entry->key == path; });
  return found == settings.rend() ? nullptr : &(*found)->value;
}

void set(Node& scenario, const Settings& settings, base::Problems& problems) {
  for (const base::Entry* entry : settings) {
    if (!entry->key.starts_with(kRun)) {
      sim::set_knob(scenario, entry->key, entry->key_place, entry->value, problems);
    }
  }
}

Node run_settings(const Settings& settings, base::Problems& problems) {
  Node run;
  run.kind = Node::Kind::map;
  for (const base::Entry* entry : settings) {
    if (entry->key.starts_with(kRun)) {
      sim::set_knob(run, std::string_view(entry->key).substr(kRun.size()), entry->key_place,
                    entry->value, problems);
    }
  }
  return run;
}

}  // namespace roofcast::calibrate
