// SPDX-License-Identifier: Apache-2.0
//
// How a document becomes a plain struct. Each struct has one function that names its keys:
//
//   void read(Fields f, Hbm& hbm) {
//     f.text("type", hbm.type);
//     f.quantity("bandwidth", hbm.bandwidth, positive);
//     f.end();
//   }
//
// Every problem goes to one list and reading goes on, so a user sees all mistakes at once. A key is required unless its
// target is a std::optional or `optional` is passed; then the target keeps its default. `null` is the same as absent. A
// key may have its old name (base/document/renamed.hpp). end() reports missing keys, and unknown keys with the nearest
// name. A misspelt key is both and is reported once.
//
// With a Recorder (base/document/recorder.hpp) in place of a document, the same function tells which keys it reads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document/key.hpp"
#include "base/document/node.hpp"
#include "base/document/problems.hpp"
#include "base/units/unit_text.hpp"

namespace roofcast::base {

template <class E>
using Choices = std::vector<std::pair<std::string, E>>;

class Recorder;

class Fields {
 public:
  // `node` must outlive the reader. A node that is not a map is reported at once; all keys then
  // count as absent without further messages.
  Fields(const Node& node, std::string path, Problems& problems);
  // There is no document: the recorder is told every key, and gives the values. Problems are silent.
  explicit Fields(Recorder& recorder, std::string path = "");

  bool has(std::string_view key) const;     // present and not null
  bool is_map(std::string_view key) const;  // where a single value is allowed too
  const std::string& path() const { return path_; }
  const Node& node() const { return *node_; }

  void text(std::string_view key, std::string& target, Need need = required);
  void flag(std::string_view key, bool& target, Need need = required);
  void integer(std::string_view key, std::int64_t& target, Range range, Need need = required);
  void integer(std::string_view key, std::optional<std::int64_t>& target, Range range);
  void number(std::string_view key, double& target, Range range, Need need = required);
  void texts(std::string_view key, std::vector<std::string>& target, Need need = optional);

  void integers(std::string_view key, std::vector<std::int64_t>& target, Range range,
                Need need = required);
  void numbers(std::string_view key, std::vector<double>& target, Range range,
               Need need = required);
  template <class Q>
  void quantities(std::string_view key, std::vector<Q>& target, Range range = positive,
                  Need need = required) {
    for (const double si : quantities_si(key, dimension_of<Q>(), range, need)) {
      target.push_back(Q::from_si(si));
    }
  }

  template <class Q>
  void quantity(std::string_view key, Q& target, Range range = positive, Need need = required) {
    if (const auto si = quantity_si(key, dimension_of<Q>(), range, need)) {
      target = Q::from_si(*si);
    }
  }
  template <class Q>
  void quantity(std::string_view key, std::optional<Q>& target, Range range = positive) {
    if (const auto si = quantity_si(key, dimension_of<Q>(), range, optional)) {
      target = Q::from_si(*si);
    }
  }
  template <class E>
  void choice(std::string_view key, E& target, const Choices<E>& choices, Need need = required) {
    std::vector<std::string> names;
    for (const auto& [name, value] : choices) {
      names.push_back(name);
    }
    if (const auto index = choice_index(key, names, need)) {
      target = choices[*index].second;
    }
  }

  // A map below; nothing is called when it is absent.
  bool group(std::string_view key, const std::function<void(Fields&)>& read, Need need = required);
  // The same, of whose keys a recorder is told nothing: they are known of another place.
  bool part(std::string_view key, const std::function<void(Fields&)>& read, Need need = required);
  // A sequence of maps.
  void each(std::string_view key, const std::function<void(Fields&)>& read, Need need = required);

  // The key every group of figures must have; its text stays in the document.
  void source();

  // Reports a problem of meaning at the value of a key or dotted path (at the map when it is absent).
  void problem(std::string_view key, std::string_view message);
  // Marks a key as known without reading it.
  const Node* take(std::string_view key, Need need = optional);
  void end();

 private:
  const Entry* entry(std::string_view key) const;
  std::optional<double> quantity_si(std::string_view key, Dimension dimension, Range range,
                                    Need need);
  std::optional<std::size_t> choice_index(std::string_view key,
                                          const std::vector<std::string>& names, Need need);
  std::vector<double> quantities_si(std::string_view key, Dimension dimension, Range range,
                                    Need need);
  const Node* scalar(std::string_view key, Need need);
  std::optional<double> quantity_of(const Node& node, std::string_view key, Dimension dimension,
                                    Range range);
  std::vector<const Node*> scalars(std::string_view key, Need need);
  std::optional<double> plain(const Node& node, std::string_view key, Range range);
  std::optional<std::int64_t> whole(const Node& node, std::string_view key, Range range);
  std::string path_of(std::string_view key) const;
  void check_range(const Node& node, std::string_view key, double value, Range range);

  const Node* node_;
  std::string path_;
  Problems* problems_ = nullptr;
  Recorder* recorder_ = nullptr;
  std::vector<std::string> known_;
  std::vector<std::string> missing_;  // required but absent; end() tells which are misspelt
  bool usable_ = true;
};

}  // namespace roofcast::base
