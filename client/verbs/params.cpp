#include "verbs/params.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "command_line/call_arguments.hpp"
#include "command_line/verb_manual.hpp"
#include "json/text.hpp"
#include "spelling/similar.hpp"
#include "terminal/utf8.hpp"
#include "text/utf8.hpp"
#include "verbs/call_words.hpp"
#include "verbs/read_input.hpp"
#include "verbs/roots.hpp"

namespace client {
namespace {

using Params = std::variant<std::string, UsageError>;

Params named(const std::string& name, Params arguments) {
  if (!bridge::is_utf8(name)) return UsageError{"the name is not UTF-8"};
  if (const auto* object = std::get_if<std::string>(&arguments)) {
    return fmt::format(R"({{"name":{},"arguments":{}}})", json::quote(name), *object);
  }
  return arguments;
}

Params free_params(const std::vector<std::string>& operands) {
  if (!bridge::is_utf8(operands[0])) return UsageError{"METHOD is not UTF-8"};
  if (operands.size() == 1) return "";
  if (operands[1] != "-") return check_params(operands[1]);
  auto read = read_standard_input();
  if (std::holds_alternative<UsageError>(read)) return read;
  return check_params(std::get<std::string>(read));
}

Params check_jobs(const std::vector<std::string>& jobs) {
  for (const std::string& job : jobs) {
    if (job.empty() || !bridge::is_utf8(job)) return UsageError{"JOB is empty or not UTF-8"};
  }
  return "";
}

/// KIND NAME ARGUMENT VALUE [key=text...].
Params completion_params(const std::vector<std::string>& operands) {
  const std::string& kind = operands[0];
  if (kind != "prompt" && kind != "resource")
    return UsageError{fmt::format("'{}' is neither prompt nor resource", kind)};
  for (const std::string& operand : operands) {
    if (!bridge::is_utf8(operand)) return UsageError{"an argument is not UTF-8"};
  }
  auto others = build_arguments({operands.begin() + 4, operands.end()}, ArgumentForms::text_only);
  if (std::holds_alternative<UsageError>(others)) return others;
  const std::string& arguments = std::get<std::string>(others);
  const std::string context =
      operands.size() == 4 ? "" : fmt::format(R"(,"context":{{"arguments":{}}})", arguments);
  return fmt::format(
      R"({{"ref":{{"type":"ref/{}","{}":{}}},"argument":{{"name":{},"value":{}}}{}}})", kind,
      kind == "prompt" ? "name" : "uri", json::quote(operands[1]), json::quote(operands[2]),
      json::quote(operands[3]), context);
}

/// [get|result|cancel TASK].
Params check_task(const std::vector<std::string>& operands) {
  if (operands.empty()) return "";
  const std::vector<std::string_view> known = {"get", "result", "cancel"};
  if (std::find(known.begin(), known.end(), operands[0]) == known.end())
    return UsageError{fmt::format("'{}' is none of get, result, cancel{}", operands[0],
                                  did_you_mean(operands[0], known))};
  if (operands.size() == 1)
    return UsageError{fmt::format("usage: mcp-nc tasks {} TASK", operands[0])};
  if (operands[1].empty() || !bridge::is_utf8(operands[1]))
    return UsageError{"TASK is empty or not UTF-8"};
  return "";
}

Params check_level(const std::string& level) {
  const std::vector<std::string_view> levels(log_levels().begin(), log_levels().end());
  if (std::find(levels.begin(), levels.end(), level) != levels.end()) return "";
  return UsageError{fmt::format("'{}' is none of the levels {}{}", level, fmt::join(levels, ", "),
                                did_you_mean(level, levels))};
}

Params check_uris(const std::vector<std::string>& uris) {
  for (const std::string& uri : uris) {
    if (!bridge::is_utf8(uri)) return UsageError{"the URI is not UTF-8"};
  }
  return "";
}

}  // namespace

Params make_params(const Options& options) {
  const std::vector<std::string>& operands = options.operands;
  switch (options.verb) {
    case Verb::prompt:
      return named(operands[0], build_arguments({operands.begin() + 1, operands.end()},
                                                ArgumentForms::text_only));
    case Verb::read:
      if (!bridge::is_utf8(operands[0])) return UsageError{"the URI is not UTF-8"};
      return fmt::format(R"({{"uri":{}}})", json::quote(operands[0]));
    case Verb::request:
    case Verb::notify: return free_params(operands);
    case Verb::answer: return check_jobs({operands[0]});
    case Verb::wait:
    case Verb::cancel:
    case Verb::forget: return check_jobs(operands);
    case Verb::tasks: return check_task(operands);
    case Verb::complete: return completion_params(operands);
    case Verb::log_level: return check_level(operands[0]);
    case Verb::subscribe:
    case Verb::unsubscribe: return check_uris(operands);
    default: return "";
  }
}

std::variant<Prepared, UsageError> prepare(const Options& options) {
  Prepared prepared;
  const std::vector<std::string>& operands = options.operands;
  auto params = make_params(options);
  if (auto* error = std::get_if<UsageError>(&params)) return std::move(*error);
  prepared.params = std::get<std::string>(std::move(params));
  auto roots = read_roots(options.roots);
  if (auto* error = std::get_if<UsageError>(&roots)) return std::move(*error);
  prepared.roots = std::get<std::string>(std::move(roots));
  if (options.verb != Verb::call && options.verb != Verb::answer) return prepared;
  if (!bridge::is_utf8(operands[0])) return UsageError{"the name is not UTF-8"};
  auto words = read_call_words({operands.begin() + 1, operands.end()});
  if (auto* error = std::get_if<UsageError>(&words)) return std::move(*error);
  prepared.arguments = std::get<std::vector<Argument>>(std::move(words));
  return prepared;
}

}  // namespace client
