#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "mcp/subscription_filter.hpp"
#include "session/saved_session.hpp"
#include "session/session_record.hpp"
#include "session/session_sender.hpp"

namespace bridge {

/// Tells news from repetitions while several streams tell the same: each begins at another time,
/// and what comes on two of them comes on the one or on the other first.
///
/// The n-th equal text on one stream is the n-th on the other, counted from what was known when
/// that one was asked for. Pure. Bounded by max_texts; beyond it everything is news for once.
class StreamOverlap {
 public:
  static constexpr std::size_t max_texts = 1000;

  /// The stream is asked for: from now on, it may tell what others tell.
  void begin(UpstreamId stream) { told_by_[stream] = told_; }
  /// No other stream tells what these tell now.
  void keep_only(std::initializer_list<UpstreamId> streams) {
    std::erase_if(told_by_, [&](const auto& one) {
      return std::find(streams.begin(), streams.end(), one.first) == streams.end();
    });
    if (!has_several()) forget();
  }

  /// The stream is acknowledged: what is told from now on, it tells.
  void acknowledged() { reported_before_ = told_; }
  /// What was told before that, and it has not told by now, does not come on it: what comes yet is
  /// what others have told since.
  void settle(UpstreamId stream) {
    Counts& counts = told_by_[stream];
    for (const auto& [text, count] : std::exchange(reported_before_, {}))
      counts[text] = std::max(counts[text], count);
  }
  bool has_several() const { return told_by_.size() > 1; }

  bool is_news(UpstreamId stream, const std::string& text) {
    if (!has_several()) return true;
    if (told_.size() >= max_texts && !told_.contains(text)) forget();
    const std::size_t count = ++told_by_[stream][text];
    std::size_t& told = told_[text];
    if (count <= told) return false;
    told = count;
    return true;
  }

 private:
  using Counts = std::map<std::string, std::size_t>;

  void forget() {
    told_.clear();
    reported_before_.clear();
    for (auto& [stream, counts] : told_by_) counts.clear();
  }

  Counts told_;                           ///< how often each text was news
  Counts reported_before_;                ///< the newest stream was acknowledged
  std::map<UpstreamId, Counts> told_by_;  ///< how often it was told by that stream, or before it
};

/// Which stream this notification is about, by the stream it came on or by the one it names; 0:
/// none.
UpstreamId stream_named_by(const Frame& notification, std::optional<UpstreamId> origin);

/// The bridge's own `subscriptions/listen` at a modern upstream: one stream with the union of all
/// that is wanted, whose notifications are the session's (MCP 2026-07-28, "Subscriptions";
/// BEHAVIOUR, "Eras: the listen stream").
///
/// With another filter the new stream is opened before the old one is closed; while both are open
/// what comes on both is passed on once. A stream that has ended is opened again, never more often
/// than twice a second; what may have been missed meanwhile is told by Events::resumed.
///
/// Owned by the session; the loop's thread only. Memory: the filter, and one short text for each
/// notification that came while two streams were open.
class UpstreamListen {
 public:
  /// Never more than two openings in twice this time: two a second, also as the server sees them
  /// arrive.
  static constexpr std::chrono::milliseconds between_openings{525};

  /// Implemented by the session.
  class Events {
   public:
    virtual void listen_changed(ServerStream state) = 0;
    /// What is asked for is told of from now on (listened_to()).
    virtual void listen_acknowledged() = 0;
    /// It is open again after a gap, in which changes of what it names went unseen.
    virtual void listen_resumed(const SubscriptionFilter& filter) = 0;

   protected:
    ~Events() = default;
  };

  UpstreamListen(EventLoop& loop, SessionSender& sender, Upstream& upstream, Log& log,
                 Events& events);

  /// The session is open: listens for what is wanted.
  void open();
  /// The previous process had a stream, which is open still if this is its id. REQUIRES: open()
  /// follows.
  void restore(UpstreamId still_open);
  /// The newest one that the server has acknowledged.
  UpstreamId acknowledged_stream() const { return now_; }
  bool had_stream() const { return had_stream_; }
  /// It is not: what is under way is given up.
  void close();
  /// What is wanted from now on. An empty filter: nothing is listened for.
  /// `capabilities`: a JSON object, what the clients that listen declare.
  void want(SubscriptionFilter filter, std::string capabilities);

  // REQUIRES: `stream` is one of it (OwnMessages).
  /// A notification on that stream. Returns what is to be passed on; none: it was about the stream.
  std::optional<std::string> take(UpstreamId stream, const Frame& notification);
  /// The stream has ended. `why` is for the log, if the server refuses it.
  void over(UpstreamId stream, bool refused, std::string_view why = {});

  /// What the upstream tells of now; null: nothing.
  const SubscriptionFilter* listened_to() const {
    return now_ != UpstreamId{} ? &acknowledged_ : nullptr;
  }
  /// What of that the server has acknowledged; null: it has not said.
  const SubscriptionFilter* acknowledged() const {
    return now_ != UpstreamId{} && honoured_ ? &*honoured_ : nullptr;
  }
  /// Whether the server has acknowledged this member of it, which is of an extension.
  bool honours(std::string_view extension) const {
    const SubscriptionFilter* const told = acknowledged();
    return told != nullptr && told->extensions.contains(extension);
  }

 private:
  SteadyTime soonest() const;
  void start();
  void close(UpstreamId& stream);
  void acknowledged(UpstreamId stream, const Frame& acknowledgement);
  void set_state(ServerStream state);

  EventLoop& loop_;
  SessionSender& sender_;
  Upstream& upstream_;
  Log& log_;
  Events& events_;
  SubscriptionFilter wanted_;
  SubscriptionFilter asked_;         ///< of the newest stream
  SubscriptionFilter acknowledged_;  ///< of now_
  std::optional<SubscriptionFilter> honoured_;
  std::string capabilities_ = "{}";
  bool is_open_ = false;     ///< the session is
  bool had_stream_ = false;  ///< in this session: one that was acknowledged
  UpstreamId now_{};         ///< acknowledged
  UpstreamId next_{};        ///< not yet
  UpstreamId old_{};         ///< replaced, and still open for a moment
  StreamOverlap told_;
  ServerStream state_ = ServerStream::off;
  SteadyTime started_{};
  SteadyTime started_before_{};  ///< the one before
  Backoff backoff_;
  DeadlineTimer retry_;
  DeadlineTimer overlap_;
};

/// The bridge's own `events/stream` requests at a modern upstream, one for each --event (the events
/// extension, SEP-3415; BEHAVIOUR, "Eras: event streams"). What comes on them are the session's
/// notifications, with their cursor; a stream that has ended is opened again behind the last one.
///
/// Owned by the session; the loop's thread only. Memory: a cursor of at most max_cursor bytes for
/// each --event.
class EventStreams {
 public:
  static constexpr std::size_t max_cursor = 4096;

  EventStreams(EventLoop& loop, SessionSender& sender, Log& log,
               const std::vector<EventOption>& events);

  /// The session is open, with a modern upstream.
  void open();
  /// The last event of each; and to begin after those, in the place of streams that may still be
  /// open. REQUIRES: open() follows.
  std::vector<SavedStreams::Events> save() const;
  void restore(const std::vector<SavedStreams::Events>& saved, bool still_open);
  /// It is not.
  void close();

  // REQUIRES: `stream` is one of them (OwnMessages).
  /// A notification on that stream; returns what is to be passed on.
  std::optional<std::string> take(UpstreamId stream, const Frame& notification);
  /// The stream has ended. `refused`: the server does not want it to be opened.
  void over(UpstreamId stream, bool refused);

 private:
  struct Stream {
    Stream(EventLoop& loop, const EventOption& option, EventStreams& owner)
        : event(option), retry(loop, [this, &owner] { owner.start(*this); }) {}

    const EventOption event;
    std::string cursor;  ///< of the last event, as JSON; empty: none yet
    UpstreamId id{};
    SteadyTime started{};
    Backoff backoff;
    DeadlineTimer retry;
  };

  void start(Stream& stream);
  Stream& find(UpstreamId id);

  EventLoop& loop_;
  SessionSender& sender_;
  Log& log_;
  std::list<Stream> streams_;
};

}  // namespace bridge
