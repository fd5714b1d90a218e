#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/ids.hpp"
#include "downstream/http/face_context.hpp"
#include "http/server/http_connection.hpp"
#include "http/sse_parser.hpp"
#include "json/reply.hpp"

namespace bridge {

/// What was sent on the streams of one session, so that a broken one can be resumed.
///
/// Pure. Bounded by bytes, the oldest out first, whether they were received or not, but the newest
/// stays whatever its size; with the budget of all queues exhausted nothing is kept. What came from
/// the ring is kept as its sequence number only. Of an answer that was pushed out its id is kept,
/// up to a number of them: whoever resumes is told that it is lost.
class EventStore {
 public:
  struct Event {
    EventId id;
    std::string message;  ///< empty: it is in the ring
    Sequence sequence{};
    std::string answers{};  ///< the id of the request it answers; empty: it is no answer

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
  /// All of it, in an upgrade.
  struct Saved {
    std::deque<Event> events;
    std::deque<Lost> lost;
    std::uint64_t last = 0;
    std::uint64_t forgotten = 0;

    template <class A>
    void each_field(A& archive) {
      archive(events, lost, last, forgotten);
    }
  };

  EventStore(std::size_t limit, ByteBudget& budget)
      : limit_(limit), budget_(budget), share_(budget) {}

  /// The id for a new event on that stream, which is not kept by itself.
  EventId next_id(std::uint64_t stream) { return {stream, ++last_}; }

  /// `answers`: the id of the request, if it is an answer.
  void keep(EventId id, std::string message, std::string_view answers = {}) {
    add({id, std::move(message), Sequence{}, std::string(answers)});
  }
  void keep(EventId id, Sequence sequence) { add({id, {}, sequence}); }

  bool has_given_out(EventId id) const { return id.number <= last_; }
  /// Whether nothing that came after this event has been pushed out.
  bool reaches_back_to(EventId id) const { return has_given_out(id) && id.number >= forgotten_; }
  /// Whether that event's number was given out, and something of its stream is known.
  bool knows(EventId id) const {
    const auto is_of_stream = [id](const auto& one) { return one.id.stream == id.stream; };
    return has_given_out(id) && (std::any_of(events_.begin(), events_.end(), is_of_stream) ||
                                 std::any_of(lost_.begin(), lost_.end(), is_of_stream));
  }

  /// What was sent on that event's stream after it, oldest first; errors for answers that are lost.
  template <class Visit>
  void each_after(EventId id, Visit&& visit) const {
    const auto comes_after = [id](EventId other) {
      return other.stream == id.stream && other.number > id.number;
    };
    for (const Lost& lost : lost_) {
      if (comes_after(lost.id))
        visit(Event{lost.id, lost_answer(lost.raw_id), Sequence{}, lost.raw_id});
    }
    for (const Event& event : events_) {
      if (comes_after(event.id)) visit(event);
    }
  }

  /// Forgets what it can while the budget is used up.
  void give_way() {
    while (!events_.empty() && budget_.over()) forget_oldest();
  }

  std::size_t bytes() const { return share_.held(); }

  Saved save() const { return {events_, lost_, last_, forgotten_}; }
  void restore(Saved saved) {
    last_ = saved.last;
    forgotten_ = saved.forgotten;
    lost_ = std::move(saved.lost);
    for (Event& event : saved.events) add(std::move(event));
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
    events_.push_back(std::move(event));
    while (events_.size() > 1 && share_.held() > limit_) forget_oldest();
    give_way();
  }

  void forget_oldest() {
    Event& oldest = events_.front();
    forgotten_ = oldest.id.number;
    share_.remove(size_of(oldest));
    if (!oldest.answers.empty() && oldest.answers.size() <= max_lost_id) {
      lost_.push_back({oldest.id, std::move(oldest.answers)});
      if (lost_.size() > max_lost) lost_.pop_front();
    }
    events_.pop_front();
  }

  std::size_t limit_;
  ByteBudget& budget_;
  ByteBudget::Share share_;
  std::deque<Event> events_;
  std::deque<Lost> lost_;
  std::uint64_t last_ = 0;
  std::uint64_t forgotten_ = 0;  ///< the newest that was pushed out
};

/// How soon a client may come back to a stream that has ended: `retry`.
constexpr std::uint64_t stream_retry_ms = 500;

/// A response of server-sent events that is under way on a connection. Its owner is the
/// connection's responder and ends it before it goes; while it lives it gets keep-alive comments.
/// The loop's thread only.
class EventStream {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  /// Sends the head and the first comment at once.
  EventStream(FaceContext& context, HttpConnection& connection, Headers headers);
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  void send(std::string_view event);
  void comment(std::string_view text);
  /// The stream's proper end; the connection may go on.
  void end();
  /// Ends the connection.
  void drop() { connection_.drop(); }

  HttpConnection& connection() { return connection_; }
  /// More than --http-stream-buffer is unsent, and the kernel takes no more for now. A single event
  /// is admitted whatever its size.
  bool is_overrun() const { return overrun_; }
  /// Whether it is overrun for 5 s, or by far more than a client may leave unread; else asks the
  /// connection for another look. `queued` more bytes wait for this stream.
  bool is_stuck(std::size_t queued = 0);
  SteadyTime last_sent() const { return last_sent_; }
  /// When it has said nothing but comments for --sse-idle; nothing without that.
  std::optional<SteadyTime> quiet_end() const;

 private:
  void write(std::string_view event);

  FaceContext& context_;
  HttpConnection& connection_;
  SteadyTime last_sent_;
  SteadyTime last_event_;  ///< as above, comments not counted
  bool overrun_ = false;
};

}  // namespace bridge
