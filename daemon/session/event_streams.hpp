#pragma once

#include <list>
#include <optional>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "session/saved_session.hpp"
#include "session/session_options.hpp"
#include "session/session_sender.hpp"

namespace bridge {

/// The bridge's own `events/stream` requests at a modern upstream, one for each --event (the events
/// extension, SEP-3415; BEHAVIOUR, "Eras: event streams"). What comes on them are the session's
/// notifications, with their cursor; a stream that has ended is opened again behind the last one.
///
/// Owned by the session; the loop's thread only. Memory: a cursor of at most max_cursor bytes for
/// each --event.
class EventStreams {
 public:
  static constexpr std::size_t max_cursor = 4096;

  EventStreams(EventLoop& loop, SessionSender& sender, Upstream& upstream, Log& log,
               const std::vector<EventOption>& events);

  /// The session is open, with a modern upstream.
  void open();
  /// Behind which event each goes on; and to go on so, in the place of streams that may still be
  /// open. REQUIRES: open() follows.
  std::vector<SavedStreams::Events> save() const;
  void go_on_after(const std::vector<SavedStreams::Events>& kept, bool still_open);
  /// It is not.
  void close();

  bool awaits(UpstreamId id) const { return find(id) != nullptr; }
  /// Of which stream this message is; 0: of none.
  UpstreamId stream_of(std::optional<UpstreamId> origin, const Frame& frame) const;
  /// A notification on that stream; returns what is to be passed on. REQUIRES: awaits(stream).
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
  const Stream* find(UpstreamId id) const;
  Stream* find(UpstreamId id) {
    return const_cast<Stream*>(static_cast<const EventStreams*>(this)->find(id));
  }

  EventLoop& loop_;
  SessionSender& sender_;
  Upstream& upstream_;
  Log& log_;
  std::list<Stream> streams_;
};

}  // namespace bridge
