#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "clients/http/event_store.hpp"
#include "clients/http/event_stream.hpp"

namespace bridge {

/// `GET /mcp/stream`: every session notification, and what callers get later than with their POST
/// (with --http-fanout all: everything they get), to every subscriber. They take nothing from the
/// ring. A subscriber is never waited for: with more than --http-stream-buffer unsent it is
/// dropped. Owned by the face; the loop's thread only.
class FanOut {
 public:
  explicit FanOut(FaceContext& context);
  ~FanOut();

  /// `last_event_id` may be empty, or one that a former subscription ended with.
  void subscribe(HttpConnection& connection, EventStream::Headers headers,
                 std::string_view last_event_id);
  /// A message that is not in the ring.
  void publish(const std::string& message);
  /// A message that only those see who asked for everything.
  void publish_if_all(const std::string& message);
  /// The ring has something new.
  void ring_grew();
  void close_all(std::string_view last_comment);
  std::size_t size() const { return subscribers_.size(); }
  EventStore& store() { return store_; }

 private:
  class Subscriber;

  void send_to_all(EventId id, std::string_view message);
  void remove(Subscriber& subscriber);
  EventId next_id() { return store_.next_id(instance_); }

  FaceContext& context_;
  EventStore store_;
  /// In event ids the number of the stream: another daemon's are not taken for ours.
  std::uint64_t instance_;
  std::unordered_map<Subscriber*, std::unique_ptr<Subscriber>> subscribers_;
  Sequence seen_;      ///< of the ring
  bool used_ = false;  ///< somebody has subscribed: from then on events are kept
};

}  // namespace bridge
