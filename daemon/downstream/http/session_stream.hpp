#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "downstream/http/event_stream.hpp"
#include "notifications/ring.hpp"

namespace bridge {

/// A session's own stream: what is about none of the requests under way, and the session's
/// notifications from the ring, in the order of their arrival. While no connection carries it,
/// messages wait and the ring is not read.
///
/// From the ring it is fed by a cursor, without copies; at most 64 KiB of it are with the
/// connection. A notification counts as taken when the caller's kernel has acknowledged its bytes
/// (SIOCOUTQ): that it was read by the process cannot be seen over TCP. Messages likewise: those
/// that were sent and not acknowledged when the connection broke are sent again on the next one,
/// unless its client says that it had them (Last-Event-ID). Owned by its DownstreamSession; the
/// loop's thread only.
class SessionStream final : public HttpResponder {
 public:
  /// The number of this stream in event ids.
  static constexpr std::uint64_t number = 0;

  struct Style {
    bool has_ids = true;
    std::string_view event_type;  ///< empty: none is written
  };

  struct Queued {
    std::string message;
    Sequence behind{};  ///< goes after the ring's entries up to this one
    std::string answers;
    std::optional<EventId> sent_as{};  ///< it was sent on a connection that broke

    template <class A>
    void each_field(A& archive) {
      archive(message, behind, answers, sent_as);
    }
  };
  /// In an upgrade: without the connection that carries it.
  struct Saved {
    RingFeed feed = RingFeed::takes;
    Sequence sent_from_ring{};
    std::vector<Queued> queued;

    template <class A>
    void each_field(A& archive) {
      archive(feed, sent_from_ring, queued);
    }
  };

  SessionStream(FaceContext& context, EventStore& store, Style style, std::function<void()> changed,
                std::function<void()> lost);
  ~SessionStream();

  /// A connection carries it from now on, in place of the one that did. `last` is where its client
  /// had got to; `primes` whether it knows events without data.
  void open(HttpConnection& connection, EventStream::Headers headers, std::optional<EventId> last,
            bool primes, std::string_view first_event = {});
  bool is_open() const { return stream_ != nullptr; }
  /// Ends the connection's response.
  void close(std::string_view last_comment);
  /// EventStream::quiet_end(), of the connection that carries it.
  std::optional<SteadyTime> quiet_end() const {
    return stream_ ? stream_->quiet_end() : std::nullopt;
  }

  /// `answers`: the id of the request, if it is an answer.
  void push(std::string message, std::string_view answers = {});
  void push_ahead(std::string message, std::string_view answers = {});
  void set_feed(RingFeed feed);
  /// Writes what is ready, as far as the connection takes it.
  void pump();
  void acknowledge_read();
  /// Lets go of a reader that takes nothing.
  void drop_if_stuck();

  std::size_t queued_bytes() const { return queued_bytes_; }
  /// With those that were sent and may have to be sent again.
  std::size_t held_bytes() const { return queued_bytes_ + unacknowledged_bytes_; }
  /// When its reader last took something; nothing while nobody carries it.
  std::optional<SteadyTime> last_taken() const {
    return stream_ ? std::optional(stream_->connection().last_written()) : std::nullopt;
  }
  std::size_t queued() const { return queue_.size(); }

  // http_face_upgrade.cpp
  Saved save() const;
  void restore(Saved saved);

  void connection_drained() override { pump(); }
  void connection_lost(bool has_read_all) override;
  bool ends_with_input() const override { return true; }

 private:
  struct Sent {
    Queued message;
    std::uint64_t end;  ///< HttpConnection::position() behind it
  };

  void join(bool resumed);
  void leave_ring(bool has_read_all);
  void replay(EventId last, bool resumed);
  void forget_acknowledged();
  void put_back_unacknowledged();
  void drop_received(EventId last);
  bool is_queued_again(EventId id) const;
  bool send_next();
  void send(EventId id, std::string_view message);

  FaceContext& context_;
  EventStore& store_;
  Style style_;
  std::function<void()> changed_;  ///< its queue has grown or shrunk
  std::function<void()> lost_;     ///< no connection carries it any more
  std::unique_ptr<EventStream> stream_;
  std::deque<Queued> queue_;
  std::size_t queued_bytes_ = 0;
  std::deque<Sent> unacknowledged_;  ///< as much as the kernel holds, and the connection's window
  std::size_t unacknowledged_bytes_ = 0;
  RingReader reader_;
  RingFeed feed_ = RingFeed::takes;
  bool in_ring_ = false;
  Sequence sent_from_ring_{};  ///< the newest entry that was sent on it
  std::uint64_t lost_entries_ = 0;
};

}  // namespace bridge
