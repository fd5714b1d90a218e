#include "mcp/subscription_filter.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "json/frame.hpp"
#include "json/json_edit.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "json/member_names.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/methods.hpp"
#include "mcp/request_meta.hpp"

namespace bridge {
namespace {

using Texts = SubscriptionFilter::Texts;

/// Reads one `notifications` object.
class FilterReader {
 public:
  FilterReader(std::size_t max_entries, std::size_t max_bytes)
      : max_entries_(max_entries), max_bytes_(max_bytes) {}

  /// Returns the error, or null.
  const char* read(std::string_view notifications) {
    if (!is_object(notifications)) return "Invalid params: notifications is not an object";
    for_each_member(notifications, whole_value(notifications),
                    [&](std::string_view key, Slice, Slice value) {
                      if (reason_ == nullptr) member(key, value.of(notifications));
                    });
    return reason_;
  }

  SubscriptionFilter& filter() { return filter_; }

 private:
  void member(std::string_view key, std::string_view value) {
    if (key_is(key, "toolsListChanged")) return flag(0, filter_.tools_list_changed, value);
    if (key_is(key, "promptsListChanged")) return flag(1, filter_.prompts_list_changed, value);
    if (key_is(key, "resourcesListChanged")) return flag(2, filter_.resources_list_changed, value);
    if (key_is(key, "resourceSubscriptions")) return texts(3, filter_.resources, value);
    if (key_is(key, "taskIds")) return texts(4, filter_.task_ids, value);
    if (is_similar_to_ours(key)) return twice();
    count(key.size() + value.size());
    if (filter_.extensions.size() == filter_limit::extensions) {
      reason_ = "Invalid params: notifications has too many members";
    }
    if (reason_ != nullptr) return;
    if (!filter_.extensions.emplace(unescape(key), value).second) twice();
  }

  /// Whether another parser could take it for one of the members that are read here.
  static bool is_similar_to_ours(std::string_view key) {
    constexpr std::array<std::string_view, 5> ours = {"toolsListChanged", "promptsListChanged",
                                                      "resourcesListChanged",
                                                      "resourceSubscriptions", "taskIds"};
    return std::any_of(ours.begin(), ours.end(),
                       [key](std::string_view name) { return is_similar_name(key, name); });
  }

  void flag(unsigned which, bool& flag, std::string_view value) {
    met(which);
    if (value != "true" && value != "false") {
      reason_ = "Invalid params: a member of notifications is not a boolean";
    }
    flag = value == "true";
  }

  void texts(unsigned which, Texts& texts, std::string_view list) {
    met(which);
    const bool walked = each_element(list, [&](std::string_view raw) {
      if (!is_string(raw)) return false;
      count(raw.size());
      if (++entries_ > max_entries_) {
        reason_ = "Invalid params: notifications names more than 1000 resources and tasks";
        static_assert(filter_limit::entries == 1000);
      }
      if (reason_ != nullptr) return false;
      texts.insert(*to_text(raw));
      return true;
    });
    if (!walked && reason_ == nullptr) {
      reason_ = "Invalid params: a member of notifications is not a list of strings";
    }
  }

  void met(unsigned which) {
    if ((met_ >> which & 1u) != 0) twice();
    met_ |= 1u << which;
  }
  void twice() { reason_ = "Invalid params: duplicate member in notifications"; }

  void count(std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ > max_bytes_) reason_ = "Invalid params: notifications is too large";
  }

  const std::size_t max_entries_;
  const std::size_t max_bytes_;
  SubscriptionFilter filter_;
  const char* reason_ = nullptr;
  unsigned met_ = 0;
  std::size_t entries_ = 0;
  std::size_t bytes_ = 0;
};

std::variant<SubscriptionFilter, std::string_view> read_notifications(const Frame& frame,
                                                                      std::size_t max_entries,
                                                                      std::size_t max_bytes) {
  Slice notifications;
  bool twice = false;
  for_each_member(frame.bytes, frame.params, [&](std::string_view key, Slice, Slice value) {
    if (!key_is(key, "notifications")) return;
    twice = twice || notifications.present();
    notifications = value;
  });
  if (!notifications.present()) return "Invalid params: notifications is missing";
  if (twice) return "Invalid params: duplicate notifications";
  FilterReader reader(max_entries, max_bytes);
  if (const char* reason = reader.read(frame.text(notifications))) return reason;
  return std::move(reader.filter());
}

/// Whether one of `subscribed` is `uri` or a parent of it. Checks the first
/// levels of the uri only.
bool is_subscribed(const Texts& subscribed, std::string_view uri) {
  constexpr int most_levels = 64;
  if (subscribed.empty()) return false;
  if (subscribed.contains(uri)) return true;
  std::size_t end = uri.find('/');
  for (int level = 0; level < most_levels && end != uri.npos; ++level) {
    if (subscribed.contains(uri.substr(0, end)) || subscribed.contains(uri.substr(0, end + 1))) {
      return true;
    }
    end = uri.find('/', end + 1);
  }
  return false;
}

/// Two lists joined; the first value if they are not lists.
std::string joined(const std::string& left, const std::string& right) {
  const bool are_lists = left.starts_with('[') && right.starts_with('[');
  if (!are_lists || left == right) return left;
  const std::string_view more = std::string_view(right).substr(1);
  if (more.find_first_not_of(" \t\r\n") == more.find(']')) return left;
  const std::size_t last = left.find_last_not_of(" \t\r\n", left.size() - 2);
  return left.substr(0, left.size() - 1) + (last == 0 ? "" : ",") + std::string(more);
}

}  // namespace

bool SubscriptionFilter::empty() const { return *this == SubscriptionFilter(); }

std::size_t SubscriptionFilter::bytes() const {
  std::size_t bytes = 0;
  for (const Texts* const texts : {&resources, &task_ids}) {
    for (const std::string& text : *texts) bytes += text.size();
  }
  for (const auto& [name, value] : extensions) bytes += name.size() + value.size();
  return bytes;
}

void SubscriptionFilter::add(const SubscriptionFilter& other) {
  tools_list_changed = tools_list_changed || other.tools_list_changed;
  prompts_list_changed = prompts_list_changed || other.prompts_list_changed;
  resources_list_changed = resources_list_changed || other.resources_list_changed;
  resources.insert(other.resources.begin(), other.resources.end());
  task_ids.insert(other.task_ids.begin(), other.task_ids.end());
  for (const auto& [name, value] : other.extensions) {
    const auto [here, is_new] = extensions.emplace(name, value);
    if (!is_new) here->second = joined(here->second, value);
  }
}

bool SubscriptionFilter::matches(const Frame& notification) const {
  const std::string_view method = notification.method;
  const std::string_view params = notification.text(notification.params);
  if (method == "notifications/tools/list_changed") return tools_list_changed;
  if (method == "notifications/prompts/list_changed") return prompts_list_changed;
  if (method == "notifications/resources/list_changed") return resources_list_changed;
  if (method == "notifications/resources/updated") {
    const auto uri = find_string(params, "uri");
    return uri && is_subscribed(resources, *uri);
  }
  if (method == "notifications/tasks") {
    const auto id = find_string(params, "taskId");
    return id && task_ids.contains(*id);
  }
  return !extensions.empty() && !is_core_notification(method);
}

SubscriptionFilter SubscriptionFilter::part_for(const Frame& notification) const {
  const std::string_view method = notification.method;
  SubscriptionFilter part;
  part.tools_list_changed = method == "notifications/tools/list_changed";
  part.prompts_list_changed = method == "notifications/prompts/list_changed";
  part.resources_list_changed = method == "notifications/resources/list_changed";
  if (method == "notifications/resources/updated") {
    const auto uri = find_string(notification.text(notification.params), "uri");
    part.resources = uri && resources.contains(*uri) ? Texts{*uri} : resources;
  }
  return part;
}

std::optional<std::string> SubscriptionFilter::take_changed() {
  if (std::exchange(tools_list_changed, false))
    return own_notification("notifications/tools/list_changed");
  if (std::exchange(prompts_list_changed, false))
    return own_notification("notifications/prompts/list_changed");
  if (std::exchange(resources_list_changed, false))
    return own_notification("notifications/resources/list_changed");
  if (resources.empty()) return std::nullopt;
  const auto node = resources.extract(resources.begin());
  return own_notification("notifications/resources/updated",
                          JsonObject().add("uri", node.value()).text());
}

std::string SubscriptionFilter::json() const {
  JsonObject object;
  const auto flag = [&object](std::string_view name, bool is_set) {
    if (is_set) object.add(name, true);
  };
  const auto list = [&object](std::string_view name, const Texts& texts) {
    JsonArray array;
    for (const std::string& text : texts) array.add(text);
    if (!texts.empty()) object.add(name, array);
  };
  flag("toolsListChanged", tools_list_changed);
  flag("promptsListChanged", prompts_list_changed);
  flag("resourcesListChanged", resources_list_changed);
  list("resourceSubscriptions", resources);
  list("taskIds", task_ids);
  for (const auto& [name, value] : extensions) object.add(RawJson{quote(name)}, RawJson{value});
  return object.text();
}

std::variant<SubscriptionFilter, std::string_view> read_filter(const Frame& listen) {
  return read_notifications(listen, filter_limit::entries, filter_limit::bytes);
}

std::variant<SubscriptionFilter, std::string_view> read_acknowledged(const Frame& acknowledgement) {
  return read_notifications(acknowledgement, filter_limit::all_entries, filter_limit::all_bytes);
}

std::string listen_request(UpstreamId id, const SubscriptionFilter& filter,
                           const RequestIdentity& identity) {
  Frame request;
  request.kind = FrameKind::request;
  request.bytes = own_request(id, "subscriptions/listen",
                              JsonObject().add("notifications", RawJson{filter.json()}).text());
  // The params are the last member.
  const std::size_t begin =
      request.bytes.find(R"("params":)") + std::string_view(R"("params":)").size();
  request.params = {begin, request.bytes.size() - 1};
  return with_request_meta(std::move(request), identity).bytes;
}

namespace {

JsonObject listen_meta(std::string_view raw_listen_id) {
  return JsonObject().add(meta_key::subscription_id, RawJson{raw_listen_id});
}

}  // namespace

std::string acknowledgement(std::string_view raw_listen_id, const SubscriptionFilter& filter) {
  return own_notification("notifications/subscriptions/acknowledged",
                          JsonObject()
                              .add("_meta", listen_meta(raw_listen_id))
                              .add("notifications", RawJson{filter.json()})
                              .text());
}

std::string listen_result(std::string_view raw_listen_id) {
  return result_reply(
      raw_listen_id,
      JsonObject().add("resultType", "complete").add("_meta", listen_meta(raw_listen_id)));
}

std::string with_subscription_id(const Frame& notification, std::string_view raw_listen_id) {
  Edits edits;
  Slice present;
  for_each_member(notification.bytes, notification.meta,
                  [&](std::string_view key, Slice, Slice value) {
                    if (key_is(key, meta_key::subscription_id)) present = value;
                  });
  if (present.present()) {
    edits.replace(present, std::string(raw_listen_id));
  } else {
    add_meta_members(edits, notification, std::string(listen_meta(raw_listen_id).members()));
  }
  return edits.made_in(notification.bytes);
}

std::string without_subscription_id(const Frame& notification) {
  return without_meta_members(
      notification, [](std::string_view key) { return key_is(key, meta_key::subscription_id); });
}

}  // namespace bridge
