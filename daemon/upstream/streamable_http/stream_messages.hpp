#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "json/json_text.hpp"
#include "json/received_text.hpp"
#include "json/reply.hpp"

namespace bridge {

/// Whether the messages that one read of an encoded stream contained are too many: its reading
/// cannot pause, since libcurl would decode the rest into memory.
constexpr bool is_flood(bool is_encoded, std::size_t bytes, std::size_t max_frame) {
  return is_encoded && bytes > max_frame;
}

/// Messages of one stream that were not taken yet, and the requests whose answers were over
/// --max-frame. Pure. Memory: what its owner has not taken.
class StreamMessages {
 public:
  /// The data of an event. False: it is not a message. Some servers send `{}` to keep streams open.
  bool add(ReceivedText&& data, std::string event_id = {}) {
    if (data.bytes.empty() || data.bytes == "{}") return false;
    add_any(std::move(data), std::move(event_id));
    return true;
  }
  /// A message, whatever it contains.
  void add_any(ReceivedText&& data, std::string&& event_id = {}) {
    make_single_line(data);
    bytes_ += data.bytes.size();
    messages_.emplace_back(std::move(data), std::move(event_id));
  }
  /// An event was over the limit: the beginning and end of its data.
  void add_oversized(std::string_view beginning, std::string_view end) {
    if (const auto id = id_of_oversized_answer(beginning, end))
      oversized_answers_.push_back(static_cast<UpstreamId>(*id));
  }

  /// Whether there is nothing to take.
  bool empty() const { return messages_.empty() && oversized_answers_.empty(); }
  /// Bytes of the messages.
  std::size_t bytes() const { return bytes_; }
  std::optional<ReceivedText> next_message() {
    if (messages_.empty()) return std::nullopt;
    Message& first = messages_.front();
    bytes_ -= first.data.bytes.size();
    event_id_ = std::move(first.event_id);
    std::optional<ReceivedText> message(std::move(first.data));
    messages_.pop_front();
    return message;
  }
  /// What was given with the last taken message.
  const std::string& event_id() const { return event_id_; }
  /// Removes and returns those requests.
  std::vector<UpstreamId> take_oversized_answers() { return std::exchange(oversized_answers_, {}); }
  void clear() {
    messages_.clear();
    bytes_ = 0;
    event_id_.clear();
    oversized_answers_.clear();
  }

 private:
  struct Message {
    Message(ReceivedText&& its_data, std::string&& its_event_id)
        : data(std::move(its_data)), event_id(std::move(its_event_id)) {}

    ReceivedText data;
    std::string event_id;
  };

  std::list<Message> messages_;  ///< a list costs nothing while it is empty, unlike a deque
  std::size_t bytes_ = 0;        ///< of messages_
  std::string event_id_;
  std::vector<UpstreamId> oversized_answers_;
};

}  // namespace bridge
