// SPDX-License-Identifier: Apache-2.0
//
// The kinds of documents roofcast knows, in one table: catalog, how to recognise one, how to check
// one, which keys it has.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/document/catalog.hpp"
#include "base/document/problems.hpp"
#include "base/document/schema.hpp"

namespace roofcast::cli {

struct DocumentKind {
  std::string_view name;         // singular: "chip"
  std::string_view telling_key;  // a top-level key only this kind has
  std::string_view place;        // its dotted path in a scenario; empty for whole documents
  base::Catalog (*catalog)();
  // Reads the document whole; throws InputError. Returns what it is, in a few words.
  std::string (*check)(const base::Node& document);
  base::Key (*keys)();  // as its reader tells them; nullptr for whole documents
};

std::span<const DocumentKind> document_kinds();
std::vector<std::string> kind_names();

// A part with its references loaded and its derivation made; throws InputError.
base::Node resolved(const base::Node& document, std::string_view place);
base::Catalog example_catalog();
// A note for each file and folder of the user's catalog that looks like a part of it, and that nothing reads.
void note_unread_entries();

// By its name or its plural; throws InputError with the nearest name. `other`: what could be meant besides kinds.
const DocumentKind& kind_named(const std::string& name,
                               std::span<const std::string_view> other = {});
// By its keys; nullptr when it looks like none.
const DocumentKind* kind_of(const base::Node& document);

}  // namespace roofcast::cli
