#include "mcp/methods.hpp"

#include <algorithm>
#include <array>

#include "json/frame.hpp"
#include "json/json_text.hpp"

namespace bridge {

bool reaches_level(std::string_view level, std::string_view least) {
  static constexpr std::array<std::string_view, 8> levels = {
      "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};
  const auto lowest = std::find(levels.begin(), levels.end(), least);
  return lowest != levels.end() && std::find(levels.begin(), levels.end(), level) >= lowest;
}

bool only_reads(std::string_view method) {
  static constexpr std::array<std::string_view, 6> reading = {
      "initialize",          "ping",           "resources/read", "prompts/get",
      "completion/complete", "server/discover"};
  return method.ends_with("/list") ||
         std::find(reading.begin(), reading.end(), method) != reading.end();
}

bool is_session_notification(std::string_view method) {
  static constexpr std::array<std::string_view, 3> kinds = {"notifications/resources/updated",
                                                            "notifications/elicitation/complete",
                                                            "notifications/tasks/status"};
  return method.ends_with("/list_changed") ||
         std::find(kinds.begin(), kinds.end(), method) != kinds.end();
}

const char* wrong_kind(const Frame& frame) {
  static constexpr std::array<std::string_view, 10> requests = {
      "initialize",          "ping",        "server/discover",
      "tools/call",          "prompts/get", "resources/read",
      "logging/setLevel",    "roots/list",  "completion/complete",
      "subscriptions/listen"};
  static constexpr std::array<std::string_view, 4> kinds = {"sampling/", "elicitation/", "tasks/",
                                                            "resources/"};
  const std::string_view method = frame.method;
  if (frame.is_request()) {
    return method.starts_with("notifications/") ? "Invalid Request: a notification has no id"
                                                : nullptr;
  }
  if (!frame.is_notification() || method.starts_with("notifications/")) return nullptr;
  const bool is_request = std::find(requests.begin(), requests.end(), method) != requests.end() ||
                          method.ends_with("/list") ||
                          std::any_of(kinds.begin(), kinds.end(), [method](std::string_view kind) {
                            return method.starts_with(kind);
                          });
  return is_request ? "Invalid Request: a request needs an id" : nullptr;
}

MethodClass class_of(std::string_view method) {
  if (method == "tools/call") return MethodClass::call;
  if (method.starts_with("tasks/")) return MethodClass::task;
  if (method.ends_with("/list")) return MethodClass::list;
  if (method == "resources/read" || method == "prompts/get" || method == "completion/complete") {
    return MethodClass::read;
  }
  if (method == "resources/subscribe" || method == "resources/unsubscribe" ||
      method == "subscriptions/listen") {
    return MethodClass::subscribe;
  }
  if (method == "initialize" || method == "ping" || method == "logging/setLevel" ||
      method == "server/discover") {
    return MethodClass::session;
  }
  return MethodClass::other;
}

std::string_view name_of(MethodClass of) {
  switch (of) {
    case MethodClass::call: return "call";
    case MethodClass::list: return "list";
    case MethodClass::read: return "read";
    case MethodClass::subscribe: return "subscribe";
    case MethodClass::session: return "session";
    case MethodClass::task: return "task";
    case MethodClass::other: break;
  }
  return "other";
}

std::string coalesce_key(const Frame& notification) {
  if (notification.method.ends_with("/list_changed")) return notification.method;
  if (notification.method != "notifications/resources/updated") return {};
  const auto uri = find_string(notification.text(notification.params), "uri");
  return uri ? notification.method + ' ' + *uri : std::string();
}

}  // namespace bridge
