#include "schema/convert.hpp"

#include <algorithm>

#include "json/scan.hpp"
#include "json/text.hpp"
#include "schema/check.hpp"

namespace client {
namespace {

using json::Value;
using Kind = Value::Kind;
using Converted = std::optional<std::string>;

constexpr int deepest_alternative = 16;

Converted convert(std::string_view text, const Schema& schema, int depth);

Converted if_it_fits(Converted converted, const Schema& schema) {
  if (!converted) return converted;
  const auto value = json::parse(*converted);
  // What fits no number of ours is left to the server.
  return !value || fits(*value, schema) ? converted : std::nullopt;
}

Converted as_json(std::string_view text) {
  if (text.find_first_of(" \t\r\n") == 0 || !json::is_valid(text)) return std::nullopt;
  return json::on_one_line(text);
}

Converted as_type(std::string_view text, std::string_view type, const Schema& schema, int depth) {
  if (type == "string") return json::quote(text);
  const char first = text.empty() ? '\0' : text.front();
  if (type == "number" || type == "integer") {
    const bool may_be = first == '-' || (first >= '0' && first <= '9');
    return may_be ? as_json(text) : std::nullopt;
  }
  if (type == "boolean") return text == "true" || text == "false" ? as_json(text) : std::nullopt;
  if (type == "null") return text == "null" ? as_json(text) : std::nullopt;
  if (type == "object") return first == '{' ? as_json(text) : std::nullopt;
  if (type != "array") return std::nullopt;
  if (first == '[') {
    if (Converted whole = as_json(text); if_it_fits(whole, schema)) return whole;
  }
  const Value* const item = schema.item_at(0);
  const Converted element =
      item == nullptr ? json::quote(text) : convert(text, schema.at(*item), depth + 1);
  return element ? Converted("[" + *element + "]") : std::nullopt;
}

Converted as_listed(std::string_view text, const std::vector<const Value*>& values) {
  for (const Value* value : values) {
    if (value->is(Kind::string) ? value->text == text : json::to_json(*value) == text)
      return json::to_json(*value);
  }
  return std::nullopt;
}

/// Whether the text, which was converted to that type, is taken by a schema without alternatives;
/// nothing where the whole check has to tell.
std::optional<bool> fits_at_sight(std::string_view text, std::string_view type,
                                  const std::vector<const Value*>& values) {
  if (type == "string") {
    return values.empty() || std::any_of(values.begin(), values.end(), [text](const Value* one) {
             return one->is(Kind::string) && one->text == text;
           });
  }
  if (!values.empty()) return std::nullopt;
  if (type == "number" || type == "boolean" || type == "null") return true;
  const bool is_whole = type == "integer" && text.find_first_not_of("-0123456789") == text.npos;
  return is_whole ? std::optional(true) : std::nullopt;
}

Converted convert(std::string_view text, const Schema& schema, int depth) {
  if (depth > deepest_alternative) return json::quote(text);
  const auto types = schema.types();
  const auto values = schema.values();
  if (types.empty() && !values.empty()) return if_it_fits(as_listed(text, values), schema);
  const auto alternatives = schema.alternatives();
  for (const Schema& one : alternatives) {
    if (Converted converted = if_it_fits(convert(text, one, depth + 1), schema)) return converted;
  }
  for (const std::string_view type : types) {
    Converted converted = as_type(text, type, schema, depth);
    if (!converted) continue;
    const auto known = alternatives.empty() ? fits_at_sight(text, type, values) : std::nullopt;
    if (known ? *known : if_it_fits(converted, schema).has_value()) return converted;
  }
  const bool says_nothing = types.empty() && alternatives.empty();
  return says_nothing ? Converted(json::quote(text)) : std::nullopt;
}

Converted convert_all(const std::vector<TypedElement>& elements, const Schema& schema, int depth) {
  if (depth > deepest_alternative) return std::nullopt;
  for (const Schema& one : schema.alternatives()) {
    if (Converted converted = if_it_fits(convert_all(elements, one, depth + 1), schema))
      return converted;
  }
  if (!schema.allows_type("array") || (schema.types().empty() && !schema.alternatives().empty()))
    return std::nullopt;
  std::string array = "[";
  for (std::size_t index = 0; index < elements.size(); ++index) {
    const TypedElement& element = elements[index];
    const Value* const item = schema.item_at(index);
    Converted one = element.is_json   ? Converted(std::string(element.text))
                    : item == nullptr ? Converted(json::quote(element.text))
                                      : convert(element.text, schema.at(*item), depth + 1);
    if (!one) return std::nullopt;
    if (array.size() > 1) array += ',';
    array += *one;
  }
  return if_it_fits(array + "]", schema);
}

}  // namespace

std::optional<std::string> convert_text(std::string_view text, const Schema& schema) {
  return convert(text, schema, 0);
}

std::optional<std::string> convert_elements(const std::vector<TypedElement>& elements,
                                            const Schema& schema) {
  return convert_all(elements, schema, 0);
}

}  // namespace client
