#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "json/frame.hpp"
#include "router/call.hpp"
#include "session/saved_session.hpp"

namespace bridge {

/// The resource subscriptions of the session, and which clients asked for them. Pure.
///
/// A subscription belongs to the session and outlives its client. Bounded: beyond max_entries no
/// further one is remembered (it still holds at the server, but is not restored in a new session).
class Subscriptions {
 public:
  static constexpr std::size_t max_entries = 10000;

  /// `client` is none if it has left before the answer.
  void accepted(const std::string& uri, std::optional<ClientId> client) {
    if (entries_.size() >= max_entries && !entries_.contains(uri)) return;
    auto& clients = entries_[uri];
    if (client) clients.insert(*client);
  }
  void removed(const std::string& uri) { entries_.erase(uri); }

  bool contains(const std::string& uri) const { return entries_.contains(uri); }

  /// Whether a client connected now, other than `asker`, has subscribed it. If so, `asker` is
  /// forgotten as a subscriber.
  bool still_wanted_without(const std::string& uri, ClientId asker) {
    const auto found = entries_.find(uri);
    if (found == entries_.end()) return false;
    auto& clients = found->second;
    if (std::none_of(clients.begin(), clients.end(), [&](ClientId id) { return id != asker; }))
      return false;
    clients.erase(asker);
    return true;
  }

  /// The client is no longer connected; its subscriptions stay.
  void client_left(ClientId client) {
    for (auto& [uri, clients] : entries_) clients.erase(client);
  }

  /// Those of this client.
  std::vector<std::string> uris_of(ClientId client) const {
    std::vector<std::string> its;
    for (const auto& [uri, clients] : entries_) {
      if (clients.contains(client)) its.push_back(uri);
    }
    return its;
  }
  std::vector<std::string> uris() const {
    std::vector<std::string> all;
    for (const auto& [uri, clients] : entries_) all.push_back(uri);
    return all;
  }

 private:
  std::map<std::string, std::set<ClientId>> entries_;
};

/// What accepted requests have changed in the session, and has to be restored in a new one: its
/// subscriptions and its log level. Pure; a value.
class RestorableState {
 public:
  /// The uri of a request for a subscription, the params of one for a log level, the cursor (JSON)
  /// of one for the tools; else empty.
  static std::string subject_of(const Frame& request);

  /// The request was answered with a result.
  void accepted(const Call& call) { accepted(call.method, call.subject, call.client); }
  /// The same of one that the bridge itself has answered.
  void accepted(const Frame& request, ClientId client) {
    accepted(request.method, subject_of(request), client);
  }

  const Subscriptions& subscriptions() const { return subscriptions_; }
  Subscriptions& subscriptions() { return subscriptions_; }

  /// Of the last accepted logging/setLevel; empty: none.
  const std::string& log_level_params() const { return log_level_params_; }

  /// Another number whenever something has changed.
  std::uint64_t revision() const { return revision_; }

  /// What a new session has to be told again.
  SessionSettings settings() const;
  /// What clients of an earlier daemon have set.
  void take(const SessionSettings& settings);

 private:
  void accepted(std::string_view method, const std::string& subject,
                std::optional<ClientId> client);

  Subscriptions subscriptions_;
  std::uint64_t revision_ = 0;
  std::string log_level_params_;  ///< of the last accepted logging/setLevel
};

}  // namespace bridge
