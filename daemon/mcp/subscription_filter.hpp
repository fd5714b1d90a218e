#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "base/ids.hpp"

namespace bridge {

struct Frame;
struct RequestIdentity;

// Which notifications a `subscriptions/listen` asks for, and the messages of such a subscription
// (MCP 2026-07-28, "Subscriptions"). Pure.

/// The bounds of one filter.
namespace filter_limit {
constexpr std::size_t entries = 10'000;  ///< uris and task ids together
constexpr std::size_t bytes = 1u << 20;  ///< of all its texts
constexpr std::size_t extensions = 64;   ///< members that MCP itself does not define
}  // namespace filter_limit

/// What a subscription asks for: the `notifications` of its params. A value.
struct SubscriptionFilter {
  using Texts = std::set<std::string, std::less<>>;

  bool tools_list_changed = false;
  bool prompts_list_changed = false;
  bool resources_list_changed = false;
  Texts resources;  ///< uris of resourceSubscriptions, unescaped
  Texts task_ids;   ///< taskIds of the tasks extension, unescaped
  /// Members of other extensions: the name, unescaped, and its JSON.
  std::map<std::string, std::string, std::less<>> extensions;

  bool operator==(const SubscriptionFilter&) const = default;
  template <class A>
  void each_field(A& archive) {
    archive(tools_list_changed, prompts_list_changed, resources_list_changed, resources, task_ids,
            extensions);
  }
  bool empty() const;
  /// How many texts and members it has, and the bytes of them.
  std::size_t entries() const { return resources.size() + task_ids.size() + extensions.size(); }
  std::size_t bytes() const;

  /// Takes in what `other` asks for; bounded by what is added only. Of an extension's member that
  /// both have, arrays are joined; else the one that is here stays.
  void add(const SubscriptionFilter& other);

  /// Whether it asks for a notification: by its method, and by params.uri or params.taskId where
  /// there are several of a kind. A change of `a/b` is one of the subscribed `a`, too ("Resources:
  /// Subscriptions": it may be a sub-resource). Notifications of other extensions match only if the
  /// filter has members of extensions.
  bool matches(const Frame& notification) const;

  /// The part of it that asks for this notification of MCP's own: its kind, or its uri; where that
  /// is a part of one that is subscribed, all of them. REQUIRES: matches(notification).
  SubscriptionFilter part_for(const Frame& notification) const;
  /// Takes one of MCP's own kinds, or one uri, out of it, and returns the notification that says
  /// that this has changed; nothing once there is none left.
  std::optional<std::string> take_changed();

  /// As JSON, in a fixed order; what is false or empty is left out.
  std::string json() const;
};

/// Reads `params.notifications` of a `subscriptions/listen`; otherwise the message of a -32602:
/// absent, of the wrong type, a member twice, or beyond filter_limit.
std::variant<SubscriptionFilter, std::string_view> read_filter(const Frame& listen);

/// `subscriptions/listen` of the bridge's own.
std::string listen_request(UpstreamId id, const SubscriptionFilter& filter,
                           const RequestIdentity& identity);

/// `notifications/subscriptions/acknowledged` for the listen with this id (JSON), which is the
/// first message of a subscription. `filter` is what will be sent.
std::string acknowledgement(std::string_view raw_listen_id, const SubscriptionFilter& filter);

/// Reads the filter that a server's acknowledgement says it honours; as read_filter.
std::variant<SubscriptionFilter, std::string_view> read_acknowledged(const Frame& acknowledgement);

/// The response that ends a listen gracefully ("Graceful Closure").
std::string listen_result(std::string_view raw_listen_id);

/// A notification as one of the subscription of that listen: its subscriptionId is that id,
/// whatever it was. Params that are an array or a scalar stay as they are.
std::string with_subscription_id(const Frame& notification, std::string_view raw_listen_id);

/// A notification as a legacy client knows it. A `_meta` with nothing else in it goes.
std::string without_subscription_id(const Frame& notification);

}  // namespace bridge
