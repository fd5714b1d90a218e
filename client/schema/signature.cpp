#include "schema/signature.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/contains.hpp"
#include "schema/arguments.hpp"
#include "spelling/spelling.hpp"

namespace client {
namespace {

using json::Value;
using Kind = Value::Kind;

constexpr std::size_t longest_type = 60;
constexpr std::size_t most_first_items = 4;
constexpr int deepest_example = 3;
constexpr std::size_t most_example_items = 16;

bool takes_json(const Schema& schema) {
  const auto types = schema.types();
  return bridge::contains(types, "object") &&
         std::all_of(types.begin(), types.end(),
                     [](std::string_view type) { return type == "object" || type == "null"; });
}

/// The form of an argument: `fast|slow` for an enum of strings, else its type.
std::string form_of(const Schema& schema) {
  std::string text;
  for (const Value* value : schema.values()) {
    if (!text.empty()) text += '|';
    text += json::plain_text(*value);
  }
  if (text.empty()) text = schema.describe();
  return text.size() > longest_type ? std::string("one of many") : text;
}

std::string parameter(std::string_view name, const Schema& schema) {
  if (takes_json(schema)) return fmt::format("{}:=<object>", name);
  const auto types = schema.types();
  const bool is_array = types.size() == 1 && types.front() == "array";
  const Value* const items = is_array ? schema.items() : nullptr;
  const auto first = is_array ? schema.first_items() : std::vector<const Value*>();
  if (first.size() > most_first_items || (first.empty() && items == nullptr))
    return fmt::format("{}=<{}>", name, form_of(schema));
  std::string text;
  for (const Value* one : first)
    text += fmt::format("{}{}=<{}>", text.empty() ? "" : " ", name, form_of(schema.at(*one)));
  if (items != nullptr)
    text += fmt::format("{}{}=<{}>...", text.empty() ? "" : " ", name, form_of(schema.at(*items)));
  return text;
}

/// An example value as JSON.
std::string example_value(const Schema& schema, int depth = 0) {
  for (const std::string_view member : {"examples", "default"}) {
    for (const Value* part : schema.parts()) {
      const Value* const found = part->find(member);
      if (found == nullptr) continue;
      if (member == "default") return json::to_json(*found);
      if (!found->items.empty()) return json::to_json(found->items.front());
    }
  }
  if (const auto values = schema.values(); !values.empty()) return json::to_json(*values.front());
  std::string text = json::quote("text");
  const auto types = schema.types();
  const auto others = schema.alternatives();
  if (depth > deepest_example) return text;
  if (types.empty()) return others.empty() ? text : example_value(others.front(), depth + 1);
  const std::string_view type = types.front();
  if (type == "number" || type == "integer") {
    const Value* const least = schema.find("minimum", Kind::number);
    return least != nullptr ? least->text : "1";
  }
  if (type == "boolean") return "true";
  if (type == "null") return "null";
  if (type == "object") return "{}";
  if (type != "array") return text;
  auto items = schema.first_items();
  if (items.empty()) items.push_back(schema.items());
  json::JsonArray array;
  if (items.size() > most_example_items) items.resize(most_example_items);
  for (const Value* one : items) {
    const std::string element = one == nullptr ? text : example_value(schema.at(*one), depth + 1);
    array.add(json::RawJson{element});
  }
  return array.text();
}

/// Whether `name=value` would be parsed with that name: a word's signs decide how it is parsed.
bool can_be_typed(std::string_view name) {
  return !name.empty() && name.find('=') == name.npos && name.find(":@") == name.npos &&
         name.back() != ':' && name.find_first_not_of(" \t\r\n") != name.find('{');
}

/// The words that produce the value, which is JSON, in their shortest typed form.
std::vector<std::string> example_words(std::string_view name, const std::string& json,
                                       const Schema& schema) {
  const auto value = json::parse(json);
  if (value && value->is(Kind::array) && !value->items.empty()) {
    std::vector<std::string> texts;
    texts.reserve(value->items.size());
    for (const Value& item : value->items) texts.push_back(json::plain_text(item));
    std::vector<TypedElement> elements;
    elements.reserve(texts.size());
    for (const std::string& text : texts) elements.push_back({text, false});
    const auto made =
        texts.size() == 1 ? convert_text(texts[0], schema) : convert_elements(elements, schema);
    if (made == json) {
      for (std::string& text : texts) text = fmt::format("{}={}", name, text);
      return texts;
    }
  }
  const bool is_plain = value && !value->is(Kind::array) && !value->is(Kind::object) &&
                        convert_text(json::plain_text(*value), schema) == json;
  return {is_plain ? fmt::format("{}={}", name, json::plain_text(*value))
                   : fmt::format("{}:={}", name, json)};
}

/// As operands: a word with a leading dash would be taken for an option.
std::string as_operands(const std::vector<std::string>& words) {
  const bool has_dash = std::any_of(words.begin(), words.end(),
                                    [](const std::string& word) { return word.starts_with('-'); });
  std::string text = has_dash ? "--" : "";
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

}  // namespace

std::string signature(std::string_view tool, const Schema& input) {
  std::string text(tool);
  std::string optional;
  for (const std::string_view name : input.names()) {
    const std::string one = parameter(name, input.at(*input.property(name)));
    if (input.requires_name(name)) {
      text += " " + one;
    } else {
      optional += " [" + one + "]";
    }
  }
  text += optional;
  if (input.names().empty() && input.other_names() == Schema::OtherNames::allowed)
    text += " [key=<any>...]";
  return text;
}

std::string tool_operand(std::string_view tool) { return as_operands({std::string(tool)}); }

std::string example_argument(std::string_view name, const Schema& schema) {
  return as_operands(example_words(name, example_value(schema), schema));
}

std::string example_call(std::string_view tool, const Schema& input) {
  std::vector<std::string> words = {std::string(tool)};
  json::JsonObject others;
  const Value anything;
  for (const std::string_view name : input.required()) {
    const Value* const property = input.property(name);
    const Schema schema = input.at(property == nullptr ? anything : *property);
    const std::string value = example_value(schema);
    if (can_be_typed(name)) {
      for (std::string& word : example_words(name, value, schema)) words.push_back(std::move(word));
    } else {
      others.add_any(name, json::RawJson{value});
    }
  }
  if (!others.is_empty()) words.push_back(others.text());
  return as_operands(words);
}

}  // namespace client
