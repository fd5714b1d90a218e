#include "elicitation/form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "elicitation/web_address.hpp"
#include "json/text.hpp"
#include "terminal/visible.hpp"

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

std::optional<ElicitationForm> ElicitationForm::from_params(std::string_view params, EndOfInput end,
                                                            Caller caller) {
  const auto value = json::parse(params);
  if (!value || !value->is(json::Value::Kind::object)) return std::nullopt;
  ElicitationForm form;
  form.end_ = end;
  form.caller_ = caller;
  form.message_ = value->string("message");
  if (value->string("mode") == "url") form.address_ = value->string("url");
  const json::Value* schema = value->find("requestedSchema", json::Value::Kind::object);
  if (form.address_.empty() && schema != nullptr) form.fields_ = read_fields(*schema);
  return form;
}

std::string ElicitationForm::begin() const {
  std::string text;
  if (caller_ == Caller::another) {
    text = "Not about your call: the server asks about one that another caller has made.\n";
  } else if (caller_ == Caller::unknown) {
    text =
        "Perhaps not about your call: others are under way, and the server does not say which it "
        "asks about.\n";
  }
  if (address_.empty()) {
    text += "The server asks: " + message_ + "\n";
  } else {
    // On one line: nothing in it is to look like the lines that follow.
    text +=
        "The server asks you to open a page: " + make_visible_line(message_) + "\n" +
        describe_address(address_) +
        "Nothing was opened. yes tells the server that you agree; then open the page yourself.\n";
  }
  text += end_ == EndOfInput::cancels
              ? "(!decline refuses, !cancel or end of input leaves it open)\n"
              : "(!decline refuses, !cancel dismisses it, end of input leaves it for later)\n";
  return text + question();
}

std::string ElicitationForm::describe() const {
  std::string text = message_ + "\n";
  if (!address_.empty())
    text =
        make_visible_line(message_) + "\nto be answered on a page:\n" + describe_address(address_);
  for (const Field& field : fields_) text += describe_field(field) + "\n";
  return text;
}

void ElicitationForm::end_of_input() {
  if (end_ == EndOfInput::leaves) {
    left_ = true;
  } else {
    action_ = "cancel";
  }
}

std::string ElicitationForm::question() const {
  if (!address_.empty()) return "Agree to open it? [yes/no] ";
  if (is_consent_only()) return "Accept? [yes/no] ";
  return describe_field(fields_[current_]) + "\n> ";
}

std::string ElicitationForm::take(std::string_view line) {
  if (line == "!decline" || line == "!cancel") {
    action_ = line.substr(1);
    return "";
  }
  Field consent;
  consent.type = Field::Type::boolean;
  consent.required = true;
  const Field& field = is_consent_only() ? consent : fields_[current_];
  const auto outcome = read_answer(field, line);
  if (const auto* refusal = std::get_if<FieldRefusal>(&outcome)) {
    return refusal->why + "\n" + question();
  }
  const FieldAnswer& answer = std::get<FieldAnswer>(outcome);
  if (is_consent_only()) {
    action_ = *answer == "true" ? "accept" : "decline";
    return "";
  }
  if (answer) answers_.emplace_back(field.name, *answer);
  if (++current_ < fields_.size()) return question();
  accept();
  return "";
}

std::string ElicitationForm::result() const {
  std::string text = "{\"action\":" + json::quote(action_);
  // A page in the browser has its answer already: accepting it carries no content.
  if (action_ == "accept" && address_.empty()) {
    text += ",\"content\":{";
    bool first = true;
    for (const auto& [name, value] : answers_) {
      if (!std::exchange(first, false)) text.push_back(',');
      text += json::quote(name) + ":" + value;
    }
    text.push_back('}');
  }
  return text + "}";
}

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
