#include "render/monitor_line.hpp"

#include <fmt/format.h>

#include "json/message.hpp"
#include "json/scan.hpp"
#include "json/text.hpp"

namespace client {
namespace {

std::string member_or_nothing(std::string_view params, std::string_view name) {
  return std::string(json::member(params, name).value_or(""));
}

std::string who(std::string_view passage, std::string_view client) {
  if (passage == "from_client") return fmt::format("client {} >", client);
  if (passage == "to_server") return "> server";
  if (passage == "from_server") return "< server";
  if (passage == "to_client") return fmt::format("client {} <", client);
  return std::string(passage);
}

/// A number that stands apart from the words.
std::string with_space(std::string_view id) { return id.empty() ? "" : fmt::format(" {}", id); }

std::string said(std::string_view message) {
  const json::Message parsed = json::parse_message(message);
  const auto line = [](std::string_view what, std::string_view id, std::string_view content) {
    std::string text = fmt::format("{}{}", what, with_space(id));
    if (!content.empty()) text += " " + json::on_one_line(content);
    return text;
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

std::string monitor_line(std::string_view params) {
  std::string text;
  if (const auto missed = json::member(params, "missed"))
    text = fmt::format("({} messages were missed here)\n", *missed);
  // Of the moment the time of day: 2026-11-23T01:30:06.120Z
  const std::string at = json::string_member(params, "at");
  const std::string time = at.size() == 24 ? at.substr(11, 12) : at;
  text +=
      fmt::format("{} {:<11} ", time,
                  who(json::string_member(params, "passage"), member_or_nothing(params, "client")));
  if (const auto message = json::member(params, "message")) return text + said(*message);
  text += json::string_member(params, "text");
  if (const auto bytes = json::member(params, "bytes"))
    text += fmt::format("... ({} bytes in all)", *bytes);
  return text;
}

}  // namespace client
