#include "render/notification_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "json/text.hpp"
#include "json/value.hpp"

namespace client {
namespace {

using json::Value;

std::string text_of(const Value* value) {
  if (value == nullptr) return {};
  return value->is(Value::Kind::string) ? value->text : json::to_json(*value);
}

/// `before` and the text, or nothing without a text.
std::string after(std::string_view before, std::string_view text) {
  return text.empty() ? std::string() : fmt::format("{}{}", before, text);
}

/// What the server has logged (MCP 2025-11-25, "Logging").
std::string log_line(const Value& params) {
  const std::string_view level = params.string("level");
  const std::string_view logger = params.string("logger");
  return fmt::format("server log, {}{}: {}", level.empty() ? "no level" : level,
                     after(", ", logger), text_of(params.find("data")));
}

std::string progress_line(const Value& params) {
  return fmt::format("progress of {}: {}{}{}", text_of(params.find("progressToken")),
                     text_of(params.find("progress")), after(" of ", text_of(params.find("total"))),
                     after(", ", params.string("message")));
}

/// A task of the server itself: it says all of it, whatever it is called in its revision.
std::string task_line(const Value& params) {
  return fmt::format("task {} of the server: {}{}", text_of(params.find("taskId")),
                     text_of(params.find("status")), after(", ", params.string("statusMessage")));
}

std::string reopening_line(const Value& params) {
  const std::string_view reason = params.string("reason");
  const std::string_view why = reason == "child_ended" ? "its process had ended"
                               : reason == "restarted" ? "the daemon was started anew"
                                                       : "it was lost";
  return fmt::format(
      "the session with the server was opened anew ({}): what the server had kept in it is gone",
      why);
}

/// With how it can be asked another time.
std::string refusal_line(const Value& params) {
  const std::string_view message = params.string("message");
  const bool is_question = params.string("method") == "elicitation/create";
  return fmt::format(
      "the server wanted {} and nobody here could answer{}: {}",
      is_question ? "to ask something" : params.string("method"), after(", ", message),
      is_question
          ? "at a terminal you are asked; from anywhere, mcp-nc call --detach makes a job of "
            "the call, whose question waits for mcp-nc answer"
          : "a client that is connected and has declared it would be asked");
}

struct Change {
  std::string_view method;
  std::string_view of;
};
constexpr Change changes[] = {
    {"notifications/tools/list_changed", "tools"},
    {"notifications/prompts/list_changed", "prompts"},
    {"notifications/resources/list_changed", "resources"},
};

}  // namespace

std::string notification_line(const json::Message& message) {
  const std::string& method = message.method;
  const auto* const change =
      std::find_if(std::begin(changes), std::end(changes),
                   [&method](const Change& one) { return one.method == method; });
  if (change != std::end(changes)) return fmt::format("the server has other {} now", change->of);
  if (const auto params = json::parse(message.params)) {
    if (method == "notifications/message") return log_line(*params);
    if (method == "notifications/progress") return progress_line(*params);
    if (method == "notifications/resources/updated")
      return fmt::format("the resource {} has changed", params->string("uri"));
    if (method == "notifications/tasks/status" || method == "notifications/tasks")
      return task_line(*params);
    if (method == "notifications/bridge/question_refused") return refusal_line(*params);
    if (method == "notifications/bridge/session_reopened") return reopening_line(*params);
  }
  return method + after(" ", json::on_one_line(message.params));
}

}  // namespace client
