#include "schema/schema.hpp"

#include <algorithm>
#include <charconv>

#include "base/contains.hpp"

namespace client {
namespace {

using json::Value;
using Kind = Value::Kind;

constexpr int deepest_reference = 16;  // nesting of references and alternatives

void add_once(std::vector<std::string_view>& names, std::string_view name) {
  if (!bridge::contains(names, name)) names.push_back(name);
}

/// A step of a JSON Pointer (RFC 6901, section 4) in the fragment of a URI.
std::string step_of(std::string_view raw) {
  std::string text;
  for (std::size_t at = 0; at < raw.size(); ++at) {
    unsigned code = 0;
    if (raw[at] == '%' && at + 2 < raw.size() &&
        std::from_chars(&raw[at + 1], &raw[at] + 3, code, 16).ptr == &raw[at] + 3) {
      text += static_cast<char>(code);
      at += 2;
    } else {
      text += raw[at];
    }
  }
  for (std::size_t at = text.find('~'); at != std::string::npos; at = text.find('~', at + 1)) {
    if (text.compare(at, 2, "~1") == 0) text.replace(at, 2, "/");
    if (text.compare(at, 2, "~0") == 0) text.replace(at, 2, "~");
  }
  return text;
}

const Value* child_of(const Value& value, const std::string& step) {
  if (!value.is(Kind::array)) return value.find(step);
  const auto index = bridge::to_unsigned(step);
  return index && *index < value.items.size() ? &value.items[*index] : nullptr;
}

bool is_json_type(std::string_view word) {
  return bridge::has_word("string number integer boolean object array null", word);
}

std::string_view type_of_members(const Value& node) {
  for (const auto& [member, type] :
       {std::pair("properties", "object"), std::pair("additionalProperties", "object"),
        std::pair("items", "array"), std::pair("prefixItems", "array"),
        std::pair("minLength", "string"), std::pair("maxLength", "string"),
        std::pair("pattern", "string"), std::pair("minimum", "number"),
        std::pair("maximum", "number")}) {
    if (node.find(member) != nullptr) return type;
  }
  return {};
}

}  // namespace

const Value* Schema::target(std::string_view reference) const {
  if (!reference.starts_with('#')) return nullptr;
  const Value* found = document_;
  for (std::size_t at = 1; found != nullptr && at < reference.size();) {
    if (reference[at] != '/') return nullptr;
    const std::size_t end = std::min(reference.find('/', at + 1), reference.size());
    found = child_of(*found, step_of(reference.substr(at + 1, end - at - 1)));
    at = end;
  }
  return found;
}

void Schema::add_parts(const Value& node, std::vector<const Value*>& parts, int depth) const {
  if (depth > deepest_reference || bridge::contains(parts, &node)) return;
  parts.push_back(&node);
  if (const Value* reference = node.find("$ref", Kind::string)) {
    if (const Value* meant = target(reference->text)) add_parts(*meant, parts, depth + 1);
  }
  for (const Value& one : node.array("allOf")) add_parts(one, parts, depth + 1);
}

/// Whether `visit` is true for one of the parts, in their order. Fast for a single part, which is
/// the common case.
template <typename Visit>
bool Schema::any_part(Visit visit) const {
  if (visit(*node_)) return true;
  if (node_->find("$ref") == nullptr && node_->find("allOf") == nullptr) return false;
  const auto all = parts();
  return std::any_of(all.begin() + 1, all.end(), [&](const Value* part) { return visit(*part); });
}

std::vector<const Value*> Schema::parts() const {
  std::vector<const Value*> all;
  add_parts(*node_, all, 0);
  return all;
}

const Value* Schema::find(std::string_view name, Kind kind) const {
  const Value* found = nullptr;
  any_part([&](const Value& part) { return (found = part.find(name, kind)) != nullptr; });
  return found;
}

bool Schema::has_alternatives() const {
  return find("anyOf", Kind::array) != nullptr || find("oneOf", Kind::array) != nullptr;
}

std::vector<Schema> Schema::alternatives() const {
  std::vector<Schema> all;
  for (const std::string_view member : {"anyOf", "oneOf"}) {
    const Value* const found = find(member, Kind::array);
    if (found == nullptr) continue;
    for (const Value& one : found->items) all.push_back(at(one));
    break;
  }
  return all;
}

std::vector<std::string_view> Schema::type_words() const {
  std::vector<std::string_view> named;
  any_part([&](const Value& part) {
    const Value* const type = part.find("type");
    if (type == nullptr) return false;
    if (type->is(Kind::string)) named.push_back(type->text);
    for (const Value& one : type->items) named.push_back(one.text);
    return !named.empty();
  });
  return named;
}

std::vector<std::string_view> Schema::types() const {
  std::vector<std::string_view> named = type_words();
  if (!std::all_of(named.begin(), named.end(), is_json_type)) return {};
  if (!named.empty()) return named;
  any_part([&](const Value& part) {
    if (const std::string_view type = type_of_members(part); !type.empty()) named.push_back(type);
    return !named.empty();
  });
  return named;
}

bool Schema::allows_type(std::string_view type) const {
  const auto all = types();
  return all.empty() || bridge::contains(all, type);
}

/// Of the named types, and of the alternatives' where there are none; null does not count.
bool Schema::accepts_only(std::string_view type, int depth) const {
  const auto named = types();
  if (!named.empty()) {
    return bridge::contains(named, type) &&
           std::all_of(named.begin(), named.end(),
                       [type](std::string_view one) { return one == type || one == "null"; });
  }
  const auto others = alternatives();
  bool has_one = false;
  for (const Schema& one : others) {
    const auto inner = one.types();
    if (inner.size() == 1 && inner.front() == "null") continue;
    if (depth > deepest_reference || !one.accepts_only(type, depth + 1)) return false;
    has_one = true;
  }
  return has_one;
}

bool Schema::is_object() const { return accepts_only("object", 0); }

std::optional<Schema> Schema::as_list() const {
  if (!accepts_only("array", 0)) return std::nullopt;
  if (!types().empty()) return *this;
  for (const Schema& one : alternatives()) {
    if (auto list = one.as_list()) return list;
  }
  return std::nullopt;
}

std::vector<const Value*> Schema::values() const {
  std::vector<const Value*> all;
  any_part([&](const Value& part) {
    const Value* const list = part.find("enum", Kind::array);
    if (list != nullptr) {
      for (const Value& one : list->items) all.push_back(&one);
      return true;
    }
    const Value* const constant = part.find("const");
    if (constant != nullptr) all.push_back(constant);
    return constant != nullptr;
  });
  return all;
}

Schema::OtherNames Schema::other_names() const {
  bool lists = false;
  bool allows = false;
  bool forbids = false;
  for (const Value* part : parts()) {
    if (!part->object("patternProperties").members.empty()) return OtherNames::allowed;
    lists = lists || part->find("properties", Kind::object) != nullptr;
    for (const std::string_view member : {"additionalProperties", "unevaluatedProperties"}) {
      const Value* const others = part->find(member);
      if (others == nullptr) continue;
      (others->is(Kind::boolean) && !others->truth ? forbids : allows) = true;
    }
  }
  if (forbids) return OtherNames::forbidden;
  for (const Schema& one : alternatives()) lists = lists || !one.names().empty();
  return lists && !allows ? OtherNames::not_said : OtherNames::allowed;
}

std::vector<Schema> Schema::branches() const {
  std::vector<Schema> all;
  for (const Value* part : parts()) {
    for (const std::string_view member : {"anyOf", "oneOf"}) {
      for (const Value& one : part->array(member)) all.push_back(at(one));
    }
    for (const std::string_view member : {"then", "else"}) {
      if (const Value* const branch = part->find(member, Kind::object)) all.push_back(at(*branch));
    }
  }
  return all;
}

/// Whether `visit` is true for one of the properties, including the alternatives', in their order.
template <typename Visit>
bool Schema::any_property(Visit visit, int depth) const {
  if (depth > deepest_reference) return false;
  const auto is_in = [&](const Value& part) {
    const auto& all = part.object("properties").members;
    return std::any_of(all.begin(), all.end(), visit);
  };
  if (any_part(is_in)) return true;
  const auto others = branches();
  return std::any_of(others.begin(), others.end(),
                     [&](const Schema& one) { return one.any_property(visit, depth + 1); });
}

std::vector<std::string_view> Schema::names() const {
  std::vector<std::string_view> all;
  any_property([&all](const json::Member& one) {
    add_once(all, one.name);
    return false;
  });
  return all;
}

std::vector<std::string_view> Schema::required() const {
  std::vector<std::string_view> all;
  any_part([&](const Value& part) {
    for (const Value& one : part.array("required")) {
      if (one.is(Kind::string)) add_once(all, one.text);
    }
    return false;
  });
  return all;
}

bool Schema::requires_name(std::string_view name) const {
  return bridge::contains(required(), name);
}

const Value* Schema::listed_property(std::string_view name) const {
  const Value* found = nullptr;
  any_property([&](const json::Member& one) {
    if (one.name == name) found = &one.value;
    return found != nullptr;
  });
  return found;
}

const Value* Schema::property(std::string_view name) const {
  const Value* const listed = listed_property(name);
  if (listed != nullptr) return listed;
  if (const Value* const others = find("additionalProperties", Kind::object)) return others;
  const Value* const patterns = find("patternProperties", Kind::object);
  const Value* const others = find("additionalProperties", Kind::boolean);
  const bool is_one = patterns != nullptr && patterns->members.size() == 1;
  return is_one && others != nullptr && !others->truth ? &patterns->members.front().value : nullptr;
}

std::vector<const Value*> Schema::first_items() const {
  const Value* list = find("prefixItems", Kind::array);
  if (list == nullptr) list = find("items", Kind::array);  // until draft 2019-09
  std::vector<const Value*> all;
  if (list == nullptr) return all;
  for (const Value& one : list->items) all.push_back(&one);
  return all;
}

const Value* Schema::items() const {
  const bool is_list = find("items", Kind::array) != nullptr;
  return find(is_list ? "additionalItems" : "items", Kind::object);
}

const Value* Schema::item_at(std::size_t index) const {
  const auto first = first_items();
  return index < first.size() ? first[index] : items();
}

std::string Schema::describe(int depth) const {
  constexpr int deepest_shown = 4;  // schemas may nest without limit; deeper ones are unreadable
  constexpr std::size_t longest_shown = 500;
  if (!node_->is(Kind::object) || depth > deepest_shown) return "any";
  const auto join = [](const auto& all, auto text_of) {
    std::string text;
    for (const auto& one : all) {
      if (!text.empty()) text += '|';
      if (text.size() > longest_shown) return text + "...";
      text += text_of(one);
    }
    return text;
  };
  if (const auto fixed = values(); !fixed.empty())
    return join(fixed, [](const Value* one) { return json::to_json(*one); });
  auto named = types();
  const auto others = alternatives();
  if (named.empty() && others.empty()) named = type_words();
  if (named.empty() && others.empty()) return "any";
  if (named.empty())
    return join(others, [depth](const Schema& one) { return one.describe(depth + 1); });
  return join(named, [this, depth](std::string_view type) {
    const Value* const elements = type == "array" ? items() : nullptr;
    const auto first = type == "array" ? first_items() : std::vector<const Value*>();
    if (!first.empty()) {
      std::string text;
      for (const Value* one : first) {
        if (text.size() > longest_shown) break;
        text += (text.empty() ? "" : ", ") + at(*one).describe(depth + 1);
      }
      if (elements != nullptr) text += ", " + at(*elements).describe(depth + 1) + "...";
      return "[" + text + "]";
    }
    if (elements == nullptr) return std::string(type);
    const std::string element = at(*elements).describe(depth + 1);
    return element.find('|') == std::string::npos ? element + "[]" : "(" + element + ")[]";
  });
}

}  // namespace client
