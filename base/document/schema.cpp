// SPDX-License-Identifier: Apache-2.0
#include "base/document/schema.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document/recorder.hpp"

namespace roofcast::base {
namespace {

using Answers = Recorder::Answers;
using Question = RecordedPaths::Question;

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

enum class State { absent, optional, required };

State state_of(const Recorder& run, std::size_t path) {
  const Key* key = run.find(path);
  return key == nullptr ? State::absent
                        : (key->need == required ? State::required : State::optional);
}

struct Exploration {
  RecordedPaths paths;
  std::deque<Recorder> runs;
  std::vector<std::size_t> order;                        // of every key of any run
  std::map<std::size_t, std::set<std::size_t>> decides;  // a question: keys

  const std::string& name(std::size_t path) const { return paths.paths[path].name; }
  std::vector<std::size_t> by_name(std::vector<std::size_t> some) const {
    std::sort(some.begin(), some.end(),
              [&](std::size_t a, std::size_t b) { return name(a) < name(b); });
    return some;
  }
};

// The keys that one run names or requires and another does not, though both could.
std::vector<std::size_t> differences(const Recorder& a, const Recorder& b) {
  std::vector<std::size_t> found;
  for (const Recorder* run : {&a, &b}) {
    for (const std::size_t path : run->order()) {
      if (a.reached(path) && b.reached(path) && state_of(a, path) != state_of(b, path)) {
        found.push_back(path);
      }
    }
  }
  return found;
}

class Explorer {
 public:
  Explorer(const std::function<void(Fields&)>& read, Exploration& all) : read_(read), all_(all) {}

  void explore() {
    open_ = {&run({})};
    while (!open_.empty()) {
      const Recorder& from = *open_.front();
      open_.pop_front();
      change_answers(from);
    }
    std::vector<bool> known(all_.paths.paths.size());
    for (const Recorder& one : all_.runs) {
      for (const std::size_t path : one.order()) {
        if (!known[path]) {
          known[path] = true;
          all_.order.push_back(path);
        }
      }
    }
  }

 private:
  using Paths = std::vector<std::size_t>;

  const Recorder& run(const Answers& answers) {
    const Recorder*& known = done_[answers];
    if (known == nullptr) {
      all_.runs.emplace_back(all_.paths, answers);
      Fields fields(all_.runs.back());
      read_(fields);
      known = &all_.runs.back();
    }
    return *known;
  }

  std::size_t answers_to(std::size_t path) const {
    return all_.paths.paths[path].question->answers.size();
  }
  // Was changed in another run, and has decided nothing yet.
  bool is_idle(std::size_t path) const {
    const auto known = all_.decides.find(path);
    return known != all_.decides.end() && known->second.empty();
  }

  void change_answers(const Recorder& from) {
    Paths idle;
    for (const std::size_t path : all_.by_name(from.questions())) {
      if (from.answers().contains(path)) {
        continue;
      }
      if (is_idle(path)) {
        idle.push_back(path);
        continue;
      }
      for (std::size_t i = 1; i < answers_to(path); ++i) {
        change_one(from, path, i);
      }
    }
    for (std::size_t i = 1; !idle.empty(); ++i) {
      std::erase_if(idle, [&](std::size_t path) { return i >= answers_to(path); });
      change_together(from, idle, i);
    }
  }

  void change_one(const Recorder& from, std::size_t path, std::size_t answer) {
    Answers answers = from.answers();
    answers[path] = answer;
    const std::size_t before = all_.runs.size();
    const Recorder& changed = run(answers);
    const Paths keys = differences(from, changed);
    all_.decides[path].insert(keys.begin(), keys.end());
    if (all_.runs.size() > before && !keys.empty() && answers.size() < kMostChanged) {
      open_.push_back(&changed);
    }
  }

  // Where one run with all of them changed has the keys of `from`, none of them decides anything there.
  void change_together(const Recorder& from, const Paths& some, std::size_t answer) {
    if (some.size() < 2) {
      for (const std::size_t path : some) {
        change_one(from, path, answer);
      }
      return;
    }
    Answers answers = from.answers();
    for (const std::size_t path : some) {
      answers[path] = answer;
    }
    const std::size_t before = all_.runs.size();
    const Recorder& changed = run(answers);
    if (differences(from, changed).empty()) {
      Paths hidden;  // below a group that another answer takes away
      std::copy_if(some.begin(), some.end(), std::back_inserter(hidden),
                   [&](std::size_t path) { return !changed.asks(path); });
      change_together(from, hidden, answer);
      return;
    }
    if (all_.runs.size() > before) {
      done_.erase(answers);
      all_.runs.pop_back();
    }
    const auto half = some.begin() + static_cast<std::ptrdiff_t>(some.size() / 2);
    change_together(from, {some.begin(), half}, answer);
    change_together(from, {half, some.end()}, answer);
  }

  const std::function<void(Fields&)>& read_;
  Exploration& all_;
  std::map<Answers, const Recorder*> done_;
  std::deque<const Recorder*> open_;  // runs whose answers are yet to be changed
};

// What all of some runs say about a key; nothing when none could name it or they differ.
std::optional<State> common_state(const std::vector<const Recorder*>& runs, std::size_t path) {
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
Key merged(const Exploration& all, const std::vector<const Recorder*>& runs, std::size_t path) {
  const std::vector<Key>& keys = all.paths.paths[path].keys;
  Key key = keys.front();
  for (const Key& found : keys) {
    const bool is_group = found.type == Key::Type::group;
    if (is_group != (key.type == Key::Type::group)) {
      if (key.single.empty()) {
        const Key other = is_group ? key : found;
        key = is_group ? found : key;
        key.single.push_back(other);
      }
      continue;
    }
    if (key.type != found.type || !(key.dimension == found.dimension)) {
      key.type = Key::Type::any;
    }
    if (found.range.least < key.range.least) {
      key.range.open_below = found.range.open_below;
    }
    key.range.least = std::min(key.range.least, found.range.least);
    key.range.most = std::max(key.range.most, found.range.most);
    for (const std::string& choice : found.choices) {
      if (std::find(key.choices.begin(), key.choices.end(), choice) == key.choices.end()) {
        key.choices.push_back(choice);
      }
    }
  }
  key.need = common_state(runs, path) == State::required ? required : optional;
  const std::string& name = all.name(path);
  key.name = name.substr(name.rfind('.') + 1);
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
std::vector<std::pair<std::size_t, bool>> deciding_presence(
    const Exploration& all, const std::vector<std::size_t>& questions,
    std::size_t question_number) {
  std::vector<std::pair<std::size_t, bool>> deciding;
  for (const std::size_t path : questions) {
    const RecordedPaths::Path& p = all.paths.paths[path];
    if (p.question->kind != Question::Kind::presence || path == question_number ||
        p.parent != all.paths.paths[question_number].parent) {
      continue;
    }
    std::set<bool> where_asked;
    std::set<bool> anywhere;
    bool always = true;
    for (const Recorder& run : all.runs) {
      const bool both = run.asks(path);
      const bool given = !run.answers().contains(path);
      if (both) {
        anywhere.insert(given);
      }
      if (run.asks(question_number)) {
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

void add_conditions(Key& root, const Exploration& all, const std::vector<std::size_t>& questions,
                    std::size_t question_number, std::size_t answer) {
  const auto decided = all.decides.find(question_number);
  if (decided == all.decides.end()) {
    return;
  }
  std::vector<const Recorder*> runs;
  for (const Recorder& run : all.runs) {
    if (run.asks(question_number) && run.answer(question_number) == answer) {
      runs.push_back(&run);
    }
  }
  const std::string& question_name = all.name(question_number);
  std::map<std::string, Condition> by_group;
  for (const std::size_t path : all.order) {
    if (!decided->second.contains(path)) {
      continue;
    }
    const std::string& name = all.name(path);
    const std::string group = common_group(question_name, name);
    if (through_a_list(root, group, question_name) || through_a_list(root, group, name)) {
      continue;
    }
    const auto state = common_state(runs, path);
    if (state == State::required) {
      by_group[group].required.push_back(below(name, group));
    } else if (state == State::absent) {
      by_group[group].unknown.push_back(below(name, group));
    }
  }
  const Question& question = *all.paths.paths[question_number].question;
  for (auto& [group, condition] : by_group) {
    condition.key = below(question_name, group);
    condition.value = question.answers[answer];
    condition.on_presence = question.kind == Question::Kind::presence;
    for (const auto& [path, given] : deciding_presence(all, questions, question_number)) {
      condition.also_present.emplace_back(below(all.name(path), group), given);
    }
    key_at(root, group)->conditions.push_back(std::move(condition));
  }
}

}  // namespace

Key describe(const std::function<void(Fields&)>& read) {
  Exploration all;
  Explorer(read, all).explore();
  std::vector<const Recorder*> runs;
  for (const Recorder& run : all.runs) {
    runs.push_back(&run);
  }
  Key root{.type = Key::Type::group};
  for (const std::size_t path : all.order) {
    key_at(root, parent_of(all.name(path)))->below.push_back(merged(all, runs, path));
  }
  std::vector<std::size_t> questions;
  for (std::size_t path = 0; path < all.paths.paths.size(); ++path) {
    if (all.paths.paths[path].question) {
      questions.push_back(path);
    }
  }
  questions = all.by_name(std::move(questions));
  for (const std::size_t path : questions) {
    const Question& question = *all.paths.paths[path].question;
    if (question.kind != Question::Kind::number && question.kind != Question::Kind::shape) {
      for (std::size_t i = 0; i < question.answers.size(); ++i) {
        add_conditions(root, all, questions, path, i);
      }
    }
  }
  return root;
}

}  // namespace roofcast::base
