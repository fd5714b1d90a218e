#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <list>
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
#include "session/polled_events.hpp"
#include "session/saved_session.hpp"
#include "session/session_record.hpp"
#include "session/session_sender.hpp"
#include "session/stream_overlap.hpp"

namespace bridge {

class EraSession;

/// When one of the bridge's own streams is requested: at most twice a second, also as the server
/// sees it, and with back-off while it does not deliver. Pure but for its back-off.
class ListenPace {
 public:
  static constexpr std::chrono::milliseconds between_openings{525};

  void begin(SteadyTime now) { begun_before_ = std::exchange(begun_, now); }
  /// The stream delivers, or there is another server to ask.
  void reset() { backoff_.reset(); }
  /// When another one may be requested beside it.
  SteadyTime soonest(SteadyTime now) const {
    return std::max(now, begun_before_ + 2 * between_openings);
  }
  /// The stream has ended: when to request the next one. `at_once`: the first time without delay.
  SteadyTime after_end(SteadyTime now, bool at_once) {
    const bool is_first = backoff_.tries() == 0;
    const std::chrono::milliseconds delay = backoff_.next();
    return std::max(begun_ + between_openings, at_once && is_first ? now : now + delay);
  }

 private:
  SteadyTime begun_{};
  SteadyTime begun_before_{};  ///< the stream before
  Backoff backoff_;
};

/// The stream that a notification belongs to, by its stream or by the id in it; 0: none.
UpstreamId stream_named_by(const Frame& notification, std::optional<UpstreamId> origin);

/// The bridge's own `subscriptions/listen` at a modern upstream: one stream with the union of all
/// filters, whose notifications belong to the session (MCP 2026-07-28, "Subscriptions"; BEHAVIOUR,
/// "Eras: the listen stream").
///
/// For another filter the new stream is opened before the old one is closed, which is read until it
/// delivers only what comes on the new one, too, or nothing; meanwhile duplicates are removed. A
/// stream that ends is reopened, at most twice a second; changes missed meanwhile are reported by
/// SessionEvents::listen_resumed.
///
/// Owned by the session; the loop's thread only. Memory: the filter, and a short text per
/// notification while streams overlap.
class UpstreamListen {
 public:
  UpstreamListen(EventLoop& loop, SessionSender& sender, Upstream& upstream, Log& log,
                 EraSession& session);

  /// The session is open: opens a stream if one is wanted.
  void open();
  /// The previous process had a stream; this id, if it is still open. REQUIRES: open() follows.
  void restore(UpstreamId still_open);
  bool had_stream() const { return had_stream_; }
  /// The session is not open: gives up streams under way.
  void close();
  /// Sets the filter. Empty: no stream. `capabilities`: a JSON object declared by the listening
  /// clients.
  void want(SubscriptionFilter filter, std::string capabilities);

  // REQUIRES: `stream` belongs to it (OwnMessages).
  /// A notification on that stream. Returns what to pass on; nullopt: it concerned the stream
  /// itself.
  std::optional<std::string> take_notification(UpstreamId stream, const Frame& notification);
  /// The stream has ended. `why`: for the log, if the server refused it.
  void over(UpstreamId stream, bool refused, std::string_view why = {});

  /// A stream that the server has acknowledged.
  struct Stream {
    UpstreamId id{};  ///< 0: not open
    SubscriptionFilter asked{};
    std::optional<SubscriptionFilter> honoured{};  ///< the part that the server has acknowledged

    bool is_open() const { return id != UpstreamId{}; }
    /// Whether the server has acknowledged this extension's member.
    bool honours(std::string_view extension) const {
      return honoured && honoured->extensions.contains(extension);
    }
  };
  /// The newest acknowledged stream, on which the server notifies what was asked; null: none.
  const Stream* stream() const { return now_.is_open() ? &now_ : nullptr; }

 private:
  /// What the clients want.
  struct Demand {
    SubscriptionFilter filter;
    std::string capabilities = "{}";
  };
  void ask_for_stream();
  void close(UpstreamId& stream);
  void acknowledged(UpstreamId stream, const Frame& acknowledgement);
  void overlap_ended();
  bool old_is_read();

  EventLoop& loop_;
  SessionSender& sender_;
  Upstream& upstream_;
  Log& log_;
  EraSession& session_;
  bool is_open_ = false;     ///< whether the session is open
  bool had_stream_ = false;  ///< an acknowledged one, in this session
  Demand wanted_;
  SubscriptionFilter asked_;     ///< of the newest stream
  UpstreamId old_{};             ///< replaced, but still open for a moment
  bool old_delivered_ = false;   ///< since `overlap_` was set
  bool old_was_silent_ = false;  ///< when it expired before
  int overlaps_ = 0;             ///< times that it was set because of what came
  bool start_waits_ = false;     ///< until `old_` is closed
  Stream now_;
  UpstreamId next_{};  ///< not acknowledged yet
  StreamOverlap<UpstreamId> told_;
  ListenPace pace_;
  DeadlineTimer retry_;
  DeadlineTimer overlap_;
  DeadlineTimer late_;  ///< for the acknowledgement of next_
};

/// The bridge's own `events/stream` requests at a modern upstream, one per --event (the events
/// extension, SEP-3415; BEHAVIOUR, "Eras: event streams"). Their events are notifications of the
/// session, with their cursor; a stream that ends is reopened after its last cursor. Where the
/// server offers no stream they are polled by `events/poll` at the server's interval.
///
/// Owned by the session; the loop's thread only. Memory: a cursor of at most max_cursor bytes per
/// --event.
class EventStreams {
 public:
  static constexpr std::size_t max_cursor = PolledEvents::max_cursor;

  EventStreams(EventLoop& loop, SessionSender& sender, Log& log,
               const std::vector<EventOption>& events);

  /// The session is open, with a modern upstream.
  void open();
  /// The last cursors, and how to resume after them in place of streams that may still be open.
  /// REQUIRES: open() follows.
  std::vector<SavedStreams::Events> save_streams() const;
  void restore(const std::vector<SavedStreams::Events>& saved, bool still_open);
  /// The session is not open.
  void close();

  // REQUIRES: `stream` belongs to it (OwnMessages).
  /// A notification on that stream; returns what to pass on.
  std::optional<std::string> take_notification(UpstreamId stream, const Frame& notification);
  /// The stream, or the poll, has ended. `refused`: by the server; `error`: its JSON-RPC error.
  void over(UpstreamId stream, bool refused, std::string_view error);

  // REQUIRES: `poll` belongs to it (OwnMessages).
  /// Returns the notifications to pass on.
  std::vector<std::string> poll_answered(UpstreamId poll, const Frame& response);

 private:
  struct Stream {
    Stream(EventLoop& loop, const EventOption& option, EventStreams& owner)
        : event(option), retry(loop, [this, &owner] { owner.open_stream(*this); }) {}

    const EventOption event;
    bool polls = false;  ///< in this session: the server offers no stream
    std::string cursor;  ///< of the last event, as JSON; empty: none yet
    UpstreamId id{};
    ListenPace pace;
    DeadlineTimer retry;
  };

  void open_stream(Stream& stream);
  void stop(Stream& stream);
  void report_gap(const Stream& stream);
  Stream& stream_of(UpstreamId id);

  EventLoop& loop_;
  SessionSender& sender_;
  Log& log_;
  std::list<Stream> streams_;
};

}  // namespace bridge
