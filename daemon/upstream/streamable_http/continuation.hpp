#pragma once

#include <algorithm>
#include <chrono>
#include <list>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace bridge {

/// How an answer's stream that broke is continued (MCP 2025-11-25, "Resumability and Redelivery"):
/// when the next GET may be made, and which of its events came before. Pure. Memory: the ids of the
/// last 1024 events.
class Continuation {
 public:
  /// The server has said how long to wait.
  void set_retry(std::chrono::milliseconds delay) {
    retry_ = std::min<std::chrono::milliseconds>(delay, std::chrono::hours(1));
  }

  /// The stream broke: how long to wait now. Twice as long after each try that brought nothing, up
  /// to 30 s, but never less than the server wants.
  std::chrono::milliseconds next_delay() {
    begun_ = true;
    const auto delay = std::max(retry_, shortest_delay) * (1 << std::min(tries_++, 6));
    return std::min<std::chrono::milliseconds>(delay, std::max(retry_, longest_delay));
  }

  /// An event came, with this id if it had one. False: it came before, and is sent again because
  /// the stream was continued.
  bool is_news(const std::string* event_id) {
    const bool was_seen = event_id != nullptr && !remember(*event_id);
    if (was_seen && begun_) return false;
    tries_ = 0;
    return true;
  }

  std::chrono::milliseconds retry() const { return retry_; }
  /// The ids of the last events, oldest first.
  const std::list<std::string>& seen() const { return order_; }
  /// Another image of the program goes on with it.
  void go_on_with(const std::vector<std::string>& seen, std::chrono::milliseconds retry) {
    for (const std::string& event_id : seen) remember(event_id);
    set_retry(retry);
    begun_ = true;
  }

  /// Whether a refusal of the token may be met with another one: once.
  bool may_renew_token() { return !std::exchange(token_renewed_, true); }

 private:
  /// A server that asks for no delay at all is not asked in a loop.
  static constexpr std::chrono::milliseconds shortest_delay{100};
  static constexpr std::chrono::milliseconds longest_delay{30000};
  static constexpr std::size_t max_seen = 1024;

  bool remember(const std::string& event_id) {
    if (!seen_.insert(event_id).second) return false;
    order_.push_back(event_id);
    if (order_.size() > max_seen) {
      seen_.erase(order_.front());
      order_.pop_front();
    }
    return true;
  }

  std::chrono::milliseconds retry_{1000};
  int tries_ = 0;  ///< since the last event
  bool begun_ = false;
  bool token_renewed_ = false;
  std::list<std::string> order_;  ///< of seen_, oldest first; costs nothing while it is empty
  std::unordered_set<std::string> seen_;
};

}  // namespace bridge
