#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/ids.hpp"
#include "downstream/http/frontend_context.hpp"
#include "http/server/http_connection.hpp"
#include "http/sse_parser.hpp"
#include "json/reply.hpp"
#include "notifications/ring.hpp"

namespace bridge {

class DownstreamSession;

/// An entry of the ring as a message: without its `\n`.
inline std::string_view message_of(const RingEntry& entry) {
  return std::string_view(entry.line).substr(0, entry.line.size() - 1);
}

/// The events sent on the streams of one session, so that a broken stream can be resumed.
///
/// Pure. Bounded by bytes; drops the oldest first, received or not, but keeps the newest whatever
/// its size. Keeps nothing while the budget of all queues is used up. Of a ring entry only the
/// sequence number is kept. Of a dropped response the id is kept, up to a number of them: a reader
/// that resumes is told that it is lost.
class EventStore {
 public:
  struct Event {
    EventId id;
    std::string message;  ///< empty: it is in the ring
    Sequence sequence{};
    std::string answers{};  ///< the id of the request it answers; empty: not a response

    template <class A>
    void each_field(A& archive) {
      archive(id, message, sequence, answers);
    }
  };
  struct Lost {
    EventId id;
    std::string raw_id;

    template <class A>
    void each_field(A& archive) {
      archive(id, raw_id);
    }
  };
  struct Saved {
    std::deque<Event> events;
    std::deque<Lost> lost;
    std::uint64_t last = 0;
    std::uint64_t forgotten = 0;  ///< the newest that was dropped

    template <class A>
    void each_field(A& archive) {
      archive(events, lost, last, forgotten);
    }
  };

  EventStore(std::size_t limit, ByteBudget& budget)
      : limit_(limit), budget_(budget), share_(budget) {}

  /// The id for a new event on that stream; does not keep the event.
  EventId next_id(std::uint64_t stream) { return {stream, ++all_.last}; }

  /// `answers`: the id of the request, if it is a response.
  void keep(EventId id, std::string message, std::string_view answers = {}) {
    add({id, std::move(message), Sequence{}, std::string(answers)});
  }
  void keep(EventId id, Sequence sequence) { add({id, {}, sequence}); }

  /// Its message was sent again, under another id.
  void remove(EventId id) {
    const auto is_it = [id](const auto& one) { return one.id == id; };
    std::erase_if(all_.lost, is_it);
    const auto found = std::find_if(all_.events.begin(), all_.events.end(), is_it);
    if (found == all_.events.end()) return;
    share_.remove(size_of(*found));
    all_.events.erase(found);
  }

  bool has_given_out(EventId id) const { return id.number > 0 && id.number <= all_.last; }
  /// Whether no event after this one was dropped.
  bool reaches_back_to(EventId id) const {
    return has_given_out(id) && id.number >= all_.forgotten;
  }
  /// Whether each_after() visits an event.
  bool has_after(EventId id) const {
    bool has = false;
    each_after(id, [&has](const auto&) { has = true; });
    return has;
  }

  /// Visits the later events of that event's stream, oldest first; errors for lost responses.
  template <class Visit>
  void each_after(EventId id, Visit&& visit) const {
    const auto comes_after = [id](EventId other) {
      return other.stream == id.stream && other.number > id.number;
    };
    for (const Lost& lost : all_.lost) {
      if (comes_after(lost.id))
        visit(Event{lost.id, lost_answer(lost.raw_id), Sequence{}, lost.raw_id});
    }
    for (const Event& event : all_.events) {
      if (comes_after(event.id)) visit(event);
    }
  }

  /// Drops what it can while the budget is used up.
  void give_way() {
    while (!all_.events.empty() && budget_.over()) forget_oldest();
  }

  std::size_t bytes() const { return share_.held(); }

  const Saved& save() const { return all_; }
  void restore(Saved saved) {
    const std::deque<Event> events = std::exchange(saved.events, {});
    all_ = std::move(saved);
    for (const Event& event : events) add(event);
  }

 private:
  static constexpr std::size_t max_lost = 64;
  static constexpr std::size_t max_lost_id = 256;

  static std::size_t size_of(const Event& event) {
    return sizeof(Event) + event.message.size() + event.answers.size();
  }

  static std::string lost_answer(std::string_view raw_id) {
    return error_reply(raw_id, failure_of(ErrorKind::overloaded, Delivered::unknown,
                                          "the answer has come, and was not kept until its stream "
                                          "was resumed (--http-stream-buffer)"));
  }

  void add(Event event) {
    share_.add(size_of(event));
    all_.events.push_back(std::move(event));
    while (all_.events.size() > 1 && share_.held() > limit_) forget_oldest();
    give_way();
  }

  void forget_oldest() {
    Event& oldest = all_.events.front();
    all_.forgotten = oldest.id.number;
    share_.remove(size_of(oldest));
    if (!oldest.answers.empty() && oldest.answers.size() <= max_lost_id) {
      all_.lost.push_back({oldest.id, std::move(oldest.answers)});
      if (all_.lost.size() > max_lost) all_.lost.pop_front();
    }
    all_.events.pop_front();
  }

  std::size_t limit_;
  ByteBudget& budget_;
  ByteBudget::Share share_;
  Saved all_;
};

/// A server-sent event stream under way on a connection. Its owner is the connection's responder
/// and ends the stream before it goes; meanwhile it gets keep-alive comments. The loop's thread
/// only.
class EventStream {
 public:
  /// Sends the head and the first comment at once.
  EventStream(FrontendContext& context, HttpConnection& connection, HttpResponse::Headers headers);
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  void send(std::string_view event);
  /// An `id` of EventId{}, or an empty type, is omitted.
  void send_message(EventId id, std::string_view message, std::string_view type = {});
  /// Sends the id to resume from and the delay before reconnecting: as an event without data if its
  /// client supports those.
  void announce(EventId id, bool primes);
  /// Sends an event again; does nothing if the ring no longer has it, or the filter hides it.
  void send_again(const EventStore::Event& event, const RingFilter* filter = nullptr);
  /// Sends all that the store has of that event's stream after it.
  void replay(const EventStore& store, EventId last, const RingFilter* filter = nullptr);
  void comment(std::string_view text);
  /// Ends the stream properly; the connection may continue.
  void end();
  /// Ends the connection.
  void drop() { connection_.drop(); }

  HttpConnection& connection() { return connection_; }
  /// More than --http-stream-buffer is unsent, and the kernel takes no more for now. A single event
  /// is accepted whatever its size.
  bool is_overrun() const { return overrun_; }
  /// Whether it has been overrun for 5 s, or by far more than a client may leave unread; otherwise
  /// asks the connection to check again. `queued` more bytes wait for this stream.
  bool is_stuck(std::size_t queued = 0);
  SteadyTime last_sent() const { return last_sent_; }
  /// When it will have sent only comments for --sse-idle; nullopt without that option.
  std::optional<SteadyTime> quiet_end() const;

 private:
  void write(std::string_view event);

  FrontendContext& context_;
  HttpConnection& connection_;
  SteadyTime last_sent_;
  SteadyTime last_event_;  ///< as above, without comments
  bool overrun_ = false;
};

/// A session's own stream: messages about none of the requests under way, and the session's
/// notifications from the ring, in the order of their arrival. While no connection carries it,
/// messages are queued and the ring is not read.
///
/// It reads the ring through a cursor, without copies; at most 64 KiB are with the connection. A
/// notification counts as taken when the caller's kernel has acknowledged its bytes (SIOCOUTQ):
/// over TCP it cannot be seen whether the process has read them. The same holds for messages: those
/// not acknowledged when the connection broke are sent again on the next one, unless the client
/// reports that it has received them (Last-Event-ID). Owned by its DownstreamSession; the loop's
/// thread only.
class SessionStream final : public HttpResponder {
 public:
  /// The number of this stream in event ids.
  static constexpr std::uint64_t number = 0;

  struct Queued {
    std::string message;
    Sequence behind{};  ///< to be sent after the ring's entries up to this one
    std::string answers;
    std::optional<EventId> sent_as{};
    std::uint64_t end = 0;  ///< if it was sent on this connection: HttpConnection::position()

    template <class A>
    void each_field(A& archive) {
      archive(message, behind, answers, sent_as, archive.not_saved(end));
    }
  };
  /// For an upgrade: without its connection.
  struct Saved {
    RingFeed feed = RingFeed::takes;
    Sequence sent_from_ring{};
    std::deque<Queued> queued;

    template <class A>
    void each_field(A& archive) {
      archive(feed, sent_from_ring, queued);
    }
  };

  SessionStream(FrontendContext& context, DownstreamSession& session);
  ~SessionStream();

  /// From now on this connection carries the stream, instead of an earlier one. `last` is the last
  /// event that the client received; `primes`: it supports events without data.
  void open(HttpConnection& connection, HttpResponse::Headers headers, std::optional<EventId> last,
            bool primes, std::string_view first_event = {});
  bool is_open() const { return stream_ != nullptr; }
  /// Ends the connection's response.
  void close(std::string_view last_comment);
  /// EventStream::quiet_end(), of the connection that carries it.
  std::optional<SteadyTime> quiet_end() const {
    return stream_ ? stream_->quiet_end() : std::nullopt;
  }

  /// `answers`: the id of the request, if it is a response.
  void push(std::string message, std::string_view answers = {});
  void push_ahead(std::string message, std::string_view answers = {});
  void set_feed(RingFeed feed);
  /// Which of the ring's entries its reader sees; null: all.
  void show_only(std::shared_ptr<const RingFilter> filter) {
    filter_ = std::move(filter);
    if (reader_) reader_->filter = filter_.get();
  }
  /// Writes what is ready, as much as the connection takes.
  void pump();
  void acknowledge_read();
  /// Drops a reader that takes nothing.
  void drop_if_stuck();

  std::size_t queued_bytes() const { return queued_bytes_; }
  /// Those of them that no connection carries.
  std::size_t unfetched_bytes() const { return is_open() ? 0 : queued_bytes_; }
  /// Includes those that were sent and may have to be sent again.
  std::size_t held_bytes() const { return queued_bytes_ + unacknowledged_bytes_; }
  /// When its reader last took bytes; nullopt without a connection.
  std::optional<SteadyTime> last_taken() const {
    return stream_ ? std::optional(stream_->connection().last_written()) : std::nullopt;
  }
  std::size_t queued() const { return queue_.size() - sent_; }

  Saved save() const;
  void restore(Saved saved);

  void connection_drained() override { pump(); }
  void connection_lost(bool has_read_all) override;
  bool ends_with_input() const override { return true; }

 private:
  void join(bool resumed);
  void leave_ring(bool has_read_all);
  void replay(EventId last, bool resumed);
  void forget_acknowledged();
  void put_back_unacknowledged();
  void drop_received(EventId last);
  bool is_queued_again(EventId id) const;
  bool send_next();
  bool has_ids() const;
  EventStore& store() const;
  void send(EventId id, std::string_view message);

  FrontendContext& context_;
  DownstreamSession& session_;
  std::unique_ptr<EventStream> stream_;
  std::deque<Queued> queue_;      ///< unacknowledged ones first
  std::size_t sent_ = 0;          ///< as many as the kernel and the connection's window hold
  std::size_t queued_bytes_ = 0;  ///< of the unsent ones
  std::size_t unacknowledged_bytes_ = 0;
  std::shared_ptr<const RingFilter> filter_;  ///< of the reader
  std::optional<RingReader> reader_;          ///< while it reads the ring
  RingFeed feed_ = RingFeed::takes;
  Sequence sent_from_ring_{};  ///< the newest entry that was sent on it
  std::uint64_t lost_entries_ = 0;
};

}  // namespace bridge
