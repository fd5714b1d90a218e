#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "json/frame.hpp"
#include "router/call.hpp"
#include "router/client.hpp"
#include "session/saved_session.hpp"

namespace bridge {

/// How many listens name a resource, and how long it stays subscribed at least.
struct ListenedResource {
  std::size_t listens = 0;
  SteadyTime until{};  ///< without a listen it is unsubscribed then

  template <class A>
  void each_field(A& archive) {
    archive(archive.not_saved(listens), until);
  }
};

/// The table of resource subscriptions: which legacy clients have subscribed each resource, and how
/// many listens of modern clients name it. Pure.
///
/// A legacy client's subscription belongs to the session and outlives the client. Bounds: beyond
/// max_entries no subscription is remembered (it is valid at the server, but not restored in a new
/// session); listens are bounded by Listens.
class Subscriptions {
 public:
  static constexpr std::size_t max_entries = 10000;

  using Listened = ListenedResource;
  using AllListened = std::map<std::string, Listened>;

  // For legacy clients.
  /// `client` is nullopt if it has left before the answer.
  void accepted(const std::string& uri, std::optional<ClientId> client) {
    if (entries_.size() >= max_entries && !contains(uri) && uris().size() >= max_entries) return;
    auto& subscribers = entries_[uri].subscribers;
    if (!subscribers) subscribers.emplace();
    if (client) subscribers->insert(*client);
  }
  void removed(const std::string& uri) {
    const auto found = entries_.find(uri);
    if (found == entries_.end()) return;
    found->second.subscribers.reset();
    if (!found->second.listened) entries_.erase(found);
  }

  bool contains(const std::string& uri) const {
    const auto found = entries_.find(uri);
    return found != entries_.end() && found->second.subscribers;
  }

  /// Whether another connected client than `asker` has subscribed it. If so, `asker` is removed
  /// from its subscribers.
  bool still_wanted_without(const std::string& uri, ClientId asker) {
    if (!contains(uri)) return false;
    std::set<ClientId>& clients = *entries_[uri].subscribers;
    if (std::none_of(clients.begin(), clients.end(), [&](ClientId id) { return id != asker; }))
      return false;
    clients.erase(asker);
    return true;
  }

  /// The client has disconnected; its subscriptions stay.
  void client_left(ClientId client) {
    for (auto& [uri, entry] : entries_) {
      if (entry.subscribers) entry.subscribers->erase(client);
    }
  }

  /// The URIs that this client has subscribed.
  std::vector<std::string> uris_of(ClientId client) const {
    return select([client](const Entry& entry) {
      return entry.subscribers && entry.subscribers->contains(client);
    });
  }
  std::vector<std::string> uris() const {
    return select([](const Entry& entry) { return entry.subscribers.has_value(); });
  }

  // For listens.
  /// True if the upstream must be told: the resource was not subscribed.
  bool begin_listen(const std::string& uri) {
    Entry& entry = entries_[uri];
    const bool is_new = !entry.listened && !entry.subscribers;
    if (!entry.listened) entry.listened.emplace();
    ++entry.listened->listens;
    return is_new;
  }
  /// The resource stays subscribed until then.
  void end_listen(const std::string& uri, SteadyTime until) {
    if (!is_listened(uri)) return;
    Listened& listened = *entries_[uri].listened;
    --listened.listens;
    listened.until = std::max(listened.until, until);
  }
  /// Removes expired entries without a listen. Returns the resources that are no longer subscribed;
  /// `next`: when the next one expires.
  std::vector<std::string> expire_listened(SteadyTime now, SteadyTime& next);
  /// Expires every resource without a listen.
  void end_lingering() {
    for (auto& [uri, entry] : entries_) {
      if (entry.listened) entry.listened->until = {};
    }
  }
  bool is_listened(const std::string& uri) const {
    const auto found = entries_.find(uri);
    return found != entries_.end() && found->second.listened;
  }
  /// `visit` gets each resource with a listen or a lingering subscription, and the number of its
  /// listens.
  template <class Visit>
  void each_listened(Visit&& visit) const {
    for (const auto& [uri, entry] : entries_) {
      if (entry.listened) visit(uri, *entry.listened);
    }
  }
  void restore_listened(const AllListened& saved) {
    for (const auto& [uri, one] : saved) entries_[uri].listened = Listened{0, one.until};
  }

 private:
  struct Entry {
    std::optional<std::set<ClientId>> subscribers;  ///< none: no legacy client has subscribed it
    std::optional<Listened> listened;
  };

  template <class Predicate>
  std::vector<std::string> select(Predicate&& predicate) const {
    std::vector<std::string> selected;
    for (const auto& [uri, entry] : entries_) {
      if (predicate(entry)) selected.push_back(uri);
    }
    return selected;
  }

  std::map<std::string, Entry> entries_;  ///< each has at least one of the two
};

/// The session state set by accepted requests, to be restored in a new session: subscriptions and
/// log level. Pure; a value.
class RestorableState {
 public:
  /// The uri of a subscription request, the params of a log level request, the cursor (JSON) of a
  /// tools/list; else empty.
  static std::string subject_of(const Frame& request);

  /// The request was answered with a result.
  void accepted(const Call& call) {
    const Client* const client = call.client();
    accepted(call.method, call.subject,
             client != nullptr ? std::optional(client->id()) : std::nullopt);
  }
  /// The same for a request that the bridge itself has answered.
  void accepted(const Frame& request, ClientId client) {
    accepted(request.method, subject_of(request), client);
  }

  const Subscriptions& subscriptions() const { return subscriptions_; }
  Subscriptions& subscriptions() { return subscriptions_; }

  /// From the last accepted logging/setLevel; empty: none.
  const std::string& log_level_params() const { return log_level_params_; }

  /// Changes with every change of the state.
  std::uint64_t revision() const { return revision_; }

  /// What to restore in a new session.
  SessionSettings settings() const;
  /// Takes over the settings made in an earlier daemon.
  void take_settings(const SessionSettings& settings);

 private:
  void accepted(std::string_view method, const std::string& subject,
                std::optional<ClientId> client);

  Subscriptions subscriptions_;
  std::uint64_t revision_ = 0;
  std::string log_level_params_;  ///< from the last accepted logging/setLevel
};

}  // namespace bridge
