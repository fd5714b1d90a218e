#include "elicitation/form.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/contains.hpp"
#include "elicitation/web_address.hpp"
#include "text/characters.hpp"
#include "text/decimal.hpp"
#include "text/trim.hpp"
#include "text/utf8.hpp"
#include "text/visible_text.hpp"

namespace client {
namespace {

using json::Value;
using Kind = Value::Kind;

std::optional<double> number_of(const Value& schema, std::string_view name) {
  const Value* found = schema.find(name, Kind::number);
  return found != nullptr ? std::optional(found->number) : std::nullopt;
}

/// `enum` with `enumNames`, or `oneOf`/`anyOf` of `const` with `title`.
std::vector<Choice> read_choices(const Value& schema) {
  std::vector<Choice> choices;
  const auto& names = schema.array("enumNames");
  for (const Value& value : schema.array("enum")) {
    const std::size_t at = choices.size();
    choices.push_back({value, json::plain_text(at < names.size() ? names[at] : value)});
  }
  for (const std::string_view member : {"oneOf", "anyOf"}) {
    for (const Value& option : schema.array(member)) {
      const Value* value = option.find("const");
      if (value == nullptr) continue;
      const std::string_view title = option.string("title");
      choices.push_back({*value, title.empty() ? json::plain_text(*value) : std::string(title)});
    }
  }
  return choices;
}

/// What a field's type is in its schema and for people, in the order of Field::Type.
struct TypeOfField {
  std::string_view name;
  std::string_view words;
  std::string_view unit;  ///< of the range
  std::string_view smallest, largest;
};
constexpr TypeOfField types[] = {
    {"string", "text", " characters", "minLength", "maxLength"},
    {"number", "a number", "", "minimum", "maximum"},
    {"integer", "a whole number", "", "minimum", "maximum"},
    {"boolean", "yes or no", "", "minimum", "maximum"},
    {"array", "several, separated by commas", " of them", "minItems", "maxItems"}};

const TypeOfField& row_of(const Field& field) {
  return types[static_cast<std::size_t>(field.type)];
}

Field read_field(const json::Member& property) {
  const Value& schema = property.value;
  Field field;
  field.name = property.name;
  field.title = schema.string("title");
  field.description = schema.string("description");
  for (std::size_t at = 0; at < std::size(types); ++at) {
    if (schema.string("type") == types[at].name) field.type = static_cast<Field::Type>(at);
  }
  if (const Value* preset = schema.find("default")) field.preset = *preset;
  field.smallest = number_of(schema, row_of(field).smallest);
  field.largest = number_of(schema, row_of(field).largest);
  const Value* const items =
      field.type == Field::Type::list ? schema.find("items", Kind::object) : nullptr;
  field.choices = read_choices(items != nullptr ? *items : schema);
  return field;
}

std::string range(const Field& field) {
  if (!field.smallest && !field.largest) return "";
  const std::string_view unit = row_of(field).unit;
  if (!field.largest)
    return fmt::format(", at least {}{}", bridge::shortest_text(*field.smallest), unit);
  if (!field.smallest)
    return fmt::format(", at most {}{}", bridge::shortest_text(*field.largest), unit);
  return fmt::format(", {} to {}{}", bridge::shortest_text(*field.smallest),
                     bridge::shortest_text(*field.largest), unit);
}

using Outcome = std::variant<FieldAnswer, FieldRefusal>;

std::optional<FieldRefusal> check_range(const Field& field, double amount, std::string_view what) {
  if (field.smallest && amount < *field.smallest)
    return FieldRefusal{
        fmt::format("{} at least {}", what, bridge::shortest_text(*field.smallest))};
  if (field.largest && amount > *field.largest)
    return FieldRefusal{fmt::format("{} at most {}", what, bridge::shortest_text(*field.largest))};
  return std::nullopt;
}

/// Finds a choice by its value, its title, or its number in the displayed list.
const Choice* find_choice(const Field& field, std::string_view typed) {
  for (const Choice& choice : field.choices) {
    const bool is_text = choice.value.is(json::Value::Kind::string);
    if ((is_text && choice.value.text == typed) || json::to_json(choice.value) == typed)
      return &choice;
  }
  for (const Choice& choice : field.choices) {
    if (bridge::ascii_lower(choice.title) == bridge::ascii_lower(typed)) return &choice;
  }
  const auto number = bridge::to_unsigned(typed);
  if (!number || *number < 1 || *number > field.choices.size()) return nullptr;
  return &field.choices[*number - 1];
}

Outcome read_number(const Field& field, std::string_view typed) {
  const bool is_number =
      json::is_json(typed) && (typed[0] == '-' || (typed[0] >= '0' && typed[0] <= '9'));
  const bool is_whole = is_number && typed.find_first_of(".eE") == std::string_view::npos;
  if (field.type == Field::Type::integer ? !is_whole : !is_number) {
    return FieldRefusal{field.type == Field::Type::integer ? "a whole number is required"
                                                           : "a number is required"};
  }
  if (const auto number = bridge::to_double(typed)) {
    if (auto refusal = check_range(field, *number, "it must be")) return *refusal;
  }
  return FieldAnswer(typed);
}

Outcome read_list(const Field& field, std::string_view typed) {
  json::JsonArray list;
  std::size_t items = 0;
  while (!typed.empty()) {
    const std::size_t comma = std::min(typed.find(','), typed.size());
    const std::string_view item = bridge::trimmed(typed.substr(0, comma));
    typed.remove_prefix(std::min(comma + 1, typed.size()));
    if (item.empty()) continue;
    const Choice* choice = find_choice(field, item);
    if (choice == nullptr && !field.choices.empty())
      return FieldRefusal{fmt::format("'{}' is not one of the choices", item)};
    ++items;
    const std::string value = choice != nullptr ? json::to_json(choice->value) : json::quote(item);
    list.add(json::RawJson{value});
  }
  if (auto refusal = check_range(field, static_cast<double>(items), "choose")) return *refusal;
  return FieldAnswer(list.text());
}

Outcome read_text(const Field& field, std::string_view typed) {
  std::size_t characters = 0;
  for (const char c : typed) characters += bridge::continues_character(c) ? 0 : 1;
  if (auto refusal =
          check_range(field, static_cast<double>(characters), "its length in characters must be")) {
    return *refusal;
  }
  return FieldAnswer(json::quote(typed));
}

Outcome read_boolean(std::string_view typed) {
  const std::string word = bridge::ascii_lower(typed);
  if (bridge::has_word("y yes true 1", word)) return FieldAnswer("true");
  if (bridge::has_word("n no false 0", word)) return FieldAnswer("false");
  return FieldRefusal{"yes or no is required"};
}

using Answers = std::vector<std::pair<std::string, std::string>>;

/// The result of an elicitation. For a page in the browser, which collects the answer, accepting
/// carries no content.
std::string accepted(bool is_page, const Answers& answers) {
  json::JsonObject content;
  for (const auto& [name, value] : answers) content.add_any(name, json::RawJson{value});
  json::JsonObject result;
  result.add("action", "accept");
  return is_page ? result.text() : result.add("content", content).text();
}

}  // namespace

std::vector<Field> read_fields(const Value& requested_schema) {
  std::vector<Field> fields;
  for (const json::Member& property : requested_schema.object("properties").members)
    fields.push_back(read_field(property));
  for (const Value& name : requested_schema.array("required")) {
    for (Field& field : fields)
      field.required = field.required || (name.is(Kind::string) && name.text == field.name);
  }
  return fields;
}

std::string describe_field(const Field& field) {
  std::string text = field.title.empty() ? field.name : field.title;
  if (!field.title.empty() && field.title != field.name) text += " (" + field.name + ")";
  text += fmt::format(": {}{}", row_of(field).words, range(field));
  text += field.required ? ", required" : ", optional";
  if (!field.description.empty()) text += "\n  " + field.description;
  for (std::size_t at = 0; at < field.choices.size(); ++at) {
    const Choice& choice = field.choices[at];
    const std::string value = json::plain_text(choice.value);
    text += fmt::format("\n  {}) {}", at + 1, choice.title);
    if (choice.title != value) text += " (" + value + ")";
  }
  if (field.preset) text += "\n  empty for " + json::to_json(*field.preset);
  return text;
}

Outcome read_answer(const Field& field, std::string_view typed) {
  if (!bridge::is_utf8(typed)) return FieldRefusal{"not UTF-8"};
  const std::string_view text = bridge::trimmed(typed);
  if (text.empty()) {
    if (field.preset) return FieldAnswer(json::to_json(*field.preset));
    if (!field.required) return FieldAnswer();
    return FieldRefusal{"an answer is required"};
  }
  if (field.type == Field::Type::list) return read_list(field, text);
  if (!field.choices.empty()) {
    const Choice* choice = find_choice(field, text);
    if (choice == nullptr) return FieldRefusal{"not one of the choices"};
    return FieldAnswer(json::to_json(choice->value));
  }
  switch (field.type) {
    case Field::Type::number:
    case Field::Type::integer: return read_number(field, text);
    case Field::Type::boolean: return read_boolean(text);
    default: return read_text(field, typed);
  }
}

std::optional<ElicitationForm> ElicitationForm::from_params(std::string_view params, EndOfInput end,
                                                            Caller caller) {
  const auto value = json::parse(params);
  if (!value || !value->is(json::Value::Kind::object)) return std::nullopt;
  ElicitationForm form;
  form.end_ = end;
  form.caller_ = caller;
  form.message_ = value->string("message");
  if (value->string("mode") == "url") form.address_ = value->string("url");
  if (form.address_.empty()) form.fields_ = read_fields(value->object("requestedSchema"));
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
    // On one line, so that the server's text cannot imitate the lines that follow.
    text +=
        "The server asks you to open a page: " + bridge::make_visible_line(message_) + "\n" +
        describe_address(address_) +
        "Nothing was opened. yes tells the server that you agree; then open the page yourself.\n";
  }
  text += end_ == EndOfInput::cancels
              ? "(!decline refuses, !cancel or end of input dismisses it)\n"
              : "(!decline refuses, !cancel dismisses it, end of input leaves it for later)\n";
  return text + question();
}

std::string ElicitationForm::describe() const {
  std::string text = message_ + "\n";
  if (!address_.empty())
    text = bridge::make_visible_line(message_) + "\nto be answered on a page:\n" +
           describe_address(address_);
  for (const Field& field : fields_) text += describe_field(field) + "\n";
  return text;
}

std::string ElicitationForm::usage() const {
  if (is_consent_only()) return " '{}'";
  std::string words;
  for (const Field& field : fields_) {
    if (field.required) words += fmt::format(" {}=VALUE", field.name);
  }
  return words.empty() ? fmt::format(" {}=VALUE", fields_.front().name) : words;
}

void ElicitationForm::end_of_input() {
  left_ = end_ == EndOfInput::leaves;
  if (!left_) action_ = "cancel";
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
  if (const auto* refusal = std::get_if<FieldRefusal>(&outcome))
    return refusal->why + "\n" + question();
  const FieldAnswer& answer = std::get<FieldAnswer>(outcome);
  if (is_consent_only()) {
    action_ = *answer == "true" ? "accept" : "decline";
    return "";
  }
  if (answer) answers_.emplace_back(field.name, *answer);
  if (++current_ < fields_.size()) return question();
  action_ = "accept";
  return "";
}

std::string ElicitationForm::result() const {
  if (action_ == "accept") return accepted(!address_.empty(), answers_);
  return json::JsonObject().add("action", action_).text();
}

std::variant<std::string, FieldRefusal> fill_form(std::string_view params,
                                                  std::string_view values_json) {
  const json::Value question = json::parse_or_null(params);
  const bool is_page = question.string("mode") == "url";
  const std::vector<Field> fields =
      is_page ? std::vector<Field>() : read_fields(question.object("requestedSchema"));

  std::vector<std::string_view> names;
  names.reserve(fields.size());
  for (const Field& field : fields) names.push_back(field.name);
  const auto members = json::members(values_json);
  if (!members) return FieldRefusal{"the values are not a JSON object"};
  for (const json::RawMember& member : *members) {
    const std::string name = json::decode_string(member.key);
    if (bridge::contains(names, name)) continue;
    if (fields.empty()) return FieldRefusal{"the question has no fields: accept it with '{}'"};
    return FieldRefusal{fmt::format("unknown field '{}'; one of {}", name, fmt::join(names, ", "))};
  }

  Answers answers;
  for (const Field& field : fields) {
    const auto value = json::find_member(values_json, field.name);
    const bool is_json = value && !json::is_string(*value);
    const Outcome outcome =
        is_json ? FieldAnswer(*value)
                : read_answer(field, value ? json::decode_string(*value) : std::string());
    if (const auto* refusal = std::get_if<FieldRefusal>(&outcome))
      return FieldRefusal{fmt::format("field '{}': {}", field.name, refusal->why)};
    const auto& answer = std::get<FieldAnswer>(outcome);
    if (answer) answers.emplace_back(field.name, *answer);
  }
  return accepted(is_page, answers);
}

}  // namespace client
