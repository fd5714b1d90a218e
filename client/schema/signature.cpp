#include "schema/signature.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/contains.hpp"
#include "schema/arguments.hpp"
#include "text/shell_word.hpp"

namespace client {
namespace {

using json::Value;
using Kind = Value::Kind;

constexpr std::size_t longest_type = 60;
constexpr std::size_t most_first_items = 4;
constexpr int deepest_example = 12;
constexpr int most_example_values = 2000;
constexpr int deepest_member = 2;  // shown in a signature
constexpr std::size_t most_members = 6;
constexpr std::size_t most_example_items = 16;

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

std::string parameters(std::string_view prefix, const Schema& schema, int depth);

std::string parameter(std::string_view name, const Schema& schema, int depth = 0) {
  if (schema.is_object()) {
    const bool is_short = depth < deepest_member && schema.names().size() <= most_members;
    return schema.required().empty() || !is_short
               ? fmt::format("{}:=<object>", name)
               : parameters(fmt::format("{}.", name), schema, depth + 1).substr(1);
  }
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

/// The members of an object with a blank before each, the required ones first.
std::string parameters(std::string_view prefix, const Schema& schema, int depth) {
  std::string text;
  std::string optional;
  for (const std::string_view name : schema.names()) {
    const std::string one =
        parameter(fmt::format("{}{}", prefix, name), schema.at(*schema.property(name)), depth);
    if (schema.requires_name(name)) {
      text += " " + one;
    } else {
      optional += " [" + one + "]";
    }
  }
  return text + optional;
}

/// Makes example values, as JSON, which the schema accepts wherever a value that is not too deep or
/// too large exists: of the schema's own examples, its default, its listed values, and one made by
/// each of its types and alternatives the first that fits. Bounded by the number of values.
class Examples {
 public:
  std::string value_for(const Schema& schema, int depth = 0) {
    if (depth > deepest_example || --left_ < 0) return json::quote("text");
    std::string first;
    for (std::string& one : candidates(schema, depth)) {
      const auto value = json::parse(one);
      if (value && fits(*value, schema)) return one;
      if (first.empty()) first = std::move(one);
    }
    return first;
  }

  /// With the required members, and those of an alternative if there is one.
  std::string object(const Schema& schema, const Schema* alternative, int depth) {
    std::vector<std::string_view> names = schema.required();
    if (alternative != nullptr) {
      for (const std::string_view one : alternative->required()) {
        if (!bridge::contains(names, one)) names.push_back(one);
      }
    }
    json::JsonObject made;
    const Value anything;
    for (const std::string_view name : names) {
      const Value* property = alternative == nullptr ? nullptr : alternative->property(name);
      if (property == nullptr) property = schema.property(name);
      const std::string value =
          value_for(schema.at(property == nullptr ? anything : *property), depth + 1);
      made.add_any(name, json::RawJson{value});
    }
    return made.text();
  }

 private:
  std::vector<std::string> candidates(const Schema& schema, int depth) {
    std::vector<std::string> all;
    for (const std::string_view member : {"examples", "default"}) {
      for (const Value* part : schema.parts()) {
        const Value* const found = part->find(member);
        if (found == nullptr) continue;
        if (member == "default") all.push_back(json::to_json(*found));
        if (member == "examples" && !found->items.empty())
          all.push_back(json::to_json(found->items.front()));
      }
    }
    for (const Value* value : schema.values()) all.push_back(json::to_json(*value));
    if (!all.empty() && fits(json::parse_or_null(all.front()), schema)) return {all.front()};
    const auto types = schema.types();
    const auto others = schema.alternatives();
    for (const std::string_view type : types) {
      if (type == "object") {
        for (const Schema& one : others) all.push_back(object(schema, &one, depth));
      }
      add_of_type(all, type, schema, depth);
    }
    for (const Schema& one : others) {
      all.push_back(value_for(one, depth + 1));
      if (one.is_object() || one.types().empty()) all.push_back(object(schema, &one, depth));
    }
    if (types.empty() && others.empty()) {
      if (!schema.required().empty()) all.push_back(object(schema, nullptr, depth));
      all.push_back(schema.type_words().empty() ? json::quote("text") : "1");
    }
    return all;
  }

  void add_of_type(std::vector<std::string>& all, std::string_view type, const Schema& schema,
                   int depth) {
    if (type == "number" || type == "integer") {
      const Value* const least = schema.find("minimum", Kind::number);
      const Value* const most = schema.find("maximum", Kind::number);
      if (least != nullptr) all.push_back(least->text);
      if (least == nullptr && most != nullptr && most->number < 1) all.push_back(most->text);
      all.emplace_back("1");
    } else if (type == "boolean") {
      all.emplace_back("true");
    } else if (type == "null") {
      all.emplace_back("null");
    } else if (type == "object") {
      all.push_back(object(schema, nullptr, depth));
    } else if (type == "array") {
      all.push_back(array(schema, depth));
      all.emplace_back("[]");
    } else {
      all.push_back(json::quote("text"));
    }
  }

  std::string array(const Schema& schema, int depth) {
    auto items = schema.first_items();
    if (items.empty()) items.push_back(schema.items());
    if (items.size() > most_example_items) items.resize(most_example_items);
    json::JsonArray made;
    const Value anything;
    for (const Value* one : items)
      made.add(json::RawJson{value_for(schema.at(one == nullptr ? anything : *one), depth + 1)});
    return made.text();
  }

  int left_ = most_example_values;
};

/// Whether `name=value` would be parsed with that name: a word's signs decide how it is parsed.
bool can_be_typed(std::string_view name) {
  return !name.empty() && name.find('=') == name.npos && name.find(":@") == name.npos &&
         name.back() != ':' && name.find_first_not_of(" \t\r\n") != name.find('{');
}

using Form = Argument::Form;

/// Adds the words that produce the value, in their shortest typed form: the members of an object
/// one by one.
void add_words(std::vector<Argument>& words, const std::string& name, const Value& value,
               const Schema& schema) {
  const std::string json = json::to_json(value);
  if (value.is(Kind::object) && !value.members.empty()) {
    const bool are_plain =
        std::all_of(value.members.begin(), value.members.end(), [&](const json::Member& one) {
          return can_be_typed(one.name) && one.name.find('.') == one.name.npos &&
                 schema.listed_property(one.name) != nullptr;
        });
    if (!are_plain) return words.push_back({Form::json, name, json});
    for (const json::Member& one : value.members)
      add_words(words, fmt::format("{}.{}", name, one.name), one.value,
                schema.at(*schema.listed_property(one.name)));
    return;
  }
  const bool is_list = value.is(Kind::array);
  std::vector<std::string> texts;
  for (const Value& item : value.items) texts.push_back(json::plain_text(item));
  if (!is_list && !value.is(Kind::object)) texts.push_back(json::plain_text(value));
  std::vector<TypedElement> elements;
  elements.reserve(texts.size());
  for (const std::string& text : texts) elements.push_back({text, false});
  const auto made = texts.size() == 1 ? convert_text(texts[0], schema)
                    : is_list         ? convert_elements(elements, schema)
                                      : std::nullopt;
  if (texts.empty() || made != json) return words.push_back({Form::json, name, json});
  for (std::string& text : texts) words.push_back({Form::text, name, std::move(text)});
}

std::vector<std::string> typed(const std::vector<Argument>& arguments) {
  std::vector<std::string> words;
  words.reserve(arguments.size());
  for (const Argument& one : arguments) {
    words.push_back(
        one.form == Form::object
            ? one.value
            : fmt::format("{}{}{}", one.key, one.form == Form::json ? ":=" : "=", one.value));
  }
  return words;
}

/// The words of a call with these arguments, which are JSON.
std::vector<Argument> words_of(const std::string& arguments, const Schema& input) {
  const auto value = json::parse(arguments);
  const Argument whole{Form::object, "", arguments};
  if (!value || !value->is(Kind::object)) return {whole};
  const Value anything;
  for (const bool in_pieces : {true, false}) {
    std::vector<Argument> words;
    json::JsonObject others;
    for (const auto& [name, one] : value->members) {
      const Value* const property = input.property(name);
      if (!can_be_typed(name)) {
        others.add_any(name, json::RawJson{json::to_json(one)});
      } else if (in_pieces) {
        add_words(words, name, one, input.at(property == nullptr ? anything : *property));
      } else {
        words.push_back({Form::json, name, json::to_json(one)});
      }
    }
    if (!others.is_empty()) words.push_back({Form::object, "", others.text()});
    const auto made = arguments_by_schema(words, input);
    const auto* const json = std::get_if<std::string>(&made);
    const json::Value read = json::parse_or_null(json == nullptr ? "" : *json);
    const bool is_same = std::all_of(  // in any order
        value->members.begin(), value->members.end(), [&read](const json::Member& one) {
          const Value* const found = read.find(one.name);
          return found != nullptr && json::to_json(*found) == json::to_json(one.value);
        });
    if (is_same) return words;
  }
  return {whole};
}

/// As operands: a word with a leading dash would be taken for an option.
std::string as_operands(const std::vector<std::string>& words) {
  const bool has_dash = std::any_of(words.begin(), words.end(),
                                    [](const std::string& word) { return word.starts_with('-'); });
  std::string text = has_dash ? "--" : "";
  for (const std::string& word : words)
    text += (text.empty() ? "" : " ") + bridge::shell_word(word);
  return text;
}

}  // namespace

std::string signature(std::string_view tool, const Schema& input) {
  std::string text = std::string(tool) + parameters("", input, 0);
  if (input.names().empty() && input.other_names() == Schema::OtherNames::allowed)
    text += " [key=<any>...]";
  return text;
}

std::string tool_operand(std::string_view tool) { return as_operands({std::string(tool)}); }

std::string example_argument(std::string_view name, const Schema& schema) {
  std::vector<Argument> words;
  add_words(words, std::string(name), json::parse_or_null(Examples().value_for(schema)), schema);
  return as_operands(typed(words));
}

std::string example_arguments(const Schema& input) {
  std::string made = Examples().value_for(input);
  const auto value = json::parse(made);
  if (value && value->is(Kind::object) && problems_of(*value, input).empty()) return made;
  return Examples().object(input, nullptr, 0);
}

std::string example_call(std::string_view tool, const Schema& input) {
  std::vector<std::string> words = {std::string(tool)};
  for (std::string& word : typed(words_of(example_arguments(input), input)))
    words.push_back(std::move(word));
  return as_operands(words);
}

}  // namespace client
