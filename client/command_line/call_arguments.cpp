#include "command_line/call_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "json/scan.hpp"
#include "json/text.hpp"
#include "terminal/utf8.hpp"
#include "text/utf8.hpp"

namespace client {
namespace {

std::variant<std::string, UsageError> check_object(std::string_view text,
                                                   std::string_view from_where) {
  if (!bridge::is_utf8(text)) return UsageError{fmt::format("{} are not UTF-8", from_where)};
  if (!json::is_valid(text) || !json::is_object(text)) {
    return UsageError{fmt::format("{} are no JSON object", from_where)};
  }
  return json::on_one_line(text);
}

struct KeyAndValue {
  std::string_view key;
  std::string value;  // JSON
};

std::variant<KeyAndValue, UsageError> split_word(std::string_view word, ArgumentForms forms) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0 || word.substr(0, equals) == ":") {
    return UsageError{fmt::format(
        "argument '{}' is not {}", word,
        forms == ArgumentForms::text_only ? "key=text" : "key=text, key:=json, '{...}' or -")};
  }
  if (!bridge::is_utf8(word)) return UsageError{"an argument is not UTF-8"};
  const std::string_view value = word.substr(equals + 1);
  if (forms == ArgumentForms::text_only || word[equals - 1] != ':') {
    return KeyAndValue{word.substr(0, equals), json::quote(value)};
  }
  const std::string_view key = word.substr(0, equals - 1);
  if (!json::is_valid(value)) {
    return UsageError{fmt::format("argument '{}': '{}' is no JSON value (for text write {}=...)",
                                  key, value, key)};
  }
  return KeyAndValue{key, json::on_one_line(value)};
}

/// Nothing if the word has no sign between a key and a value.
std::optional<ArgumentWord> take_apart(std::string_view word) {
  using Form = ArgumentWord::Form;
  if (word == "-") return ArgumentWord{Form::standard_input, "", ""};
  const std::size_t first = word.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && word[first] == '{')
    return ArgumentWord{Form::object, "", std::string(word)};
  const std::size_t equals = word.find('=');
  const std::size_t file = word.find(":@");
  const std::size_t sign = std::min(equals, file);
  if (sign == std::string_view::npos || sign == 0) return std::nullopt;
  Form form = Form::text_file;
  std::size_t key = sign;
  std::size_t value = sign + 2;
  if (sign == equals) {
    const bool is_json = word[sign - 1] == ':';
    const bool is_file = is_json && word.substr(sign + 1, 1) == "@";
    form = is_file ? Form::json_file : is_json ? Form::json : Form::text;
    key = is_json ? sign - 1 : sign;
    value = is_file ? sign + 2 : sign + 1;
  }
  if (key == 0) return std::nullopt;
  return ArgumentWord{form, std::string(word.substr(0, key)), std::string(word.substr(value))};
}

bool takes_standard_input(const ArgumentWord& word) {
  using Form = ArgumentWord::Form;
  return word.form == Form::standard_input ||
         ((word.form == Form::text_file || word.form == Form::json_file) && word.value == "-");
}

}  // namespace

std::variant<std::vector<ArgumentWord>, UsageError> parse_argument_words(
    const std::vector<std::string>& words) {
  std::vector<ArgumentWord> all;
  all.reserve(words.size());
  for (const std::string& word : words) {
    if (!bridge::is_utf8(word)) return UsageError{"an argument is not UTF-8"};
    auto parsed = take_apart(word);
    if (!parsed) {
      return UsageError{fmt::format(
          "argument '{}' is not key=text, key:=json, key:@FILE, key:=@FILE, '{{...}}' or -", word)};
    }
    const bool is_second =
        takes_standard_input(*parsed) && std::any_of(all.begin(), all.end(), takes_standard_input);
    if (is_second) return UsageError{"stdin can be read only once"};
    all.push_back(std::move(*parsed));
  }
  return all;
}

std::variant<std::string, UsageError> build_arguments(const std::vector<std::string>& words,
                                                      ArgumentForms forms) {
  std::string object = "{";
  std::vector<std::string_view> keys;
  for (const std::string& word : words) {
    auto split = split_word(word, forms);
    if (auto* error = std::get_if<UsageError>(&split)) return *error;
    const auto& [key, value] = std::get<KeyAndValue>(split);
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) {
      return UsageError{fmt::format("argument '{}' is given twice", key)};
    }
    if (!keys.empty()) object.push_back(',');
    keys.push_back(key);
    object += json::quote(key) + ":" + value;
  }
  return object + "}";
}

bool wants_standard_input(const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), "-") != words.end();
}

std::variant<std::string, UsageError> build_call_arguments(const std::vector<std::string>& words,
                                                           std::string_view standard_input) {
  const auto is_whole = [](const std::string& word) {
    return word == "-" || word.find_first_not_of(" \t\r\n") == word.find('{');
  };
  if (words.empty() || std::none_of(words.begin(), words.end(), is_whole)) {
    return build_arguments(words, ArgumentForms::text_and_json);
  }
  if (words.size() > 1) {
    return UsageError{"'{...}' and - are the whole arguments: nothing else can stand beside them"};
  }
  if (words[0] == "-") return check_object(standard_input, "the arguments on stdin");
  return check_object(words[0], "the arguments");
}

std::variant<std::string, UsageError> check_params(std::string_view text) {
  if (!bridge::is_utf8(text)) return UsageError{"PARAMS are not UTF-8"};
  if (!json::is_valid(text) || (!json::is_object(text) && !json::is_array(text))) {
    return UsageError{"PARAMS are no JSON object or array"};
  }
  return json::on_one_line(text);
}

}  // namespace client
