#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "downstream/http/session_stream.hpp"
#include "router/client_channel.hpp"

namespace bridge {

/// `GET /mcp/stream`: every session notification, and what callers get later than with their POST,
/// to every subscriber; with --http-fanout all everything that callers get, and the upstream's
/// requests, whichever client is asked. They take nothing from the ring. A subscriber is never
/// waited for: with more than --http-stream-buffer unsent it is dropped. Owned by the face; the
/// loop's thread only.
class FanOut final : public RequestOnlookers {
 public:
  explicit FanOut(FaceContext& context);
  ~FanOut();

  /// `last_event_id` may be empty, or one that a former subscription ended with.
  void subscribe(HttpConnection& connection, HttpResponse::Headers headers,
                 std::string_view last_event_id);
  /// A message that is not in the ring.
  void publish(const std::string& message);
  /// An answer; `is_later`: its caller does not wait for it. Else only with --http-fanout all.
  void publish_answer(const std::string& message, bool is_later);
  /// The same of what belongs to a request before its answer. The upstream's requests are not shown
  /// by this, since they are by show_request(), whichever client is asked.
  void publish_about(const std::string& message, bool is_later);

  bool somebody_looks_on() const override;
  void show_request(const std::string& line) override;

  /// Ends the streams on which nothing was said for --sse-idle, in order. Returns when the next of
  /// them has its time.
  std::optional<SteadyTime> end_quiet(SteadyTime now);
  /// What of the ring is for them; null: all.
  void show_only(std::shared_ptr<const RingFilter> filter) { filter_ = std::move(filter); }
  /// The ring has something new.
  void ring_grew();
  void close_all(std::string_view last_comment);
  std::size_t size() const { return subscribers_.size(); }
  EventStore& store() { return store_; }

  /// In an upgrade: without its subscribers.
  struct Saved {
    std::uint64_t instance = 0;
    Sequence seen{};
    bool used = false;
    EventStore::Saved store;

    template <class A>
    void each_field(A& archive) {
      archive(instance, seen, used, store);
    }
  };
  // http_face_upgrade.cpp
  Saved save() const { return {instance_, seen_, used_, store_.save()}; }
  void restore(Saved saved);

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
  std::shared_ptr<const RingFilter> filter_;
  Sequence seen_;      ///< of the ring
  bool used_ = false;  ///< there was a subscriber: from then on events are kept
};

}  // namespace bridge
