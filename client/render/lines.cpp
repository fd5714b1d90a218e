#include "render/lines.hpp"

#include <fmt/format.h>

#include "base/contains.hpp"
#include "text/utf8.hpp"
#include "text/visible_text.hpp"

namespace client {
namespace {

using json::Value;

std::string text_of(const Value* value) {
  return value == nullptr ? std::string() : json::plain_text(*value);
}

/// `before` and the text, or nothing if the text is empty.
std::string after(std::string_view before, std::string_view text) {
  return text.empty() ? std::string() : fmt::format("{}{}", before, text);
}

/// A log message of the server (MCP 2025-11-25, "Logging").
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

/// A task of the server: every revision's notification has its whole state.
std::string task_line(const Value& params) {
  return fmt::format("task {} of the server: {}{}", text_of(params.find("taskId")),
                     text_of(params.find("status")), after(", ", params.string("statusMessage")));
}

std::string reopening_line(const Value& params) {
  const std::string_view reason = params.string("reason");
  const std::string_view why = reason == "child_ended" ? "its process had ended"
                               : reason == "restarted" ? "the daemon was restarted"
                                                       : "it was lost";
  return fmt::format(
      "the session with the server was reopened ({}); what the server had kept in it is lost", why);
}

/// Includes how the question can be asked another time.
std::string refusal_line(const Value& params) {
  const std::string_view message = params.string("message");
  const bool is_question = params.string("method") == "elicitation/create";
  if (is_question)
    return fmt::format("the server asked a question, but there is no terminal to answer at{}",
                       after(": ", message));
  return fmt::format("the server sent {}, and no connected client answers it{}",
                     params.string("method"), after(": ", message));
}

/// The list that is reported as changed; "" if the method is about none.
std::string_view changed_list(std::string_view method) {
  constexpr std::string_view before = "notifications/";
  constexpr std::string_view behind = "/list_changed";
  if (!method.starts_with(before) || !method.ends_with(behind)) return {};
  const std::string_view list = method.substr(before.size(), method.rfind('/') - before.size());
  return bridge::has_word("tools prompts resources", list) ? list : std::string_view();
}

std::string who(std::string_view passage, std::string_view client) {
  if (passage == "from_client") return fmt::format("client {} >", client);
  if (passage == "to_server") return "> server";
  if (passage == "from_server") return "< server";
  if (passage == "to_client") return fmt::format("client {} <", client);
  return std::string(passage);
}

std::string said(std::string_view message) {
  const json::Message parsed = json::parse_message(message);
  const auto line = [](std::string_view what, std::string_view id, std::string_view content) {
    return fmt::format("{}{}{}", what, after(" ", id), after(" ", json::on_one_line(content)));
  };
  switch (parsed.kind) {
    case json::Message::Kind::request:
    case json::Message::Kind::notification: return line(parsed.method, parsed.id, parsed.params);
    case json::Message::Kind::response:
      return parsed.error.empty() ? line("result", parsed.id, parsed.result)
                                  : line("error", parsed.id, parsed.error);
    case json::Message::Kind::invalid: break;
  }
  return json::on_one_line(message);
}

}  // namespace

std::string notification_line(const json::Message& message) {
  const std::string& method = message.method;
  if (const std::string_view list = changed_list(method); !list.empty())
    return fmt::format("the server's {} have changed", list);
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

std::string monitor_line(std::string_view params) {
  std::string text;
  if (const auto missed = json::find_member(params, "missed"))
    text = fmt::format("({} messages missed)\n", *missed);
  // Only the time of day: 2026-11-23T01:30:06.120Z
  const std::string at = json::string_member(params, "at");
  const std::string time = at.size() == 24 ? at.substr(11, 12) : at;
  text += fmt::format("{} {:<11} ", time,
                      who(json::string_member(params, "passage"),
                          json::find_member(params, "client").value_or("")));
  if (const auto message = json::find_member(params, "message")) return text + said(*message);
  text += json::string_member(params, "text");
  if (const auto bytes = json::find_member(params, "bytes"))
    text += fmt::format("... ({} bytes in all)", *bytes);
  return text;
}

json::JsonObject log_line_object(std::string_view line) {
  const bool is_text = bridge::is_utf8(line);
  return json::JsonObject().add("line", is_text ? line : bridge::make_visible(line));
}

}  // namespace client
