// SPDX-License-Identifier: Apache-2.0
#include "base/document/schema.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document/recorder.hpp"

namespace roofcast::base {
namespace {

using Answers = Recorder::Answers;
using Question = Recorder::Question;

constexpr std::size_t kMostChanged = 3;  // answers of one run that differ from the first run's

bool is_below(std::string_view path, std::string_view group) {
  return group.empty() ||
         (path.starts_with(group) && path.size() > group.size() && path[group.size()] == '.');
}

// The innermost group that holds both.
std::string common_group(const std::string& a, const std::string& b) {
  std::string group = parent_of(a);
  while (!is_below(b, group)) {
    group = parent_of(group);
  }
  return group;
}

KeyPath below(const std::string& path, const std::string& group) {
  std::string_view rest(path);
  rest.remove_prefix(group.empty() ? 0 : group.size() + 1);
  KeyPath parts;
  for (auto dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
    parts.emplace_back(rest.substr(0, dot));
    rest.remove_prefix(dot + 1);
  }
  parts.emplace_back(rest);
  return parts;
}

Recorder run(const std::function<void(Fields&)>& read, Answers answers) {
  Recorder recorder(std::move(answers));
  Fields fields(recorder);
  read(fields);
  return recorder;
}

enum class State { absent, optional, required };

State state_of(const Recorder& run, const std::string& path) {
  const Key* key = run.find(path);
  return key == nullptr ? State::absent
                        : (key->need == required ? State::required : State::optional);
}

struct Exploration {
  std::vector<Recorder> runs;
  std::vector<std::string> order;                         // of every key of any run
  std::map<std::string, Question> questions;              // of any run
  std::set<std::pair<std::string, std::string>> decides;  // a question, a key
};

// The keys that one run names or requires and another does not, though both could.
std::vector<std::string> differences(const Recorder& a, const Recorder& b) {
  std::vector<std::string> found;
  for (const Recorder* run : {&a, &b}) {
    for (const std::string& path : run->order()) {
      if (a.reached(path) && b.reached(path) && state_of(a, path) != state_of(b, path)) {
        found.push_back(path);
      }
    }
  }
  return found;
}

Exploration explore(const std::function<void(Fields&)>& read) {
  Exploration all;
  std::set<Answers> done = {{}};
  std::deque<std::size_t> open = {0};  // runs whose answers are yet to be changed
  all.runs.push_back(run(read, {}));
  while (!open.empty()) {
    const Recorder from = all.runs[open.front()];
    open.pop_front();
    for (const auto& [path, question] : from.questions()) {
      if (from.answers().contains(path)) {
        continue;
      }
      for (std::size_t i = 1; i < question.answers.size(); ++i) {
        Answers answers = from.answers();
        answers[path] = i;
        Recorder changed = run(read, answers);
        const auto keys = differences(from, changed);
        for (const std::string& key : keys) {
          all.decides.emplace(path, key);
        }
        if (!done.insert(answers).second) {
          continue;
        }
        if (!keys.empty() && answers.size() < kMostChanged) {
          open.push_back(all.runs.size());
        }
        all.runs.push_back(std::move(changed));
      }
    }
  }
  for (const Recorder& one : all.runs) {
    all.questions.insert(one.questions().begin(), one.questions().end());
    for (const std::string& path : one.order()) {
      if (std::find(all.order.begin(), all.order.end(), path) == all.order.end()) {
        all.order.push_back(path);
      }
    }
  }
  return all;
}

// What all of some runs say about a key; nothing when none could name it or they differ.
std::optional<State> common_state(const std::vector<const Recorder*>& runs,
                                  const std::string& path) {
  std::optional<State> common;
  for (const Recorder* run : runs) {
    if (!run->reached(path)) {
      continue;
    }
    const State state = state_of(*run, path);
    if (common && *common != state) {
      return std::nullopt;
    }
    common = state;
  }
  return common;
}

// One key as all runs together have it.
Key merged(const Exploration& all, const std::string& path) {
  Key key;
  bool first = true;
  std::vector<const Recorder*> runs;
  for (const Recorder& run : all.runs) {
    runs.push_back(&run);
    const Key* found = run.find(path);
    if (found == nullptr) {
      continue;
    }
    if (first) {
      key = *found;
      first = false;
    }
    const bool is_group = found->type == Key::Type::group;
    if (is_group != (key.type == Key::Type::group)) {
      if (key.single.empty()) {
        const Key other = is_group ? key : *found;
        key = is_group ? *found : key;
        key.single.push_back(other);
      }
      continue;
    }
    if (key.type != found->type || !(key.dimension == found->dimension)) {
      key.type = Key::Type::any;
    }
    if (found->range.least < key.range.least) {
      key.range.open_below = found->range.open_below;
    }
    key.range.least = std::min(key.range.least, found->range.least);
    key.range.most = std::max(key.range.most, found->range.most);
    for (const std::string& choice : found->choices) {
      if (std::find(key.choices.begin(), key.choices.end(), choice) == key.choices.end()) {
        key.choices.push_back(choice);
      }
    }
  }
  key.need = common_state(runs, path) == State::required ? required : optional;
  key.name = path.substr(path.rfind('.') + 1);
  return key;
}

Key* key_at(Key& root, const std::string& path) {
  Key* key = &root;
  if (!path.empty()) {
    for (const std::string& name : below(path, "")) {
      key = &*std::find_if(key->below.begin(), key->below.end(),
                           [&](const Key& k) { return k.name == name; });
    }
  }
  return key;
}

// Whether a list lies between a group and a key below it.
bool through_a_list(Key& root, const std::string& group, const std::string& path) {
  for (std::string above = parent_of(path); above != group; above = parent_of(above)) {
    if (key_at(root, above)->type == Key::Type::list) {
      return true;
    }
  }
  return false;
}

// Other keys of the group whose presence decides whether a question is asked: in all runs that ask it they are there,
// or in none, and not so in another run.
std::vector<std::pair<std::string, bool>> deciding_presence(const Exploration& all,
                                                            const std::string& question_path) {
  std::vector<std::pair<std::string, bool>> deciding;
  for (const auto& [path, question] : all.questions) {
    if (question.kind != Question::Kind::presence || path == question_path ||
        parent_of(path) != parent_of(question_path)) {
      continue;
    }
    std::set<bool> where_asked;
    std::set<bool> anywhere;
    bool always = true;
    for (const Recorder& run : all.runs) {
      const bool both = run.questions().contains(path);
      const bool given = !run.answers().contains(path);
      if (both) {
        anywhere.insert(given);
      }
      if (run.questions().contains(question_path)) {
        always = always && both;
        where_asked.insert(given);
      }
    }
    if (always && where_asked.size() == 1 && anywhere.size() == 2) {
      deciding.emplace_back(path, *where_asked.begin());
    }
  }
  return deciding;
}

void add_conditions(Key& root, const Exploration& all, const std::string& question_path,
                    std::size_t answer) {
  const Question& question = all.questions.at(question_path);
  std::vector<const Recorder*> runs;
  for (const Recorder& run : all.runs) {
    const auto given = run.answers().find(question_path);
    const std::size_t given_answer = given == run.answers().end() ? 0 : given->second;
    if (run.questions().contains(question_path) && given_answer == answer) {
      runs.push_back(&run);
    }
  }
  std::map<std::string, Condition> by_group;
  for (const std::string& path : all.order) {
    if (!all.decides.contains({question_path, path})) {
      continue;
    }
    const std::string group = common_group(question_path, path);
    if (through_a_list(root, group, question_path) || through_a_list(root, group, path)) {
      continue;
    }
    const auto state = common_state(runs, path);
    if (state == State::required) {
      by_group[group].required.push_back(below(path, group));
    } else if (state == State::absent) {
      by_group[group].unknown.push_back(below(path, group));
    }
  }
  for (auto& [group, condition] : by_group) {
    condition.key = below(question_path, group);
    condition.value = question.answers[answer];
    condition.on_presence = question.kind == Question::Kind::presence;
    for (const auto& [path, given] : deciding_presence(all, question_path)) {
      condition.also_present.emplace_back(below(path, group), given);
    }
    key_at(root, group)->conditions.push_back(std::move(condition));
  }
}

}  // namespace

Key describe(const std::function<void(Fields&)>& read) {
  const Exploration all = explore(read);
  Key root{.type = Key::Type::group};
  for (const std::string& path : all.order) {
    key_at(root, parent_of(path))->below.push_back(merged(all, path));
  }
  for (const auto& [path, question] : all.questions) {
    if (question.kind != Question::Kind::number && question.kind != Question::Kind::shape) {
      for (std::size_t i = 0; i < question.answers.size(); ++i) {
        add_conditions(root, all, path, i);
      }
    }
  }
  return root;
}

}  // namespace roofcast::base
