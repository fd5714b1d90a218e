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

/// `GET /mcp/stream`: sends every session notification, and the responses that callers get later
/// than with their POST, to every subscriber; with --http-fanout all also all other responses and
/// the upstream's requests, whichever client is asked. Subscribers take nothing from the ring, and
/// are never waited for: one with more than --http-stream-buffer unsent is dropped. Owned by the
/// frontend; the loop's thread only.
class FanOut final : public RequestOnlookers {
 public:
  explicit FanOut(FrontendContext& context);
  ~FanOut();

  /// `last_event_id` may be empty, or the last one of an earlier subscription.
  void subscribe(HttpConnection& connection, HttpResponse::Headers headers,
                 std::string_view last_event_id);
  /// A response to this caller; `is_later`: it does not wait for it. Else only with --http-fanout
  /// all. With a policy those for callers of the Unix socket are not published: they may see more.
  void publish_answer(const ClientIdentity& caller, const std::string& message, bool is_later);
  /// The same for a message about a request before its response, except for the upstream's
  /// requests: show_request() publishes those, whichever client is asked.
  void publish_about(const ClientIdentity& caller, const std::string& message, bool is_later);

  bool has_onlooker() const override;
  void show_request(const std::string& line) override;

  /// Ends the streams that were quiet for --sse-idle, in order. Returns when the next one is
  /// due.
  std::optional<SteadyTime> end_quiet(SteadyTime now);
  /// Which of the ring's entries subscribers see; null: all.
  void show_only(std::shared_ptr<const RingFilter> filter) { filter_ = std::move(filter); }
  /// The ring has new entries.
  void ring_grew();
  void close_all(std::string_view last_comment);
  std::size_t size() const { return subscribers_.size(); }
  EventStore& store() { return store_; }

  /// For an upgrade: without its subscribers.
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
  Saved save() const { return {instance_, seen_, used_, store_.save()}; }
  void restore(Saved saved);

 private:
  class Subscriber;

  void publish(const std::string& message);
  void send_to_all(EventId id, std::string_view message);
  void remove(Subscriber& subscriber);
  EventId next_id() { return store_.next_id(instance_); }

  FrontendContext& context_;
  EventStore store_;
  /// Stands for the stream in event ids, so that another daemon's ids are not mistaken for ours.
  std::uint64_t instance_;
  std::unordered_map<Subscriber*, std::unique_ptr<Subscriber>> subscribers_;
  std::shared_ptr<const RingFilter> filter_;
  Sequence seen_;      ///< in the ring
  bool used_ = false;  ///< there was a subscriber: events are kept from then on
};

}  // namespace bridge
