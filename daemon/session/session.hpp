#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "session/era_session.hpp"
#include "session/saved_session.hpp"
#include "session/session_events.hpp"
#include "session/session_record.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// The session with the upstream, as clients of both eras see it: a legacy one, a modern one, or
/// both side by side (BEHAVIOUR, "Eras: What a server speaks").
///
/// The server's era is probed by what the first client of each era needs: opening the session of
/// that era. If the server refuses it the way a server of the other era does, the other session is
/// opened instead, and serves the clients of both. A local server is one process and speaks one
/// era: that of its first client, if it can.
///
/// Its only state is what the server speaks; whether a side is open, and how its messages end, is
/// up to the EraSession. "Side" is the era in which a message goes to the server; the era of a
/// client is the one that the client speaks. Owned by the daemon; the loop's thread only.
class Session final : public UpstreamEvents {
 public:
  using State = EraSession::State;

  Session(EventLoop& loop, UpstreamIdSource& ids, Upstream& upstream, Log& log,
          SessionOptions options);
  void set_events(SessionEvents& events);

  // Which side serves a client.
  /// The side that serves clients of this era, as far as is known now.
  Era side_for(Era client) const;
  const EraSession& side(Era side) const { return side == Era::modern ? modern_ : legacy_; }
  bool is_open_for(Era client) const { return side(side_for(client)).is_open(); }
  bool is_open(Era its_side) const { return side(its_side).is_open(); }
  /// Whether either is.
  bool is_open() const { return legacy_.is_open() || modern_.is_open(); }
  /// What the server has said of itself to the side that serves these clients; null: nothing yet.
  const ServerDescription* server_for(Era client) const { return side(side_for(client)).server(); }
  const ServerEras& eras() const { return eras_; }
  /// The side whose notifications fill the ring, one at a time: the legacy one if there is any.
  Era ring_source() const;
  /// The last opening has shown that the server speaks no era that the bridge may speak.
  bool speaks_neither() const { return eras_.excludes(Era::legacy) && eras_.excludes(Era::modern); }
  /// Whether giving up an answer's stream tells the server so (a modern one over HTTP).
  bool cancels_by_closing(Era its_side) const {
    return its_side == Era::modern && upstream_.has_answer_streams();
  }
  /// Whether messages need the headers that mirror them.
  bool mirrors_headers(Era its_side) const { return cancels_by_closing(its_side); }

  // For the status: of the side that matters to most.
  const EraSession& shown() const;
  State state() const { return shown().state(); }
  const SessionRecord& record() const { return shown().record(); }
  const ServerDescription* server() const { return shown().server(); }
  SessionCounts counts() const;
  /// See EraSession; of both sides.
  bool is_ready() const { return legacy_.is_ready() && modern_.is_ready(); }
  /// Why the last try failed; for clients that have waited for long enough.
  const std::optional<Failure>& last_failure() const;

  /// A frame of such a client waits for its session: opens it, or brings the next try nearer.
  void require(Era client = Era::legacy);
  /// As EraSession: of the side that serves legacy clients.
  bool is_coming() const { return side(side_for(Era::legacy)).is_coming(); }
  bool wants_initialize() const;
  void open_with(UpstreamId id, std::string body, std::string params);
  void withdraw_initialize(UpstreamId id);
  bool is_trying() const { return legacy_.is_trying() || modern_.is_trying(); }
  void logged_in();
  std::optional<std::chrono::milliseconds> login_wait() const;

  /// REQUIRES: is_open(its_side), but for answers.
  void send(Outgoing&& message, Era its_side) { side_of(its_side).send(std::move(message)); }
  void abandon(UpstreamId id);
  void pause(UpstreamId id, bool paused) { upstream_.pause(id, paused); }
  /// The caller ends it in time.
  void lift_deadline(UpstreamId id) { upstream_.lift_deadline(id); }
  void hold_deadline(UpstreamId id, bool held) { upstream_.hold_deadline(id, held); }

  /// Where what goes to the server and comes from it can be watched, and the clients' messages too.
  MessageTap& tap() { return tap_; }
  std::string_view target() const { return upstream_.target(); }
  /// What a modern server is listened to for from now on, with these capabilities (JSON).
  void listen_for(SubscriptionFilter filter, std::string capabilities) {
    modern_.listen_for(std::move(filter), std::move(capabilities));
  }

  /// `params` of the `initialize` that it was opened with, JSON; empty before the first.
  std::string_view opened_with() const { return legacy_.opened_with(); }
  SavedSession save() const;
  /// Begins where another daemon's session has ended. REQUIRES: nothing was sent yet.
  void restore(SavedSession saved);
  /// Opens again what that daemon had open.
  void reopen();
  /// Resumes the legacy session itself, if it is still there, and opens the modern one again.
  /// REQUIRES: nothing was sent yet, and there was a legacy session.
  void resume(SavedSession saved, const SessionReference& reference);
  /// Resumes both without asking: this process was in them a moment ago. REQUIRES: nothing was sent
  /// yet.
  void resume_at_once(SavedSession saved, const SessionReference& reference,
                      const SavedStreams& streams);
  SavedStreams save_streams() const;
  /// Whether what comes of this request can come to the new process, if that goes on in the
  /// session.
  bool survives_upgrade(UpstreamId id) const {
    return has_session() && upstream_.survives_upgrade(id);
  }
  /// There is one, as far as is known.
  bool has_session() const { return legacy_.has_session() || modern_.has_session(); }
  /// Of the last legacy session, from 1; 0: there was none.
  std::uint32_t number() const { return legacy_.number(); }

  /// SIGHUP: takes the times; what the session was opened with stays.
  void reconfigure(const SessionOptions& options);

  /// The daemon is ending: ends every message that waits to be sent again, with this failure.
  void give_up_held(const Failure& failure);
  /// Ends the session in an orderly way. No event comes after this.
  void end(std::function<void()> done);

  AnsweredRequests upstream_message(std::optional<UpstreamId> origin,
                                    ReceivedText message) override;
  void upstream_ended(UpstreamId id, Ending ending) override;
  void server_stream_changed(ServerStream state) override { legacy_.server_stream_changed(state); }
  void server_stream_refused() override { legacy_.server_stream_refused(); }
  void upstream_reachable() override;
  void upstream_lost_session() override;

 private:
  EraSession& side_of(Era its_side) { return its_side == Era::modern ? modern_ : legacy_; }
  EraSession& sender_of(UpstreamId id);
  EraSession& side_of_message(std::optional<UpstreamId> origin, const Frame& frame);
  Era side_without_origin() const;
  bool may_speak(Era era) const;
  void begin_opening(Era client);
  bool speaks_one_era() const { return !upstream_.has_answer_streams(); }

  // What its sides tell. None of these may destroy the side that calls.
  friend class EraSession;
  /// The server does not speak this era. Returns nothing if the session of the other era takes over
  /// what waits here, else the failure with which this one is refused.
  std::optional<Failure> era_refused(Era era, EraRefusal refusal);
  /// The handshake of this era was answered.
  void era_found(Era era);
  /// A local server has not answered the handshake for a while: it may speak the other era.
  void era_is_slow(Era era);
  /// A request was refused as a server of the other era does.
  void era_contradicted(Era era);
  /// The session of this era is lost.
  void era_lost(Era era);

  Upstream& upstream_;
  UpstreamIdSource& ids_;
  SessionOptions options_;
  SessionEvents* events_ = nullptr;
  MessageTap tap_;
  OwnMessages own_;
  EraSession legacy_;
  EraSession modern_;
  ServerEras eras_;
  std::optional<Era> first_;               ///< of a local server: what was needed first
  std::optional<Era> spoken_before_;       ///< and refused since: it may be spoken again
  std::optional<Failure> refused_before_;  ///< the other era, at this opening
};

}  // namespace bridge
