#include "mcp/methods.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "json/frame.hpp"
#include "json/json_edit.hpp"
#include "json/json_text.hpp"

namespace bridge {

bool reaches_level(std::string_view level, std::string_view least) {
  static constexpr std::array<std::string_view, 8> levels = {
      "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};
  const auto lowest = std::find(levels.begin(), levels.end(), least);
  return lowest != levels.end() && std::find(levels.begin(), levels.end(), level) >= lowest;
}

const MethodFacts& facts_of_method(std::string_view method) {
  using enum MethodClass;
  static constexpr MethodFacts rows[] = {
      {.name = "tools/call", .kind = call, .may_require_input = true, .name_member = "name"},
      {.name = "tools/list",
       .kind = list,
       .only_reads = true,
       .is_cacheable = true,
       .list = "tools",
       .item_name = "name"},
      {.name = "prompts/get",
       .kind = read,
       .only_reads = true,
       .may_require_input = true,
       .name_member = "name"},
      {.name = "prompts/list",
       .kind = list,
       .only_reads = true,
       .is_cacheable = true,
       .list = "prompts",
       .item_name = "name"},
      {.name = "resources/read",
       .kind = read,
       .only_reads = true,
       .is_cacheable = true,
       .may_require_input = true,
       .name_member = "uri"},
      {.name = "resources/list",
       .kind = list,
       .only_reads = true,
       .is_cacheable = true,
       .list = "resources",
       .item_name = "uri"},
      {.name = "resources/templates/list",
       .kind = list,
       .only_reads = true,
       .is_cacheable = true,
       .list = "resourceTemplates",
       .item_name = "uriTemplate"},
      {.name = "resources/subscribe", .kind = subscribe, .is_only_legacy = true},
      {.name = "resources/unsubscribe", .kind = subscribe, .is_only_legacy = true},
      {.name = "subscriptions/listen", .kind = subscribe},
      {.name = "completion/complete", .kind = read, .only_reads = true},
      {.name = "initialize", .kind = session, .only_reads = true, .is_only_legacy = true},
      {.name = "ping", .kind = session, .only_reads = true, .is_only_legacy = true},
      {.name = "logging/setLevel", .kind = session, .is_only_legacy = true},
      {.name = "server/discover", .kind = session, .only_reads = true, .is_cacheable = true},
      {.name = "events/stream", .stays_open = true},
      {.name = "tasks/get", .kind = task, .name_member = "taskId"},
      {.name = "tasks/update", .kind = task, .name_member = "taskId"},
      {.name = "tasks/cancel", .kind = task, .name_member = "taskId"},
      {.name = "tasks/list", .kind = task, .only_reads = true},
      {.name = "elicitation/create", .is_question = true},
      {.name = "sampling/createMessage", .is_question = true},
      {.name = "roots/list", .kind = list, .only_reads = true, .is_question = true},
  };
  static constexpr MethodFacts unknown_task{.kind = task};
  static constexpr MethodFacts unknown_list{.kind = list, .only_reads = true};
  static constexpr MethodFacts unknown_task_list{.kind = task, .only_reads = true};
  static constexpr MethodFacts unknown{};
  for (const MethodFacts& row : rows) {
    if (row.name == method) return row;
  }
  const bool lists = method.ends_with("/list");
  if (method.starts_with("tasks/")) return lists ? unknown_task_list : unknown_task;
  return lists ? unknown_list : unknown;
}

bool is_counted_call(std::string_view method) {
  const MethodFacts& facts = facts_of_method(method);
  return !facts.only_reads && (facts.kind == MethodClass::call || facts.kind == MethodClass::other);
}

namespace {

struct NotificationFacts {
  std::string_view name;
  bool is_of_session = false;
};

constexpr NotificationFacts core_notifications[] = {
    {"notifications/cancelled"},          {"notifications/elicitation/complete", true},
    {"notifications/initialized"},        {"notifications/message"},
    {"notifications/progress"},           {"notifications/resources/updated", true},
    {"notifications/tasks/status", true},
};

const NotificationFacts* find_notification(std::string_view method) {
  const auto* const found =
      std::find_if(std::begin(core_notifications), std::end(core_notifications),
                   [method](const NotificationFacts& one) { return one.name == method; });
  return found != std::end(core_notifications) ? found : nullptr;
}

}  // namespace

bool is_session_notification(std::string_view method) {
  const NotificationFacts* const facts = find_notification(method);
  return method.ends_with("/list_changed") || (facts != nullptr && facts->is_of_session);
}

bool is_core_notification(std::string_view method) {
  // The bridge's own notifications do not belong to an extension either.
  static constexpr std::string_view prefixes[] = {"notifications/subscriptions/",
                                                  "notifications/roots/", "notifications/bridge/"};
  return find_notification(method) != nullptr ||
         std::any_of(std::begin(prefixes), std::end(prefixes),
                     [method](std::string_view prefix) { return method.starts_with(prefix); });
}

const char* wrong_kind(const Frame& frame) {
  static constexpr std::string_view prefixes[] = {"sampling/", "elicitation/", "tasks/",
                                                  "resources/"};
  const std::string_view method = frame.method;
  if (frame.is_request()) {
    return method.starts_with("notifications/") ? "Invalid Request: a notification has no id"
                                                : nullptr;
  }
  if (!frame.is_notification() || method.starts_with("notifications/")) return nullptr;
  const MethodFacts& facts = facts_of_method(method);
  const bool is_known = !facts.name.empty() && !facts.stays_open;
  const bool is_request =
      is_known || method.ends_with("/list") ||
      std::any_of(std::begin(prefixes), std::end(prefixes),
                  [method](std::string_view prefix) { return method.starts_with(prefix); });
  return is_request ? "Invalid Request: a request needs an id" : nullptr;
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

std::string without_items(const Frame& response, std::string_view list,
                          const std::function<bool(std::size_t, std::string_view)>& drop) {
  const auto items = find_member(response.text(response.result), list);
  if (!items || items->front() != '[') return response.bytes;
  Edits edits;
  Removal removal(edits, static_cast<std::size_t>(items->data() - response.bytes.data()));
  JsonScanner scanner(*items);
  std::size_t index = 0;
  scanner.array([&] {
    Slice element;
    if (!scanner.value(element)) return false;
    removal.element(element, drop(index, element.of(*items)));
    ++index;
    return true;
  });
  removal.finish();
  return edits.empty() ? response.bytes : edits.made_in(response.bytes);
}

}  // namespace bridge
