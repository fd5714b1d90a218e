#include "verbs/operands.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cstring>

#include "base/contains.hpp"
#include "text/similar.hpp"
#include "text/utf8.hpp"
#include "verbs/roots.hpp"

namespace client {
namespace {

using Form = Argument::Form;

std::variant<std::string, UsageError> read_whole(int descriptor, const std::string& name) {
  std::string text;
  const int error = read_all(descriptor, text, longest_input);
  if (error == EFBIG)
    return UsageError{fmt::format("{} has more than {} MiB", name, longest_input >> 20)};
  if (error != 0) return UsageError{fmt::format("cannot read {}: {}", name, std::strerror(error))};
  return text;
}

std::variant<std::string, UsageError> read_input_file(const std::string& path) {
  if (path == "-") return read_whole(STDIN_FILENO, "stdin");
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return UsageError{fmt::format("cannot open '{}': {}", path, std::strerror(errno))};
  return read_whole(file.get(), fmt::format("'{}'", path));
}

/// nullopt if the word has no sign between a key and a value.
std::optional<ArgumentWord> take_apart(std::string_view word) {
  if (word == "-") return ArgumentWord{{Form::object, "", "-"}, true};
  const std::size_t first = word.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && word[first] == '{')
    return ArgumentWord{{Form::object, "", std::string(word)}};
  const std::size_t equals = word.find('=');
  const std::size_t sign = std::min(equals, word.find(":@"));
  if (sign == std::string_view::npos || sign == 0) return std::nullopt;
  const bool is_json = sign == equals && word[sign - 1] == ':';
  const bool is_file = sign != equals || (is_json && word.substr(sign + 1, 1) == "@");
  const std::string_view key = word.substr(0, is_json ? sign - 1 : sign);
  if (key.empty()) return std::nullopt;
  const Form form = is_json ? Form::json : is_file ? Form::string : Form::text;
  return ArgumentWord{
      {form, std::string(key), std::string(word.substr(is_file ? sign + 2 : sign + 1))}, is_file};
}

bool takes_standard_input(const ArgumentWord& word) {
  return word.is_file && word.argument.value == "-";
}

/// The source of a value, for a message.
std::string source_of(const ArgumentWord& word) {
  const auto& [form, key, value] = word.argument;
  if (form == Form::object) return word.is_file ? "the arguments on stdin" : "the arguments";
  if (!word.is_file) return fmt::format("argument {}", key);
  return value == "-" ? fmt::format("stdin (argument {})", key)
                      : fmt::format("'{}' (argument {})", value, key);
}

/// REQUIRES: it is UTF-8, as returned by parse_argument_words().
std::variant<Argument, UsageError> read(ArgumentWord word) {
  if (word.argument.form == Form::text) return std::move(word.argument);
  Argument argument = word.argument;
  if (word.is_file) {
    auto content = read_input_file(argument.value);
    if (auto* error = std::get_if<UsageError>(&content)) return std::move(*error);
    argument.value = std::get<std::string>(std::move(content));
  }
  if (!bridge::is_utf8(argument.value))
    return UsageError{fmt::format("{}: the content is not UTF-8{}", source_of(word),
                                  argument.form == Form::string ? ", and cannot be a string" : "")};
  const bool is_json = argument.form == Form::string || json::is_json(argument.value);
  if (argument.form == Form::json && !is_json) {
    const std::string what = word.is_file ? "its content" : fmt::format("'{}'", argument.value);
    return UsageError{fmt::format("{}: {} is not JSON (for text write {}=...)", source_of(word),
                                  what, argument.key)};
  }
  if (argument.form == Form::object && !json::members(argument.value))
    return UsageError{fmt::format("{} are not a JSON object", source_of(word))};
  return argument;
}

/// The JSON object from `key=text` words. Keys may not repeat.
Params text_arguments(const Operands& operands, std::size_t first) {
  json::JsonObject object;
  std::vector<std::string_view> keys;
  for (std::size_t at = first; at < operands.size(); ++at) {
    const std::string& word = operands[at];
    const std::size_t equals = word.find('=');
    if (equals == word.npos || equals == 0)
      return UsageError{fmt::format("argument '{}' is not key=text", word)};
    const std::string_view key = std::string_view(word).substr(0, equals);
    if (bridge::contains(keys, key))
      return UsageError{fmt::format("argument '{}' is given twice", key)};
    keys.push_back(key);
    const std::string text = json::quote(std::string_view(word).substr(equals + 1));
    object.add_any(key, json::RawJson{text});
  }
  return object.text();
}

/// `unknown level 'debg'; did you mean 'debug'?`, or the possible words, if none is near.
UsageError unknown_word(std::string_view what, std::string_view given,
                        const std::vector<std::string_view>& known) {
  const std::string meant = bridge::did_you_mean(given, known);
  return {fmt::format("unknown {} '{}'{}", what, given,
                      meant.empty() ? fmt::format("; one of {}", fmt::join(known, ", ")) : meant)};
}

}  // namespace

std::optional<UsageError> wrong_text(std::string_view text, std::string_view what) {
  if (!text.empty() && bridge::is_utf8(text)) return std::nullopt;
  return UsageError{fmt::format("{} is empty or not UTF-8", what)};
}

std::variant<std::vector<ArgumentWord>, UsageError> parse_argument_words(const Operands& words) {
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

std::variant<std::vector<Argument>, UsageError> read_call_words(const Operands& words) {
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

std::vector<std::string_view> log_levels() {
  return {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};
}

Params uri_params(const Operands& operands) {
  return json::JsonObject().add("uri", operands[0]).text();
}

Params prompt_params(const Operands& operands) {
  auto arguments = text_arguments(operands, 1);
  if (std::holds_alternative<UsageError>(arguments)) return arguments;
  const json::RawJson made{std::get<std::string>(arguments)};
  return json::JsonObject().add("name", operands[0]).add("arguments", made).text();
}

Params free_params(const Operands& operands) {
  if (operands.size() == 1) return "";
  Params read = operands[1] == "-" ? read_input_file("-") : Params(operands[1]);
  if (std::holds_alternative<UsageError>(read)) return read;
  const std::string& text = std::get<std::string>(read);
  if (!bridge::is_utf8(text)) return UsageError{"PARAMS are not UTF-8"};
  if (!json::members(text) && !json::elements(text))
    return UsageError{
        fmt::format("PARAMS: '{}' is not a JSON object or array", text.substr(0, 60))};
  return json::on_one_line(text);
}

Params level_params(const Operands& operands) {
  const auto levels = log_levels();
  const std::string& level = operands[0];
  if (!bridge::contains(levels, level)) return unknown_word("level", level, levels);
  return json::JsonObject().add("level", level).text();
}

Params completion_params(const Operands& operands) {
  const std::string& kind = operands[0];
  if (kind != "prompt" && kind != "resource")
    return unknown_word("kind", kind, {"prompt", "resource"});
  auto others = text_arguments(operands, 4);
  if (std::holds_alternative<UsageError>(others)) return others;
  json::JsonObject what, argument, params;
  what.add("type", "ref/" + kind).add(kind == "prompt" ? "name" : "uri", operands[1]);
  argument.add("name", operands[2]).add("value", operands[3]);
  params.add("ref", what).add("argument", argument);
  const json::RawJson known{std::get<std::string>(others)};
  if (operands.size() > 4) params.add("context", json::JsonObject().add("arguments", known));
  return params.text();
}

Params check_task(const Operands& operands) {
  if (operands.empty()) return "";
  const std::vector<std::string_view> known = {"get", "result", "cancel"};
  if (!bridge::contains(known, operands[0])) return unknown_word("action", operands[0], known);
  if (operands.size() == 1)
    return UsageError{fmt::format("usage: mcp-nc tasks {} TASK", operands[0])};
  if (auto wrong = wrong_text(operands[1], "TASK")) return *wrong;
  return "";
}

std::variant<Prepared, UsageError> prepare(const Options& options) {
  Prepared prepared;
  const Verb* const verb = options.verb;
  const Operands& operands = options.operands;
  const bool names_file = verb != nullptr && verb->form.ends_with(" FILE");
  const bool is_text = std::all_of(operands.begin(), operands.end(), bridge::is_utf8);
  if (!is_text && !names_file) return UsageError{"an argument is not UTF-8"};
  auto params = verb == nullptr || verb->params == nullptr ? Params("") : verb->params(operands);
  if (auto* error = std::get_if<UsageError>(&params)) return std::move(*error);
  prepared.params = std::get<std::string>(std::move(params));
  auto roots = read_roots(options.roots);
  if (auto* error = std::get_if<UsageError>(&roots)) return std::move(*error);
  prepared.roots = std::get<std::string>(std::move(roots));
  if (verb == nullptr || !verb->has(takes_words)) return prepared;
  auto words = read_call_words({operands.begin() + 1, operands.end()});
  if (auto* error = std::get_if<UsageError>(&words)) return std::move(*error);
  prepared.arguments = std::get<std::vector<Argument>>(std::move(words));
  return prepared;
}

}  // namespace client
