#pragma once

#include "command_line/verb.hpp"
#include "schema/arguments.hpp"
#include "verbs/dialogue.hpp"

namespace client {

/// So much is read of stdin or of a file.
constexpr std::size_t longest_input = std::size_t{64} * 1024 * 1024;

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
std::variant<std::vector<ArgumentWord>, UsageError> parse_argument_words(const Operands& words);

/// The arguments of a call as they were typed; reads the files that they name, and stdin.
std::variant<std::vector<Argument>, UsageError> read_call_words(const Operands& words);

/// What the operands say, all input read, before there is a connection.
struct Prepared {
  std::string params;  ///< of the verb's request as JSON, "" where it has none
  /// Of a call or an answer: what its tool or question makes of them.
  std::vector<Argument> arguments;
  std::string roots{};  ///< the result of `roots/list`, "" = none were named
  /// What the server said of itself, or why there is no session, if it was asked first.
  std::optional<Answer> described{};
};
std::variant<Prepared, UsageError> prepare(const Options& options);

// The params of the rows: JSON, or "" where the handler makes the request itself. The operands are
// as many as the row says, and UTF-8.
MakeParams uri_params, level_params;
MakeParams prompt_params;      ///< NAME [key=text...]
MakeParams free_params;        ///< METHOD [PARAMS]; reads stdin to its end if PARAMS is `-`
MakeParams completion_params;  ///< KIND NAME ARGUMENT VALUE [key=text...]
MakeParams check_task;         ///< [get|result|cancel TASK]

/// What is wrong with the text, as one line; nothing if it is UTF-8 and not empty.
std::optional<UsageError> wrong_text(std::string_view text, std::string_view what);

/// The log levels from the least to the most urgent (MCP 2025-11-25, "Logging: Log Levels").
std::vector<std::string_view> log_levels();

}  // namespace client
