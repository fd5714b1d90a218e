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
constexpr std::size_t entries = 1000;        ///< uris and task ids together
constexpr std::size_t bytes = 1u << 20;      ///< of all its texts
constexpr std::size_t all_entries = 30'000;  ///< of the bridge's own listen, for all clients
constexpr std::size_t all_bytes = 16u << 20;
constexpr std::size_t extensions = 64;  ///< members that MCP itself does not define
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
  /// The number of its texts and members, and their size in bytes.
  std::size_t entries() const { return resources.size() + task_ids.size() + extensions.size(); }
  std::size_t bytes() const;

  /// Adds what `other` asks for; only the added part is bounded. If both have a member of an
  /// extension, arrays are joined; otherwise the present value stays.
  void add(const SubscriptionFilter& other);

  /// Whether it asks for a notification: by its method, and by params.uri or params.taskId if there
  /// are several of a kind. A change of `a/b` also matches the subscribed `a` ("Resources:
  /// Subscriptions": it may be a sub-resource). Notifications of other extensions match only if the
  /// filter has members of extensions.
  bool matches(const Frame& notification) const;

  /// The part of it that asks for this notification of MCP's own: its kind, or its uri; for a
  /// sub-resource that is not listed itself, all uris. REQUIRES: matches(notification).
  SubscriptionFilter part_for(const Frame& notification) const;
  /// Removes one of MCP's own kinds, or one uri, and returns the notification that reports it as
  /// changed; nullopt once none is left.
  std::optional<std::string> take_changed();

  /// As JSON, in a fixed order; false and empty members are left out.
  std::string json() const;
};

/// Reads `params.notifications` of a `subscriptions/listen`; otherwise returns the message of a
/// -32602: absent, of the wrong type, a repeated member, or beyond filter_limit.
std::variant<SubscriptionFilter, std::string_view> read_filter(const Frame& listen);

/// A `subscriptions/listen` of the bridge's own.
std::string listen_request(UpstreamId id, const SubscriptionFilter& filter,
                           const RequestIdentity& identity);

/// `notifications/subscriptions/acknowledged` for the listen with this id (JSON), the first message
/// of a subscription. `filter` is what will be sent.
std::string acknowledgement(std::string_view raw_listen_id, const SubscriptionFilter& filter);

/// Reads the filter that a server's acknowledgement accepts; errors as for read_filter(),
/// but with the limits of the bridge's own listen.
std::variant<SubscriptionFilter, std::string_view> read_acknowledged(const Frame& acknowledgement);

/// The response that ends a listen gracefully ("Graceful Closure").
std::string listen_result(std::string_view raw_listen_id);

/// The notification with this listen's id as its subscriptionId, replacing any other. Params that
/// are an array or a scalar stay unchanged.
std::string with_subscription_id(const Frame& notification, std::string_view raw_listen_id);

/// The notification in the form for a legacy client. A `_meta` that is then empty is removed.
std::string without_subscription_id(const Frame& notification);

}  // namespace bridge
