#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

class EraSession;
struct SessionSettings;

/// When a session is opened, with whose `initialize`, and what the end of an attempt leads to: an
/// open session, a refusal, another attempt, or the server's other era (MCP 2025-11-25,
/// "Lifecycle"; BEHAVIOUR, "Session: opening"). The steps of an attempt are Opening's.
///
/// Owned by EraSession, of whose state it changes what an attempt decides; the loop's thread only.
class SessionOpener {
 public:
  /// A local server may not answer an unknown handshake: after this time EraChoice is told
  /// (EraChoice::era_is_slow).
  static constexpr std::chrono::seconds slow{2};

  SessionOpener(EventLoop& loop, EraSession& session);

  /// Whether the first session is being opened, or will be by a waiting `initialize`.
  bool is_coming() const;
  /// Whether a client's `initialize` would open the session.
  bool wants_initialize() const;
  /// The number of the session that messages of the router belong to, which is the one that is
  /// being opened as soon as it is initialized; 0: there is none.
  std::uint32_t number() const;
  /// Whether the last attempt failed without a login, and messages wait for one.
  bool awaits_login() const;

  /// A frame waits for the session: opens it, or brings the next attempt forward.
  void require();
  /// A request has waited for the session for too long, and ends.
  void note_overdue();
  /// Opens the session with a client's request. REQUIRES: wants_initialize(). The answer is
  /// reported as a message.
  void open_with(UpstreamId id, std::string body, std::string params);
  /// The answer to this request is no longer awaited.
  void withdraw_initialize(UpstreamId id);
  /// Ends a client's `initialize` whose next attempt will not be made. REQUIRES: the session is
  /// given up.
  void give_up_initialize();
  /// The next attempt is the bridge's own.
  void forget_initialize() { initialize_ = {}; }
  /// Whether a client's `initialize` waits for its answer.
  bool holds_initialize() const { return initialize_.clients.has_value(); }
  /// A person has logged in: the session can be opened, and waiting messages are sent.
  void logged_in();

  /// Makes an attempt now.
  void start_try();
  /// The attempt has failed: its messages are no longer awaited.
  void stop_try();
  /// Nothing follows.
  void end() { slow_.clear(); }

  /// Stops opening: the server speaks the other era, whose session takes over what waits.
  void hand_over_to(SessionOpener& other);
  /// REQUIRES: the session is open.
  void serve_what_was_handed_over();

  // Of the steps' messages.
  void step_answered(UpstreamId id, std::optional<UpstreamId> origin, Frame frame);
  void step_ended(UpstreamId id, Ending ending);

  // From Opening.
  /// The server is modern; its DiscoverResult.
  void probe_found_modern(std::string discover_result);
  /// The server is legacy, permanently if `for_good`. `refusal`: its answer.
  void probe_found_legacy(bool for_good, Failure refusal);
  /// The probe or `initialize` had no result: the server is unreachable, refuses every request, or
  /// has no common version.
  void opening_failed(const Failure& failure);
  /// What to restore in the new session.
  SessionSettings settings_to_restore() const;
  /// The last step is complete. `unrestored`: resources that are still to be subscribed.
  void opening_done(const std::deque<std::string>& unrestored);

  /// This attempt has failed; another one follows.
  void try_failed(Failure failure);
  /// The upstream refuses the session: messages that wait end with this failure.
  void refuse(const Failure& refusal);

 private:
  /// The request that opens the next session.
  struct InitializeRequest {
    struct Clients {
      UpstreamId id;
      std::string body;
    };
    std::optional<Clients> clients;  ///< a client's; none: the bridge's own
    std::string params;
  };

  std::string own_params() const;
  void send_initialize();
  void initialize_answered(std::optional<UpstreamId> origin, Frame frame);
  void initialize_ended(Ending ending);
  void answer_initialize();
  bool hand_initialize_over(const Failure& refusal, SessionVerdict verdict);
  void reject(const Failure& failure);
  bool is_clients_alone(const Failure& failure) const;
  void refuse_client(const Failure& failure);
  bool await_login(const Failure& failure);
  void fail_waiting();

  EraSession& session_;
  InitializeRequest initialize_;
  bool replaces_other_era_ = false;  ///< the next session replaces one that was lost
  DeadlineTimer slow_;               ///< while a local server's handshake is pending
};

}  // namespace bridge
