#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/backoff.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "mcp/subscription_filter.hpp"
#include "session/session_sender.hpp"
#include "session/stream_overlap.hpp"

namespace bridge {

/// The bridge's own `subscriptions/listen` at a modern upstream: one stream with the union of all
/// that is wanted, whose notifications are the session's (MCP 2026-07-28, "Subscriptions";
/// BEHAVIOUR, "Eras: the listen stream").
///
/// With another filter the new stream is opened before the old one is closed; while both are open
/// what comes on both is passed on once. A stream that has ended is opened again, never more often
/// than twice a second; what may have been missed meanwhile is told by listen_resumed().
///
/// Owned by the session; the loop's thread only. Memory: the filter, and one short text for each
/// notification that came while two streams were open.
class UpstreamListen {
 public:
  /// Never more than two openings in twice this time: two a second, also as the server sees them
  /// arrive.
  static constexpr std::chrono::milliseconds between_openings{525};

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
  /// An earlier image of the program had a stream, which is open still if this is its id. REQUIRES:
  /// open() follows.
  void go_on_after(UpstreamId still_open) {
    old_ = still_open;
    if (old_ != UpstreamId{}) told_.begin(old_);
    had_stream_ = still_open == UpstreamId{};  // else nothing is missed
  }
  /// The newest one that the server has acknowledged.
  UpstreamId acknowledged_stream() const { return now_; }
  bool had_stream() const { return had_stream_; }
  /// It is not: what is under way is given up.
  void close();
  /// What is wanted from now on. An empty filter: nothing is listened for.
  /// `capabilities`: a JSON object, what the clients that listen declare.
  void want(SubscriptionFilter filter, std::string capabilities);

  bool awaits(UpstreamId id) const {
    return id != UpstreamId{} && (id == now_ || id == next_ || id == old_);
  }
  /// Of which of its streams this message is, by the stream it came on or by the subscription it
  /// names; 0: of none.
  UpstreamId stream_of(std::optional<UpstreamId> origin, const Frame& frame) const;
  /// A notification on that stream. Returns what is to be passed on; none: it was the stream's own
  /// affair. REQUIRES: awaits(stream).
  std::optional<std::string> take(UpstreamId stream, const Frame& notification);
  /// The stream has ended. REQUIRES: awaits(stream).
  void answered(UpstreamId stream, const Frame& response);
  void ended(UpstreamId stream, const Ending& ending);

  ServerStream state() const { return state_; }
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
  void over(UpstreamId stream, bool refused);
  void give_up(UpstreamId& stream);
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

}  // namespace bridge
