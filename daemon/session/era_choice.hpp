#pragma once

#include <optional>

#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "session/saved_session.hpp"
#include "session/session_events.hpp"
#include "session/session_record.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

struct EraSessions;

/// A refusal of the opening that is typical of a server of the other era.
struct EraRefusal {
  bool for_good;    ///< otherwise until that session is lost
  Failure failure;  ///< the error if the server speaks neither era
};

/// Which eras the server speaks, as far as is known, and so which session serves a client
/// (BEHAVIOUR, "Eras: What a server speaks").
///
/// The server's era is probed when the first client of an era needs it, by opening the session of
/// that era. If the server refuses that as one of the other era does, the other session is opened
/// and serves clients of both. A local server is one process and speaks one era: that of its first
/// client, if it can.
///
/// Owned by Session; the loop's thread only.
class EraChoice {
 public:
  /// All of it outlives this; `events` is set before the first opening.
  EraChoice(const Upstream& upstream, const SessionOptions& options, EraSessions& sessions,
            SessionEvents* const& events)
      : upstream_(upstream), options_(options), sides_(sessions), events_(events) {}

  /// The side that serves clients of this era, as far as is known.
  Era side_for(Era client) const;
  const ServerEras& eras() const { return eras_; }
  /// Of a local server: it is one process.
  bool speaks_one_era() const { return !upstream_.has_answer_streams(); }

  /// A client of this era needs a session.
  void begin_opening(Era client);
  /// What an earlier daemon has found.
  void restore(const SavedSession& saved);

  // Events of the sessions. No call may destroy the session that makes it.
  /// The server does not speak this era. Returns nullopt if the session of the other era takes over
  /// what waits, else the failure to refuse it with.
  std::optional<Failure> era_refused(Era era, EraRefusal refusal);
  /// The handshake of this era was answered.
  void era_found(Era era);
  /// A local server has not answered the handshake in time: it may speak the other era.
  void era_is_slow(Era era);
  /// A request was refused as a server of the other era does.
  void era_contradicted(Era era);
  /// The session of this era is lost.
  void era_lost(Era era);

 private:
  bool may_speak(Era era) const;

  const Upstream& upstream_;
  const SessionOptions& options_;
  EraSessions& sides_;
  SessionEvents* const& events_;
  ServerEras eras_;
  std::optional<Era> first_;               ///< for a local server: the era needed first
  std::optional<Era> spoken_before_;       ///< and refused since: it may speak it again
  std::optional<Failure> refused_before_;  ///< of the other era, in this opening
};

}  // namespace bridge
