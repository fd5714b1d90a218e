#include "elicitation/fill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "json/scan.hpp"
#include "json/text.hpp"

namespace client {
namespace {

using Outcome = std::variant<FieldAnswer, FieldRefusal>;

std::string names_of(const std::vector<Field>& fields) {
  std::string names;
  for (const Field& field : fields) names += (names.empty() ? "" : ", ") + field.name;
  return names;
}

Outcome read_value(const Field& field, std::string_view value) {
  if (!json::is_string(value)) return FieldAnswer(value);
  return read_answer(field, json::decode_string(value));
}

/// By the field's name; null if there is no value for it.
const std::string_view* find_value(
    const std::vector<std::pair<std::string, std::string_view>>& values, const Field& field) {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&field](const auto& one) { return one.first == field.name; });
  return found == values.end() ? nullptr : &found->second;
}

}  // namespace

std::variant<std::string, FieldRefusal> fill_form(std::string_view params,
                                                  std::string_view values_json) {
  const auto question = json::parse(params);
  const json::Value* schema =
      question ? question->find("requestedSchema", json::Value::Kind::object) : nullptr;
  const bool is_page = question && question->string("mode") == "url";
  const std::vector<Field> fields =
      schema == nullptr || is_page ? std::vector<Field>() : read_fields(*schema);

  std::vector<std::pair<std::string, std::string_view>> values;
  const auto members = json::members(values_json);
  if (!members) return FieldRefusal{"the values are no JSON object"};
  for (const json::RawMember& member : *members) {
    values.emplace_back(json::decode_string(member.key), member.value);
    const std::string& name = values.back().first;
    if (std::any_of(fields.begin(), fields.end(),
                    [&name](const Field& field) { return field.name == name; })) {
      continue;
    }
    if (fields.empty()) return FieldRefusal{"the question has no fields: accept it with '{}'"};
    return FieldRefusal{
        fmt::format("the question has no field '{}', but {}", name, names_of(fields))};
  }
  // A page in the browser has its answer already: accepting it carries no content.
  if (is_page) return R"({"action":"accept"})";

  std::string content;
  for (const Field& field : fields) {
    const std::string_view* value = find_value(values, field);
    const Outcome outcome = value == nullptr ? read_answer(field, "") : read_value(field, *value);
    if (const auto* refusal = std::get_if<FieldRefusal>(&outcome)) {
      return FieldRefusal{fmt::format("field '{}': {}", field.name, refusal->why)};
    }
    const auto& answer = std::get<FieldAnswer>(outcome);
    if (!answer) continue;
    content += (content.empty() ? "" : ",") + json::quote(field.name) + ":" + *answer;
  }
  return fmt::format(R"({{"action":"accept","content":{{{}}}}})", content);
}

}  // namespace client
