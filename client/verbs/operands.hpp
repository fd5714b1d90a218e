#pragma once

#include "command_line/verb.hpp"
#include "schema/arguments.hpp"
#include "verbs/dialogue.hpp"

namespace client {

/// The most that is read from stdin or from a file.
constexpr std::size_t longest_input = std::size_t{64} * 1024 * 1024;

/// One word of a call's arguments, parsed.
struct ArgumentWord {
  Argument argument;
  bool is_file = false;  ///< its value is the name of the file that has it, - for stdin
};

/// Parses the words of `call`. A value is a file's name only if the sign before it says so: key=@x
/// is the text @x. stdin can be named once. Reads no file, and parses no JSON.
std::variant<std::vector<ArgumentWord>, UsageError> parse_argument_words(const Operands& words);

/// The arguments of a call as typed; reads the files that they name, and stdin.
std::variant<std::vector<Argument>, UsageError> read_call_words(const Operands& words);

/// The content of the operands, with all input read, before connecting.
struct Prepared {
  std::string params;  ///< of the verb's request as JSON, "" if it has none
  /// Of a call or an answer: to be converted by its tool or question.
  std::vector<Argument> arguments;
  std::string roots{};  ///< the result of `roots/list`, "" = none given
  /// The server's self-description, or why there is no session, if requested first.
  std::optional<Answer> described{};
};
std::variant<Prepared, UsageError> prepare(const Options& options);

// The params of the rows: JSON, or "" if the handler makes the request itself. The number of
// operands is as the row says, and they are UTF-8.
MakeParams uri_params, level_params;
MakeParams prompt_params;      ///< NAME [key=text...]
MakeParams free_params;        ///< METHOD [PARAMS]; reads stdin to its end if PARAMS is `-`
MakeParams completion_params;  ///< KIND NAME ARGUMENT VALUE [key=text...]
MakeParams check_task;         ///< [get|result|cancel TASK]

/// What is wrong with the text, as one line; nullopt if it is UTF-8 and not empty.
std::optional<UsageError> wrong_text(std::string_view text, std::string_view what);

/// The log levels from the least to the most urgent (MCP 2025-11-25, "Logging: Log Levels").
std::vector<std::string_view> log_levels();

}  // namespace client
