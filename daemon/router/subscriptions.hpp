#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.hpp"

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

}  // namespace bridge
