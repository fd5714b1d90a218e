#pragma once

#include <chrono>
#include <string_view>

#include "upstream/upstream.hpp"

namespace bridge {

class EraSession;

/// What a failed message, a lost session and an unreachable upstream lead to, and what happens to
/// the messages that are held meanwhile (BEHAVIOUR, "Session: retried requests" and "Session: tries
/// and back-off"). decide_retry() judges a message, Retries holds it.
///
/// Owned by EraSession, of whose state it changes what a loss decides; the loop's thread only.
class SessionLoss {
 public:
  explicit SessionLoss(EraSession& session) : session_(session) {}

  /// A message failed without an answer that counts. REQUIRES: the ending gives it back.
  void message_failed(Ending ending);
  /// If a server of this era would not refuse like this, the message counts as not delivered and
  /// the session as lost: the next opening detects the server's era again.
  void note_other_era(Ending& ending);
  /// The server no longer has the session: it is opened again.
  void lose(std::string_view why);
  /// The session may exist, but the upstream is unreachable.
  void go_away(const Failure& failure);
  /// The upstream can be reached again, or knows an earlier daemon's session.
  void came_back();
  /// The server was reached, but did not say whether it knows the session.
  void not_resumed(const Failure& failure);
  /// The session exists, but the upstream refuses its messages (401, 403): not ready until it
  /// answers.
  void note_rejected(const Failure& failure);
  /// Shown in the status until an attempt succeeds.
  void note_failure(const Failure& failure);
  /// Logged once, until the upstream answers.
  void log_refusal(const Failure& failure);
  /// The daemon is ending: ends every held message with this failure.
  void give_up_held(const Failure& failure);

  // From Retries, which none of these may destroy.
  bool is_open() const;
  bool has_waiters() const;
  void send_held(Outgoing message);
  /// The message ends with this failure.
  void end_message(UpstreamId id, Failure failure);
  /// The next attempt is due.
  void try_again();

 private:
  void hold(Outgoing message, Failure failure, std::chrono::milliseconds delay);
  void fail_held(const Failure& failure);

  EraSession& session_;
};

}  // namespace bridge
