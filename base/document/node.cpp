// SPDX-License-Identifier: Apache-2.0
#include "base/document/node.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <unordered_set>

#include "base/document/output_file.hpp"
#include "base/document/problems.hpp"
#include "base/document/standard_streams.hpp"
#include "base/fnv.hpp"
#include "base/utf8.hpp"

namespace roofcast::base {
namespace {

constexpr std::size_t kMaxBytes = 4u << 20;
constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kLongKey = 1000;  // YAML takes longer ones only after a "? "
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::size_t kMaxMarks = 250'000;  // that separate values; each costs up to 300 bytes

[[noreturn]] void fail(const Place& place, std::string_view message) {
  Problems problems;
  problems.add(place, "", message);
  problems.throw_if_any();
  throw std::logic_error("unreachable");
}

// yaml-cpp turns the escapes \N and \_ into single bytes, U+0085 and U+00A0 in Latin-1.
std::string as_utf8(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
  if (plain) {
    return text;
  }
  std::string result;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t size = character_size(rest);
    result += size == 0 ? "\xc2" : "";
    result += rest.substr(0, std::max<std::size_t>(size, 1));
    rest.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result;
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
    refuse_tag(mark, tag);
    Node node = scalar_node(as_utf8(text), place(mark));
    node.quoted = tag == "!";
    if (node.quoted && !is_closed(static_cast<std::size_t>(mark.pos))) {
      fail(place(mark), "this quote is not closed");
    }
    value(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    refuse_tag(mark, tag);
    open(mark, anchor, Node::Kind::sequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    refuse_tag(mark, tag);
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
    std::unordered_set<std::string> keys;
  };

  Place place(const YAML::Mark& mark) const { return {source_, {mark.line, mark.column}}; }

  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    if (anchor != 0) {
      fail(place(mark), "anchors (&name) are not supported; write the value out");
    }
  }
  void refuse_tag(const YAML::Mark& mark, std::string_view tag) const {
    if (tag != "?" && tag != "!" && !tag.empty()) {
      constexpr std::string_view kStandard = "tag:yaml.org,2002:";
      const bool standard = tag.starts_with(kStandard);
      fail(place(mark), fmt::format("tags ({}{}) are not supported", standard ? "!!" : "",
                                    tag.substr(standard ? kStandard.size() : 0)));
    }
  }
  // yaml-cpp takes the end of the text for the closing quote.
  bool is_closed(std::size_t at) const {
    const std::string_view text = source_->text;
    const char quote = at < text.size() ? text[at] : ' ';
    if (quote != '"' && quote != '\'') {
      return true;  // a block of text
    }
    for (++at; at < text.size(); ++at) {
      const bool pair = quote == '"' ? text[at] == '\\' : text.substr(at, 2) == "''";
      if (text[at] == quote && !pair) {
        return true;
      }
      at += pair ? 1 : 0;  // an escaped character, or the two quotes that mean one
    }
    return false;
  }
  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind) {
    refuse_anchor(mark, anchor);
    if (stack_.size() >= kMaxDepth) {
      fail(place(mark), fmt::format("nested deeper than {} levels", kMaxDepth));
    }
    if (!stack_.empty() && stack_.back().node.is_map() && !stack_.back().have_key) {
      fail(place(mark), "a key must be a plain text; is a bracket not closed?");
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
        if (node.is_map() || node.is_null()) {
          node.place = top.key_place;
        }
        top.node.entries.push_back({std::move(top.key), top.key_place, std::move(node)});
      }
      top.have_key = false;
    }
  }
  void key(Open& top, const Node& node) {
    if (node.is_null()) {
      fail(node.place, "a key is missing before the \":\"");
    }
    if (node.is_scalar() && node.text == "<<" && !node.quoted) {
      fail(node.place, "merge keys (<<) are not supported; write the keys out");
    }
    top.have_key = true;
    top.key = node.text;
    top.key_place = node.place;
    top.drop = !top.keys.insert(top.key).second;
    if (top.drop) {
      const Node* earlier = problems_.full() ? &node : top.node.find(top.key);
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

bool separates(char c) {
  return c == '\n' || c == ',' || c == ':' || c == '[' || c == ']' || c == '{' || c == '}';
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool needs_quotes(const Node& node) {
  if (node.quoted || node.text.empty()) {
    return true;
  }
  static constexpr std::string_view kSpecial = ":#{}[],&*!|>'\"%@`\\";
  static constexpr std::string_view kOther[] = {"null", "Null", "NULL", "~", "...", "=", "<<"};
  return std::find(std::begin(kOther), std::end(kOther), node.text) != std::end(kOther) ||
         node.text.front() == ' ' || node.text.front() == '-' || node.text.front() == '?' ||
         node.text.back() == ' ' || node.text.starts_with(kByteOrderMark) ||
         node.text.find_first_of(kSpecial) != std::string::npos ||
         std::any_of(node.text.begin(), node.text.end(), is_control);
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
    } else if (is_control(c)) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
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
        std::string key;
        write_scalar(scalar_node(entry.key, {}), key);
        out += key.size() < kLongKey ? fmt::format("{}{}:", pad, key)
                                     : fmt::format("{0}? {1}\n{0}:", pad, key);
        child(entry.value);
      }
      break;
  }
}

// yaml-cpp's words where a user would not understand them.
std::string explained(const std::string& message) {
  static constexpr std::pair<std::string_view, std::string_view> kPlainer[] = {
      {"the referenced anchor is not defined",
       "aliases (*name) are not supported; write the value out"},
      {"illegal map value",
       "not valid YAML: no \": \" can stand here; check the indentation, or quote the text"},
      {"end of map flow not found", "not valid YAML: a \"{\" before this is not closed"},
      {"end of sequence flow not found", "not valid YAML: a \"[\" before this is not closed"},
      {"illegal flow end", "not valid YAML: this closes a bracket that was not opened"},
      {"end of map not found",
       "not valid YAML: this fits no key above it; check the indentation, quotes and brackets"},
  };
  for (const auto& [theirs, ours] : kPlainer) {
    if (message == theirs) {
      return std::string(ours);
    }
  }
  return fmt::format("not valid YAML: {}", message);
}

// Where the text stops being printable UTF-8, or is too much for a parser that reads a whole line
// before its first value, if it is.
void refuse_bytes(const std::shared_ptr<const Source>& source) {
  std::string_view rest = source->text;
  Mark mark;
  std::size_t marks = 0;
  while (!rest.empty()) {
    const std::size_t size = character_size(rest);
    const char c = rest.front();
    marks += separates(c) ? 1 : 0;
    if (marks > kMaxMarks) {
      fail({source, mark},
           fmt::format("more than {} keys and values; this is not a roofcast document", kMaxMarks));
    }
    if (size == 0) {
      fail({source, mark}, "is not UTF-8 text");
    }
    if (is_control(c) && c != '\n' && c != '\r' && c != '\t') {
      fail({source, mark}, fmt::format("the control character 0x{:02x} cannot stand in a document",
                                       static_cast<unsigned>(c)));
    }
    mark =
        c == '\n' ? Mark{mark.line + 1, 0} : Mark{mark.line, mark.column + static_cast<int>(size)};
    rest.remove_prefix(size);
  }
}

// The place of the tab that indents the line of `place`, if one does.
bool find_tab(Place& place) {
  std::istringstream lines(place.source->text);
  std::string line;
  for (int i = 0; i <= place.mark.line; ++i) {
    std::getline(lines, line);
  }
  const auto tab = line.substr(0, line.find_first_not_of(" \t")).find('\t');
  if (tab != std::string::npos) {
    place.mark.column = static_cast<int>(tab);
  }
  return tab != std::string::npos;
}

}  // namespace

const Entry* Node::entry(std::string_view key) const {
  const auto it =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
  return it == entries.end() ? nullptr : &*it;
}

const Node* Node::find(std::string_view key) const {
  const Entry* found = entry(key);
  return found == nullptr ? nullptr : &found->value;
}

Node* Node::find(std::string_view key) {
  return const_cast<Node*>(static_cast<const Node*>(this)->find(key));
}

const Node* Node::find_path(std::string_view dotted) const {
  const Node* node = this;
  while (node != nullptr && !dotted.empty()) {
    const auto dot = dotted.find('.');
    node = node->find(dotted.substr(0, dot));
    dotted = dot == std::string_view::npos ? std::string_view() : dotted.substr(dot + 1);
  }
  return node;
}

Node* Node::find_path(std::string_view dotted) {
  return const_cast<Node*>(static_cast<const Node*>(this)->find_path(dotted));
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
  refuse_bytes(source);
  try {
    std::istringstream stream(source->text);
    YAML::Parser parser(stream);
    TreeBuilder builder(source);
    if (!parser.HandleNextDocument(builder)) {
      fail(start, "the document is empty");
    }
    Node root = builder.take();
    TreeBuilder again(source);
    if (parser.HandleNextDocument(again)) {
      fail(again.take().place, "a second document (---) starts here; give one");
    }
    return root;
  } catch (const YAML::Exception& e) {
    Place place = e.mark.is_null() ? start : Place{source, {e.mark.line, e.mark.column}};
    const bool tab = find_tab(place);
    fail(place, tab ? "not valid YAML: a tab cannot indent; use blanks" : explained(e.msg));
  }
}

Node parse_document(std::string name, std::string text) {
  if (text.starts_with(kByteOrderMark)) {
    text.erase(0, kByteOrderMark.size());
  }
  return parse_document(
      std::make_shared<const Source>(Source{std::move(name), std::move(text), {}}));
}

Node load_document(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    throw InputError(fmt::format("error: {} is a directory, not a document\n", file.string()));
  }
  const bool standard = is_standard_stream(file);
  std::ifstream opened;
  if (!standard) {
    errno = 0;
    opened.open(file, std::ios::binary);
    if (!opened) {
      throw InputError(fmt::format("error: cannot read {}: {}\n", file.string(),
                                   std::generic_category().message(errno)));
    }
  }
  std::istream& stream = standard ? std::cin : opened;
  std::string text;
  char block[1 << 14];
  while (text.size() <= kMaxBytes && (stream.read(block, sizeof block) || stream.gcount() > 0)) {
    text.append(block, static_cast<std::size_t>(stream.gcount()));
  }
  if (standard) {
    keep_standard_input(text);
  } else {
    Contents contents;
    contents.add(text);
    note_read(file, contents);
  }
  if (text.starts_with(kByteOrderMark)) {
    text.erase(0, kByteOrderMark.size());
  }
  return parse_document(std::make_shared<const Source>(
      Source{standard ? "stdin" : file.string(), std::move(text), file.parent_path().string()}));
}

std::string to_yaml(const Node& node) {
  std::string out;
  write_yaml(node, 0, out);
  return out;
}

std::size_t hash(const Node& node) {
  std::uint64_t all = fnv(kFnvStart, static_cast<std::uint64_t>(node.kind));
  const auto add = [&](std::size_t part) { all = fnv(all, part); };
  add(std::hash<std::string_view>()(node.text));
  add(node.items.size());
  for (const Node& item : node.items) {
    add(hash(item));
  }
  for (const Entry& entry : node.entries) {
    add(std::hash<std::string_view>()(entry.key));
    add(hash(entry.value));
  }
  return all;
}

}  // namespace roofcast::base
