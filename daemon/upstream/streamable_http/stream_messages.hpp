#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ids.hpp"
#include "jsonrpc/oversized_answer.hpp"
#include "text/json_text.hpp"
#include "text/received_text.hpp"

namespace bridge {

/// What came on a stream of the server's own and was not taken yet: messages, and the requests
/// whose answers were over --max-frame. Pure. Memory: what came in one turn.
class StreamMessages {
 public:
  /// The data of an event. `{}` is what some servers keep their streams awake with.
  void add(ReceivedText data, std::string event_id = {}) {
    if (data.bytes.empty() || data.bytes == "{}") return;
    make_single_line(data);
    messages_.push_back({std::move(data), std::move(event_id)});
  }
  /// An event was over the limit: both ends of its data.
  void add_oversized(std::string_view beginning, std::string_view end) {
    if (const auto id = id_of_oversized_answer(beginning, end))
      oversized_answers_.push_back(static_cast<UpstreamId>(*id));
  }

  bool empty() const { return messages_.empty() && oversized_answers_.empty(); }
  std::optional<ReceivedText> next() {
    auto message = take(messages_);
    if (!message) return std::nullopt;
    event_id_ = std::move(message->event_id);
    return std::move(message->data);
  }
  /// Of the event that the last one came in, or of one before.
  const std::string& event_id() const { return event_id_; }
  std::optional<UpstreamId> next_oversized_answer() { return take(oversized_answers_); }
  void clear() {
    messages_.clear();
    oversized_answers_.clear();
    event_id_.clear();
  }

 private:
  struct Message {
    ReceivedText data;
    std::string event_id;
  };

  template <class T>
  static std::optional<T> take(std::deque<T>& queue) {
    if (queue.empty()) return std::nullopt;
    std::optional<T> first = std::move(queue.front());
    queue.pop_front();
    return first;
  }

  std::deque<Message> messages_;
  std::string event_id_;
  std::deque<UpstreamId> oversized_answers_;
};

}  // namespace bridge
