#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "session/era_choice.hpp"
#include "session/era_session.hpp"
#include "session/saved_session.hpp"
#include "session/session_events.hpp"
#include "session/session_record.hpp"
#include "session/session_sender.hpp"
#include "session/upstream_dispatch.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// The session with the upstream as clients of both eras see it: a legacy one, a modern one, or
/// both side by side (BEHAVIOUR, "Eras: What a server speaks").
///
/// The one object that clients' side knows. EraChoice decides which session serves whom, each
/// EraSession whether it is open and how its messages end; UpstreamDispatch hands them what the
/// transport reports. A "side" is the era in which a message goes to the server; the era of a
/// client is its own.
///
/// Owned by the daemon; the loop's thread only.
class Session {
 public:
  using State = EraSession::State;

  Session(EventLoop& loop, UpstreamIdSource& ids, Upstream& upstream, Log& log,
          SessionOptions options);
  void set_events(SessionEvents& events) { events_ = &events; }

  // Choice of a side.
  /// The side that serves clients of this era, as far as is known.
  Era side_for(Era client) const { return choice_.side_for(client); }
  EraSession& serving(Era client) { return sides_.of(side_for(client)); }
  /// The one that answers an `initialize`.
  EraSession& serving_initialize() { return serving(Era::legacy); }
  /// The one that serves a `subscriptions/listen`.
  EraSession& serving_listens() { return serving(Era::modern); }
  EraSession& side(Era side) { return sides_.of(side); }
  const EraSession& side(Era side) const { return sides_.of(side); }
  /// The one that `initialize` opens: it has a number and a state, and the server sends requests in
  /// it.
  EraSession& stateful() { return sides_.legacy; }
  /// The one of a server to which each request stands alone: it asks in results, and notifies on a
  /// listen stream.
  EraSession& stateless() { return sides_.modern; }
  /// Whether either side is open.
  bool is_open() const { return sides_.legacy.is_open() || sides_.modern.is_open(); }
  const ServerEras& eras() const { return choice_.eras(); }
  /// The side whose notifications fill the ring: the stateful one if it exists.
  Era ring_source() const;

  // For the status: the side that matters most.
  const EraSession& shown() const;
  State state() const { return shown().state(); }
  SessionCounts counts() const;
  /// See EraSession; for both sides.
  bool is_ready() const { return sides_.legacy.is_ready() && sides_.modern.is_ready(); }
  /// Why the last attempt failed, for clients that have waited long enough.
  const std::optional<Failure>& last_failure() const;

  /// A frame of such a client waits for its session: opens it, or brings the next attempt forward.
  void require(Era client = Era::legacy);
  /// See EraSession; for the side that serves legacy clients.
  bool is_coming() const { return side(side_for(Era::legacy)).opener().is_coming(); }
  bool wants_initialize() const;
  void open_with(UpstreamId id, std::string body, std::string params);
  void withdraw_initialize(UpstreamId id);
  bool is_trying() const { return sides_.legacy.is_trying() || sides_.modern.is_trying(); }
  void logged_in();
  std::optional<std::chrono::milliseconds> login_wait() const;

  void abandon(UpstreamId id);
  void pause(UpstreamId id, bool paused) { upstream_.pause(id, paused); }
  /// The caller ends it in time itself.
  void lift_deadline(UpstreamId id) { upstream_.lift_deadline(id); }
  void hold_deadline(UpstreamId id, bool held) { upstream_.hold_deadline(id, held); }

  /// Shows messages to and from the server, and those of clients.
  MessageTap& tap() { return tap_; }
  std::string_view target() const { return upstream_.target(); }

  /// `params` of the `initialize` that opened the legacy session, JSON; empty before the first.
  std::string_view opened_with() const { return sides_.legacy.saved().initialize_params; }
  SavedSession save() const;
  /// Continues an earlier daemon's session. REQUIRES: nothing was sent yet.
  void restore(SavedSession saved);
  /// Reopens the sessions of that daemon.
  void reopen();
  /// Restores that daemon's sessions and resumes them. `streams`: this process was in them a moment
  /// ago; otherwise the legacy one is resumed if it still exists, and the modern one reopened.
  void resume(SavedSession saved, const SessionReference& reference,
              const SavedStreams* streams = nullptr);
  SavedStreams save_streams() const;
  /// Whether the new process can receive the answer to this request, if it continues the session.
  bool survives_upgrade(UpstreamId id) const {
    return has_session() && upstream_.survives_upgrade(id);
  }
  /// Whether there is a session, as far as is known.
  bool has_session() const { return sides_.legacy.has_session() || sides_.modern.has_session(); }
  /// Of the last legacy session, from 1; 0: none so far.
  std::uint32_t number() const { return sides_.legacy.number(); }

  /// SIGHUP: applies timeouts; sessions stay as they were opened.
  void reconfigure(const SessionOptions& options);
  /// The token has changed: a session that was refused is tried at once.
  void retry_refused();

  /// The daemon is ending: ends every held message with this failure.
  void give_up_held(const Failure& failure);
  /// Ends the session in an orderly way. No event follows.
  void end(std::function<void()> done);

 private:
  Upstream& upstream_;
  UpstreamIdSource& ids_;
  SessionOptions options_;
  SessionEvents* events_ = nullptr;
  MessageTap tap_;
  OwnMessages own_;
  EraSessions sides_;
  EraChoice choice_;
  UpstreamDispatch dispatch_;
};

}  // namespace bridge
