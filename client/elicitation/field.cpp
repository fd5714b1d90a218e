#include "elicitation/field.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace client {
namespace {

using json::Value;
using Kind = Value::Kind;

std::optional<double> number_of(const Value& schema, std::string_view name) {
  const Value* found = schema.find(name, Kind::number);
  return found != nullptr ? std::optional(found->number) : std::nullopt;
}

std::string plain_text(const Value& value) {
  return value.is(Kind::string) ? value.text : json::to_json(value);
}

/// `enum` with `enumNames`, or `oneOf`/`anyOf` of `const` with `title`.
std::vector<Choice> read_choices(const Value& schema) {
  std::vector<Choice> choices;
  if (const Value* values = schema.find("enum", Kind::array)) {
    const Value* names = schema.find("enumNames", Kind::array);
    for (std::size_t at = 0; at < values->items.size(); ++at) {
      const Value& value = values->items[at];
      const bool is_named = names != nullptr && at < names->items.size();
      choices.push_back({value, plain_text(is_named ? names->items[at] : value)});
    }
  }
  for (const std::string_view member : {"oneOf", "anyOf"}) {
    const Value* options = schema.find(member, Kind::array);
    if (options == nullptr) continue;
    for (const Value& option : options->items) {
      const Value* value = option.find("const");
      if (value == nullptr) continue;
      const std::string_view title = option.string("title");
      choices.push_back({*value, title.empty() ? plain_text(*value) : std::string(title)});
    }
  }
  return choices;
}

Field::Type read_type(std::string_view type) {
  if (type == "number") return Field::Type::number;
  if (type == "integer") return Field::Type::integer;
  if (type == "boolean") return Field::Type::boolean;
  if (type == "array") return Field::Type::list;
  return Field::Type::text;
}

Field read_field(const json::Member& property) {
  const Value& schema = property.value;
  Field field;
  field.name = property.name;
  field.title = schema.string("title");
  field.description = schema.string("description");
  field.type = read_type(schema.string("type"));
  if (const Value* preset = schema.find("default")) field.preset = *preset;
  std::string_view smallest = "minimum";
  std::string_view largest = "maximum";
  const Value* items = schema.find("items", Kind::object);
  if (field.type == Field::Type::text) {
    smallest = "minLength";
    largest = "maxLength";
  } else if (field.type == Field::Type::list) {
    smallest = "minItems";
    largest = "maxItems";
  }
  field.smallest = number_of(schema, smallest);
  field.largest = number_of(schema, largest);
  field.choices =
      read_choices(field.type == Field::Type::list && items != nullptr ? *items : schema);
  return field;
}

std::string type_name(const Field& field) {
  switch (field.type) {
    case Field::Type::number: return "a number";
    case Field::Type::integer: return "a whole number";
    case Field::Type::boolean: return "yes or no";
    case Field::Type::list: return "several, separated by commas";
    case Field::Type::text: break;
  }
  return "text";
}

std::string range(const Field& field) {
  if (!field.smallest && !field.largest) return "";
  const std::string unit = field.type == Field::Type::text   ? " characters"
                           : field.type == Field::Type::list ? " of them"
                                                             : "";
  if (!field.largest) return fmt::format(", at least {}{}", *field.smallest, unit);
  if (!field.smallest) return fmt::format(", at most {}{}", *field.largest, unit);
  return fmt::format(", {} to {}{}", *field.smallest, *field.largest, unit);
}

}  // namespace

std::vector<Field> read_fields(const Value& requested_schema) {
  std::vector<Field> fields;
  const Value* properties = requested_schema.find("properties", Kind::object);
  if (properties == nullptr) return fields;
  for (const json::Member& property : properties->members) fields.push_back(read_field(property));
  if (const Value* required = requested_schema.find("required", Kind::array)) {
    for (Field& field : fields) {
      field.required = std::any_of(
          required->items.begin(), required->items.end(),
          [&field](const Value& name) { return name.is(Kind::string) && name.text == field.name; });
    }
  }
  return fields;
}

std::string describe_field(const Field& field) {
  std::string text = field.title.empty() ? field.name : field.title;
  if (!field.title.empty() && field.title != field.name) text += " (" + field.name + ")";
  text += ": " + type_name(field) + range(field);
  text += field.required ? ", required" : ", optional";
  if (!field.description.empty()) text += "\n  " + field.description;
  for (std::size_t at = 0; at < field.choices.size(); ++at) {
    const Choice& choice = field.choices[at];
    const std::string value = plain_text(choice.value);
    text += fmt::format("\n  {}) {}", at + 1, choice.title);
    if (choice.title != value) text += " (" + value + ")";
  }
  if (field.preset) text += "\n  empty for " + json::to_json(*field.preset);
  return text;
}

}  // namespace client
