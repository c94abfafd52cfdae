// SPDX-License-Identifier: Apache-2.0
#include "sim/interface/roofcast/scenario.hpp"

#include "sim/interface/document.hpp"
#include "sim/scenario/knob.hpp"

namespace roofcast {

Scenario::Scenario(std::shared_ptr<const Document> document) : document_(std::move(document)) {}

Scenario::Scenario(const std::filesystem::path& file)
    : document_(with_input_errors(
          [&] { return std::make_shared<Document>(Document{base::load_document(file)}); })) {}

Scenario Scenario::parse(std::string text, std::string name) {
  return with_input_errors([&] {
    return Scenario(std::make_shared<Document>(
        Document{base::parse_document(std::move(name), std::move(text))}));
  });
}

Scenario Scenario::with(std::string_view path, std::string_view value) const {
  return with_input_errors([&] {
    Document changed = *document_;
    const base::Node node = base::parse_document(std::string(path), std::string(value));
    base::Problems problems;
    sim::set_knob(changed.node, path, node.place, node, problems);
    problems.throw_if_any();
    return Scenario(std::make_shared<Document>(std::move(changed)));
  });
}

std::string Scenario::yaml() const { return base::to_yaml(document_->node); }

}  // namespace roofcast
