#include "command_line/call_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

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
