#pragma once

#include <cstddef>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "router/client_channel.hpp"

namespace bridge {

/// Subscriptions of resources that the bridge itself is to begin or end at a legacy upstream,
/// because of clients' listens. They wait here and are sent a few at a time, in turn for the users
/// that cause them; one that would undo another before it was sent removes it instead. Pure.
///
/// Owned by OwnSubscriptions; the loop's thread only. Bounds: a resource waits once; those that
/// begin are bounded by Listens.
class OwnRequests {
 public:
  struct Request {
    User user;
    std::string uri;
    bool subscribes = true;
  };

  void add_change(User user, const std::string& uri, bool subscribes) {
    if (const auto found = places_.find(uri); found != places_.end()) {
      if (found->second.request->subscribes != subscribes) erase(found);
      return;
    }
    auto& queue = queues_[user];
    queue.push_back({user, uri, subscribes});
    places_.emplace(uri, Place{std::prev(queue.end())});
  }

  /// Removes and returns the next request of the users in turn for which `may_send(user)` holds.
  template <class MaySend>
  std::optional<Request> next(MaySend&& may_send) {
    auto queue = queues_.upper_bound(last_);
    for (std::size_t tried = 0; tried < queues_.size(); ++tried, ++queue) {
      if (queue == queues_.end()) queue = queues_.begin();
      if (!may_send(queue->first)) continue;
      last_ = queue->first;
      Request request = queue->second.front();
      erase(places_.find(request.uri));
      return request;
    }
    return std::nullopt;
  }

  /// Whether this resource waits to be subscribed (true) or unsubscribed (false).
  std::optional<bool> waits(const std::string& uri) const {
    const auto found = places_.find(uri);
    return found == places_.end() ? std::nullopt : std::optional(found->second.request->subscribes);
  }
  template <class Visit>
  void each(Visit&& visit) const {
    for (const auto& [user, queue] : queues_) {
      for (const Request& request : queue) visit(request);
    }
  }
  bool empty() const { return places_.empty(); }
  std::size_t size() const { return places_.size(); }
  void clear() {
    places_.clear();
    queues_.clear();
  }

 private:
  using Queue = std::list<Request>;  ///< not empty
  struct Place {
    Queue::iterator request;
  };
  using Places = std::unordered_map<std::string, Place>;

  void erase(Places::iterator place) {
    const auto queue = queues_.find(place->second.request->user);
    queue->second.erase(place->second.request);
    if (queue->second.empty()) queues_.erase(queue);
    places_.erase(place);
  }

  std::map<User, Queue> queues_;
  Places places_;
  User last_{};
};

}  // namespace bridge
