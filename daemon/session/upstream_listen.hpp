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

class EraSession;

/// Removes duplicates while several streams deliver the same notifications: each stream begins at
/// another time, and either may deliver first.
///
/// The n-th equal text on one stream is the n-th on another, counted from when that stream was
/// requested. Pure. Bounds: max_texts; beyond it everything counts as new once.
class StreamOverlap {
 public:
  static constexpr std::size_t max_texts = 1000;

  /// The stream is requested: from now on it may repeat what others deliver.
  void begin(UpstreamId stream) { told_by_[stream] = told_; }
  /// Only these streams still deliver.
  void keep_only(std::initializer_list<UpstreamId> streams) {
    std::erase_if(told_by_, [&](const auto& one) {
      return std::find(streams.begin(), streams.end(), one.first) == streams.end();
    });
    if (!has_several()) forget();
  }

  /// The stream is acknowledged: it delivers everything from now on.
  void acknowledged() { reported_before_ = told_; }
  /// Texts from before the acknowledgement that the stream has not delivered by now will not come
  /// on it.
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

  Counts told_;             ///< how often each text was new
  Counts reported_before_;  ///< the same, when the newest stream was acknowledged
  std::map<UpstreamId, Counts>
      told_by_;  ///< how often that stream has delivered each text, or earlier streams
};

/// The stream that a notification belongs to, by its stream or by the id in it; 0: none.
UpstreamId stream_named_by(const Frame& notification, std::optional<UpstreamId> origin);

/// The bridge's own `subscriptions/listen` at a modern upstream: one stream with the union of all
/// filters, whose notifications belong to the session (MCP 2026-07-28, "Subscriptions"; BEHAVIOUR,
/// "Eras: the listen stream").
///
/// For another filter the new stream is opened before the old one is closed; meanwhile duplicates
/// are removed. A stream that ends is reopened, at most twice a second; changes missed meanwhile
/// are reported by EraSession::listen_resumed.
///
/// Owned by the session; the loop's thread only. Memory: the filter, and a short text per
/// notification while streams overlap.
class UpstreamListen {
 public:
  /// At most two openings within twice this time, also as the server sees them.
  static constexpr std::chrono::milliseconds between_openings{525};

  UpstreamListen(EventLoop& loop, SessionSender& sender, Upstream& upstream, Log& log,
                 EraSession& session);

  /// The session is open: opens a stream if one is wanted.
  void open();
  /// The previous process had a stream; this id, if it is still open. REQUIRES: open() follows.
  void restore(UpstreamId still_open);
  /// The newest acknowledged stream.
  UpstreamId acknowledged_stream() const { return now_; }
  bool had_stream() const { return had_stream_; }
  /// The session is not open: gives up streams under way.
  void close();
  /// Sets the filter. Empty: no stream. `capabilities`: a JSON object declared by the listening
  /// clients.
  void want(SubscriptionFilter filter, std::string capabilities);

  // REQUIRES: `stream` belongs to it (OwnMessages).
  /// A notification on that stream. Returns what to pass on; nullopt: it concerned the stream
  /// itself.
  std::optional<std::string> take(UpstreamId stream, const Frame& notification);
  /// The stream has ended. `why`: for the log, if the server refused it.
  void over(UpstreamId stream, bool refused, std::string_view why = {});

  /// What the upstream notifies now; null: nothing.
  const SubscriptionFilter* listened_to() const {
    return now_ != UpstreamId{} ? &acknowledged_ : nullptr;
  }
  /// The part that the server has acknowledged; null: no acknowledgement yet.
  const SubscriptionFilter* acknowledged() const {
    return now_ != UpstreamId{} && honoured_ ? &*honoured_ : nullptr;
  }
  /// Whether the server has acknowledged this extension's member.
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
  EraSession& session_;
  SubscriptionFilter wanted_;
  SubscriptionFilter asked_;         ///< of the newest stream
  SubscriptionFilter acknowledged_;  ///< of now_
  std::optional<SubscriptionFilter> honoured_;
  std::string capabilities_ = "{}";
  bool is_open_ = false;     ///< whether the session is open
  bool had_stream_ = false;  ///< an acknowledged one, in this session
  UpstreamId now_{};         ///< the acknowledged stream
  UpstreamId next_{};        ///< not acknowledged yet
  UpstreamId old_{};         ///< replaced, but still open for a moment
  StreamOverlap told_;
  ServerStream state_ = ServerStream::off;
  SteadyTime started_{};
  SteadyTime started_before_{};  ///< start of the previous stream
  Backoff backoff_;
  DeadlineTimer retry_;
  DeadlineTimer overlap_;
};

/// The bridge's own `events/stream` requests at a modern upstream, one per --event (the events
/// extension, SEP-3415; BEHAVIOUR, "Eras: event streams"). Their events are notifications of the
/// session, with their cursor; a stream that ends is reopened after its last cursor.
///
/// Owned by the session; the loop's thread only. Memory: a cursor of at most max_cursor bytes per
/// --event.
class EventStreams {
 public:
  static constexpr std::size_t max_cursor = 4096;

  EventStreams(EventLoop& loop, SessionSender& sender, Log& log,
               const std::vector<EventOption>& events);

  /// The session is open, with a modern upstream.
  void open();
  /// The last cursors, and how to resume after them in place of streams that may still be open.
  /// REQUIRES: open() follows.
  std::vector<SavedStreams::Events> save() const;
  void restore(const std::vector<SavedStreams::Events>& saved, bool still_open);
  /// The session is not open.
  void close();

  // REQUIRES: `stream` belongs to it (OwnMessages).
  /// A notification on that stream; returns what to pass on.
  std::optional<std::string> take(UpstreamId stream, const Frame& notification);
  /// The stream has ended. `refused`: by the server.
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
