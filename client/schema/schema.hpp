#pragma once

#include "json/document.hpp"

namespace client {

/// One schema of a JSON Schema document (2020-12, and the common part of older drafts), as far as
/// the types and names of arguments follow from it: `type`, `enum`, `const`, `properties`,
/// `required`, `additionalProperties`, `items`, `prefixItems`, `anyOf`, `oneOf`, `allOf`, and
/// `$ref` within the document. Ranges, patterns (of names, too) and conditions are left to the
/// server. Pure.
///
/// A cursor: it refers to the document, which must outlive it. A dangling or circular reference
/// accepts everything.
class Schema {
 public:
  /// The whole document.
  explicit Schema(const json::Value& document) : Schema(document, document) {}
  Schema(const json::Value& node, const json::Value& document)
      : node_(&node), document_(&document) {}

  Schema at(const json::Value& node) const { return {node, *document_}; }

  /// The schemas that all apply: this one, those that it references, and those of `allOf`.
  std::vector<const json::Value*> parts() const;
  /// The schemas of which one must apply, of the first part that has any.
  std::vector<Schema> alternatives() const;
  /// Whether one of several schemas must apply.
  bool has_alternatives() const;
  /// The JSON types it names, in their order; without `type` those implied by its other members.
  /// Empty: any; so is a `type` that JSON Schema does not know (`float`).
  std::vector<std::string_view> types() const;
  /// The words of `type`, known or not.
  std::vector<std::string_view> type_words() const;
  bool allows_type(std::string_view type) const;
  /// Whether it accepts objects, and besides them at most null.
  bool is_object() const;
  /// Where it accepts lists but no objects: this schema, or the alternative that is a list's.
  std::optional<Schema> as_list() const;
  /// The values of `enum` or `const`; null if it has neither.
  std::vector<const json::Value*> values() const;
  const json::Value* find(std::string_view name, json::Value::Kind kind) const;

  /// Whether an object of this schema may have names that are not listed.
  enum class OtherNames {
    allowed,   ///< stated explicitly
    not_said,  ///< names are listed, others are not mentioned
    forbidden,
  };
  OtherNames other_names() const;
  /// All names that it lists, including those of its alternatives, each once.
  std::vector<std::string_view> names() const;
  /// Whether the name is required in every object.
  bool requires_name(std::string_view name) const;
  std::vector<std::string_view> required() const;
  /// The schema of a property that it lists, as in names(); null: not listed.
  const json::Value* listed_property(std::string_view name) const;
  /// The same, or the schema for properties that are not listed: of `additionalProperties`, or of a
  /// single pattern where all others are forbidden. null: unspecified.
  const json::Value* property(std::string_view name) const;
  /// The schemas of the first elements of an array (`prefixItems`, or a list as `items`), in their
  /// order.
  std::vector<const json::Value*> first_items() const;
  /// The schema of the elements after those; null: unspecified.
  const json::Value* items() const;
  /// The schema of the element at that index.
  const json::Value* item_at(std::size_t index) const;

  /// For people: `number`, `string|null`, `"a"|"b"`, `integer[]`, `[number, string]`, `any`.
  /// `depth`: of the schemas around it.
  std::string describe(int depth = 0) const;

 private:
  template <typename Visit>
  bool any_part(Visit visit) const;
  void add_parts(const json::Value& node, std::vector<const json::Value*>& parts, int depth) const;
  /// Schemas whose names may also occur: of anyOf and oneOf, then and else.
  std::vector<Schema> branches() const;
  template <typename Visit>
  bool any_property(Visit visit, int depth = 0) const;
  bool accepts_only(std::string_view type, int depth) const;
  const json::Value* target(std::string_view reference) const;

  const json::Value* node_;
  const json::Value* document_;
};

}  // namespace client
