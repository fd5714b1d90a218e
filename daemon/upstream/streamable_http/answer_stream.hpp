#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "http/sse_parser.hpp"
#include "text/visible_text.hpp"

namespace bridge {

/// Resuming of an answer's stream that broke (MCP 2025-11-25, "Resumability and Redelivery"): the
/// time of the next GET, and the events received so far. Pure. Memory: the ids of the last 1024
/// events.
class Continuation {
 public:
  /// The server has set the delay.
  void set_retry(std::chrono::milliseconds delay) {
    retry_ = std::min<std::chrono::milliseconds>(delay, std::chrono::hours(1));
  }

  /// The stream broke: the delay before the next attempt, doubled after each fruitless one up to 30
  /// s, but never less than the server's.
  std::chrono::milliseconds next_delay() {
    begun_ = true;
    const auto delay = std::max(retry_, shortest_delay) * (1 << std::min(tries_++, 6));
    return std::min<std::chrono::milliseconds>(delay, std::max(retry_, longest_delay));
  }

  /// An event arrived, with this id if any. False: it is a repetition, after the stream was
  /// resumed.
  bool is_news(const std::string* event_id) {
    const bool was_seen = event_id != nullptr && !remember(*event_id);
    if (was_seen && begun_) return false;
    tries_ = 0;
    return true;
  }

  std::chrono::milliseconds retry() const { return retry_; }
  /// The ids of the last events, oldest first.
  const std::list<std::string>& seen() const { return order_; }
  void restore(const std::vector<std::string>& seen, std::chrono::milliseconds retry) {
    for (const std::string& event_id : seen) remember(event_id);
    set_retry(retry);
    begun_ = true;
  }

  /// Whether a refusal of the token may be answered with another token: once.
  bool may_renew_token() { return !std::exchange(token_renewed_, true); }

 private:
  /// The shortest delay, also if the server sets none.
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

/// The stream of an answer, over several connections: its events, and how it is continued. Pure.
struct AnswerStream {
  /// `last_event_id`: of an earlier process; empty: a new stream.
  AnswerStream(std::size_t max_event, const std::string& last_event_id)
      : parser(max_event, last_event_id), last_event(last_event_id) {}

  /// Whether a GET can name the last event.
  bool can_continue() const {
    return fits_header(parser.last_event_id(), header_limit::event_id, Blanks::inside);
  }
  bool has_unusable_id() const { return !parser.last_event_id().empty() && !can_continue(); }
  /// Its next connection begins.
  void restart() { parser.restart(parser.last_event_id()); }
  /// An event arrived: returns the id of the event before it; nullopt: it is a repetition.
  std::optional<std::string> take_event() {
    std::string before = std::exchange(last_event, parser.last_event_id());
    const bool is_news =
        continuation.is_news(parser.event_had_id() ? &parser.last_event_id() : nullptr);
    return is_news ? std::optional(std::move(before)) : std::nullopt;
  }

  SseParser parser;
  Continuation continuation;
  std::string last_event;  ///< id of the last event; empty: none
};

}  // namespace bridge
