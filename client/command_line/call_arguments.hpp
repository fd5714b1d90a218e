#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "command_line/options.hpp"

namespace client {

/// How values may be written on a command line.
enum class ArgumentForms {
  text_only,      ///< key=text; what a prompt takes
  text_and_json,  ///< key:=json too
};

/// The JSON object made of `key=text` and `key:=json`. Keys may not repeat; text must be UTF-8.
std::variant<std::string, UsageError> build_arguments(const std::vector<std::string>& words,
                                                      ArgumentForms forms);

/// The arguments of a tool call: the words of build_arguments, or a single `{...}`, or a single
/// `-` that stands for `standard_input` (see wants_standard_input). One line, "{}" if there is
/// none.
std::variant<std::string, UsageError> build_call_arguments(const std::vector<std::string>& words,
                                                           std::string_view standard_input);

/// One word of a call's arguments, taken apart.
struct ArgumentWord {
  enum class Form {
    text,            ///< key=text
    json,            ///< key:=json
    text_file,       ///< key:@FILE; the value is the file's name, or - for stdin
    json_file,       ///< key:=@FILE
    object,          ///< {...}
    standard_input,  ///< -
  };
  Form form = Form::text;
  std::string key;
  std::string value;
};

/// The words of `call`. A value is a file's name only where the sign before it says so: key=@x is
/// the text @x. stdin can be named once. No file is read, and no JSON is looked at.
std::variant<std::vector<ArgumentWord>, UsageError> parse_argument_words(
    const std::vector<std::string>& words);

/// Is one of the words `-`?
bool wants_standard_input(const std::vector<std::string>& words);

/// PARAMS of request and notify: an object or an array, one line.
std::variant<std::string, UsageError> check_params(std::string_view text);

}  // namespace client
