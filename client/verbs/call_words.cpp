#include "verbs/call_words.hpp"

#include <fmt/format.h>

#include <utility>

#include "command_line/call_arguments.hpp"
#include "json/scan.hpp"
#include "text/utf8.hpp"
#include "verbs/read_input.hpp"

namespace client {
namespace {

using Form = ArgumentWord::Form;

/// Where a value comes from, for a message.
std::string source_of(const ArgumentWord& word) {
  switch (word.form) {
    case Form::standard_input: return "the arguments on stdin";
    case Form::object: return "the arguments";
    case Form::text_file:
    case Form::json_file:
      return word.value == "-" ? fmt::format("stdin (argument {})", word.key)
                               : fmt::format("'{}' (argument {})", word.value, word.key);
    default: return fmt::format("argument {}", word.key);
  }
}

std::variant<std::string, UsageError> value_of(ArgumentWord& word) {
  switch (word.form) {
    case Form::standard_input: return read_standard_input();
    case Form::text_file:
    case Form::json_file: return read_input_file(word.value);
    default: return std::move(word.value);
  }
}

/// REQUIRES: it is UTF-8, as parse_argument_words() gives it.
std::variant<Argument, UsageError> read(ArgumentWord word) {
  if (word.form == Form::text)
    return Argument{Argument::Form::text, std::move(word.key), std::move(word.value)};
  auto read = value_of(word);
  if (auto* error = std::get_if<UsageError>(&read)) return std::move(*error);
  Argument argument{Argument::Form::text, word.key, std::get<std::string>(std::move(read))};
  if (!bridge::is_utf8(argument.value)) {
    return UsageError{fmt::format("{}: what stands there is not UTF-8{}", source_of(word),
                                  word.form == Form::text_file ? ", and cannot be a string" : "")};
  }
  switch (word.form) {
    case Form::text: return argument;  // was taken as it is
    case Form::text_file: argument.form = Argument::Form::string; return argument;
    case Form::json:
    case Form::json_file:
      argument.form = Argument::Form::json;
      if (json::is_valid(argument.value)) return argument;
      return UsageError{fmt::format("{}: {} is no JSON value (for text write {}=...)",
                                    source_of(word),
                                    word.form == Form::json ? fmt::format("'{}'", argument.value)
                                                            : std::string("what stands there"),
                                    word.key)};
    case Form::object:
    case Form::standard_input: break;
  }
  argument.form = Argument::Form::object;
  if (json::is_valid(argument.value) && json::is_object(argument.value)) return argument;
  return UsageError{fmt::format("{} are no JSON object", source_of(word))};
}

}  // namespace

std::variant<std::vector<Argument>, UsageError> read_call_words(
    const std::vector<std::string>& words) {
  auto parsed = parse_argument_words(words);
  if (auto* error = std::get_if<UsageError>(&parsed)) return std::move(*error);
  std::vector<Argument> arguments;
  arguments.reserve(words.size());
  for (ArgumentWord& word : std::get<std::vector<ArgumentWord>>(parsed)) {
    auto one = read(std::move(word));
    if (auto* error = std::get_if<UsageError>(&one)) return std::move(*error);
    arguments.push_back(std::get<Argument>(std::move(one)));
  }
  return arguments;
}

}  // namespace client
