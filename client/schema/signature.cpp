#include "schema/signature.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "json/text.hpp"
#include "spelling/shell_word.hpp"

namespace client {
namespace {

using json::Value;
using Kind = Value::Kind;

constexpr std::size_t longest_type = 60;

bool takes_json(const Schema& schema) {
  const auto types = schema.types();
  return !types.empty() && std::all_of(types.begin(), types.end(), [](std::string_view type) {
    return type == "object" || type == "null";
  });
}

/// What an argument looks like: `fast|slow` of an enum of strings, else its type.
std::string form_of(const Schema& schema) {
  std::string text;
  for (const Value* value : schema.values()) {
    if (!text.empty()) text += '|';
    text += value->is(Kind::string) ? value->text : json::to_json(*value);
  }
  if (text.empty()) text = schema.describe();
  return text.size() > longest_type ? std::string("one of many") : text;
}

std::string parameter(std::string_view name, const Schema& schema) {
  if (takes_json(schema)) return fmt::format("{}:=<object>", name);
  const auto types = schema.types();
  const Value* const items = schema.items();
  if (types.size() == 1 && types.front() == "array" && items != nullptr)
    return fmt::format("{}=<{}>...", name, form_of(schema.at(*items)));
  return fmt::format("{}=<{}>", name, form_of(schema));
}

std::string example_value(const Schema& schema, bool& is_json) {
  is_json = false;
  const auto plain = [&is_json](const Value& value) {
    is_json = value.is(Kind::array) || value.is(Kind::object);
    return value.is(Kind::string) ? value.text : json::to_json(value);
  };
  for (const std::string_view member : {"examples", "default"}) {
    for (const Value* part : schema.parts()) {
      const Value* const found = part->find(member);
      if (found == nullptr) continue;
      if (member == "default") return plain(*found);
      if (!found->items.empty()) return plain(found->items.front());
    }
  }
  if (const auto values = schema.values(); !values.empty()) return plain(*values.front());
  auto types = schema.types();
  if (const auto others = schema.alternatives(); types.empty() && !others.empty())
    return example_value(others.front(), is_json);
  const std::string_view type = types.empty() ? std::string_view() : types.front();
  if (type == "number" || type == "integer") {
    const Value* const least = schema.find("minimum", Kind::number);
    return least != nullptr ? least->text : "1";
  }
  if (type == "boolean") return "true";
  if (type == "null") return "null";
  if (type == "array") {
    const Value* const items = schema.items();
    if (items != nullptr) return example_value(schema.at(*items), is_json);
    return "text";
  }
  if (type == "object") {
    is_json = true;
    return "{}";
  }
  return "text";
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

std::string example_call(std::string_view tool, const Schema& input) {
  std::string text = shell_word(tool);
  for (const std::string_view name : input.required()) {
    const Value* const property = input.property(name);
    bool is_json = false;
    const std::string value =
        property == nullptr ? "text" : example_value(input.at(*property), is_json);
    text += " " + shell_word(fmt::format("{}{}{}", name, is_json ? ":=" : "=", value));
  }
  return text;
}

}  // namespace client
