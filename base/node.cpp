// SPDX-License-Identifier: Apache-2.0
#include "base/node.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/problems.hpp"

namespace roofcast::base {
namespace {

constexpr std::size_t kMaxBytes = 16u << 20;
constexpr std::size_t kMaxDepth = 64;

[[noreturn]] void fail(const Place& place, std::string_view message) {
  Problems problems;
  problems.add(place, "", message);
  problems.throw_if_any();
  throw std::logic_error("unreachable");
}

// Builds our tree from yaml-cpp's events. The events carry what YAML::Node has thrown away:
// duplicate keys, the place of every key, and quoting.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    Node node;
    node.place = place(mark);
    value(std::move(node));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fail(place(mark), "aliases (*name) are not supported; write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    refuse_anchor(mark, anchor);
    if (tag != "?" && tag != "!" && !tag.empty()) {
      fail(place(mark), fmt::format("tags ({}) are not supported", tag));
    }
    Node node = scalar_node(text, place(mark));
    node.quoted = tag == "!";
    value(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, Node::Kind::sequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, Node::Kind::map);
  }
  void OnMapEnd() override { close(); }

  Node take() {
    problems_.throw_if_any();
    return std::move(root_);
  }

 private:
  struct Open {
    Node node;
    bool have_key = false;
    std::string key;
    Place key_place;
    bool drop = false;  // the key was a duplicate, already reported
  };

  Place place(const YAML::Mark& mark) const { return {source_, {mark.line, mark.column}}; }

  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    if (anchor != 0) {
      fail(place(mark), "anchors (&name) are not supported; write the value out");
    }
  }
  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind) {
    refuse_anchor(mark, anchor);
    if (stack_.size() >= kMaxDepth) {
      fail(place(mark), fmt::format("nested deeper than {} levels", kMaxDepth));
    }
    if (!stack_.empty() && stack_.back().node.is_map() && !stack_.back().have_key) {
      fail(place(mark), "a key must be a plain text");
    }
    Open open;
    open.node.kind = kind;
    open.node.place = place(mark);
    stack_.push_back(std::move(open));
  }
  void close() {
    Node node = std::move(stack_.back().node);
    stack_.pop_back();
    value(std::move(node));
  }
  void value(Node node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& top = stack_.back();
    if (top.node.is_sequence()) {
      top.node.items.push_back(std::move(node));
    } else if (!top.have_key) {
      key(top, node);
    } else {
      if (!top.drop) {
        top.node.entries.push_back({std::move(top.key), top.key_place, std::move(node)});
      }
      top.have_key = false;
    }
  }
  void key(Open& top, const Node& node) {
    if (node.is_scalar() && node.text == "<<" && !node.quoted) {
      fail(node.place, "merge keys (<<) are not supported; write the keys out");
    }
    top.have_key = true;
    top.key = node.is_null() ? "null" : node.text;
    top.key_place = node.place;
    const Node* earlier = top.node.find(top.key);
    top.drop = earlier != nullptr;
    if (top.drop) {
      problems_.add(node.place, "",
                    fmt::format("duplicate key \"{}\"; it is already given on line {}", top.key,
                                earlier->place.mark.line + 1));
    }
  }

  std::shared_ptr<const Source> source_;
  std::vector<Open> stack_;
  Node root_;
  Problems problems_;
};

bool needs_quotes(const Node& node) {
  if (node.quoted || node.text.empty()) {
    return true;
  }
  static constexpr std::string_view kSpecial = ":#{}[],&*!|>'\"%@`\n\t";
  return node.text == "null" || node.text == "~" || node.text.front() == ' ' ||
         node.text.front() == '-' || node.text.front() == '?' || node.text.back() == ' ' ||
         node.text.find_first_of(kSpecial) != std::string::npos;
}

void write_scalar(const Node& node, std::string& out) {
  if (!needs_quotes(node)) {
    out += node.text;
    return;
  }
  out += '"';
  for (const char c : node.text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out += c;
    }
  }
  out += '"';
}

void write_yaml(const Node& node, int indent, std::string& out) {
  const std::string pad(static_cast<std::size_t>(indent) * 2, ' ');
  const auto child = [&](const Node& value) {
    const bool block =
        (value.is_map() && !value.entries.empty()) || (value.is_sequence() && !value.items.empty());
    out += block ? "\n" : " ";
    write_yaml(value, indent + 1, out);
  };
  switch (node.kind) {
    case Node::Kind::null:
      out += "null\n";
      break;
    case Node::Kind::scalar:
      write_scalar(node, out);
      out += '\n';
      break;
    case Node::Kind::sequence:
      if (node.items.empty()) {
        out += "[]\n";
      }
      for (const Node& item : node.items) {
        out += pad + "-";
        child(item);
      }
      break;
    case Node::Kind::map:
      if (node.entries.empty()) {
        out += "{}\n";
      }
      for (const Entry& entry : node.entries) {
        out += pad;
        write_scalar(scalar_node(entry.key, {}), out);
        out += ':';
        child(entry.value);
      }
      break;
  }
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  const auto it =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
  return it == entries.end() ? nullptr : &it->value;
}

Node* Node::find(std::string_view key) {
  return const_cast<Node*>(static_cast<const Node*>(this)->find(key));
}

Node& Node::operator[](std::string_view key) {
  if (is_null()) {
    kind = Kind::map;
  }
  if (Node* found = find(key)) {
    return *found;
  }
  entries.push_back({std::string(key), place, Node{}});
  entries.back().value.place = place;
  return entries.back().value;
}

Node scalar_node(std::string text, Place place) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.text = std::move(text);
  node.place = std::move(place);
  return node;
}

Node parse_document(std::shared_ptr<const Source> source) {
  const Place start{source, {}};
  if (source->text.size() > kMaxBytes) {
    fail(start,
         fmt::format("larger than {} MiB; this is not a roofcast document", kMaxBytes >> 20));
  }
  if (source->text.find('\0') != std::string::npos) {
    fail(start, "contains a zero byte; this is not a text document");
  }
  try {
    std::istringstream stream(source->text);
    YAML::Parser parser(stream);
    TreeBuilder builder(source);
    if (!parser.HandleNextDocument(builder)) {
      fail(start, "is empty");
    }
    Node root = builder.take();
    TreeBuilder second(source);
    if (parser.HandleNextDocument(second)) {
      fail(start, "holds more than one document (---); give one");
    }
    return root;
  } catch (const YAML::Exception& e) {
    const bool known = !e.mark.is_null();
    fail(known ? Place{source, {e.mark.line, e.mark.column}} : start,
         fmt::format("not valid YAML: {}", e.msg));
  }
}

Node parse_document(std::string name, std::string text) {
  return parse_document(
      std::make_shared<const Source>(Source{std::move(name), std::move(text), {}}));
}

Node load_document(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    throw InputError(fmt::format("error: {} is a directory, not a document\n", file.string()));
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    throw InputError(fmt::format("error: cannot read {}\n", file.string()));
  }
  std::string text;
  text.resize(kMaxBytes + 1);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return parse_document(std::make_shared<const Source>(
      Source{file.string(), std::move(text), file.parent_path().string()}));
}

std::string to_yaml(const Node& node) {
  std::string out;
  write_yaml(node, 0, out);
  return out;
}

}  // namespace roofcast::base
