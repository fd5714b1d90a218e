#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "base/log.hpp"
#include "event/deadline_timer.hpp"
#include "jsonrpc/frame.hpp"
#include "session/held_messages.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

struct SessionOptions {
  std::optional<std::string> client_capabilities;  ///< given: the bridge opens the session itself
  std::chrono::milliseconds connect_wait{10000};
  std::chrono::milliseconds keepalive{60000};  ///< 0: off
};

/// What the session counts, for the status and the metrics; all since the daemon's start.
struct SessionCounts {
  std::uint64_t opened = 0;        ///< the first one, and all that took its place
  std::uint64_t reopened = 0;      ///< those that took the place of a lost one
  std::uint64_t failed_tries = 0;  ///< to open one
  std::uint64_t reconnects = 0;    ///< the upstream was away and came back, with its session
};

/// What the session tells the router, inside a Turn.
class SessionEvents {
 public:
  /// Waiting frames can go now.
  virtual void session_open() = 0;
  /// There is none and nobody is opening one; who waits may ask for it again.
  virtual void session_closed() = 0;
  /// It was open and is not now; frames have to wait.
  virtual void session_away() = 0;
  /// A try to open or to reach it failed: for the status.
  virtual void session_failed(const Failure& failure) = 0;
  /// The upstream refuses: everything that waits is answered with this.
  virtual void session_refused(const Failure& failure) = 0;
  /// One message that is not the session's own affair. Returns the request that it answers; none:
  /// it is no answer, or to nothing that is awaited.
  virtual std::optional<UpstreamId> session_message(std::optional<UpstreamId> origin,
                                                    Frame frame) = 0;
  /// A message that cannot be read came on this stream.
  virtual void session_malformed(std::optional<UpstreamId> origin, std::string_view reason) = 0;
  /// Nothing more comes for this outgoing message.
  virtual void session_ended(UpstreamId id, Ending ending) = 0;
  /// Whether frames wait for the session: then a failed try is repeated soon.
  virtual bool frames_wait() const = 0;
  /// Whether there is to be a session though nobody waits for it: then it is repeated by and by.
  virtual bool wants_session() const = 0;
  /// What has to be restored in a new session: requests of the form (method, params).
  struct Restorable {
    std::string method;
    std::string params;
  };
  virtual std::vector<Restorable> state_to_restore() const = 0;
  /// A new session took the place of a lost one; changes in between went unseen.
  virtual void session_replaced(const std::vector<std::string>& list_changes) = 0;

 protected:
  ~SessionEvents() = default;
};

/// The one session with the upstream: opened, kept and opened again (MCP 2025-11-25, "Lifecycle";
/// BEHAVIOUR, "Session").
///
/// It decides whether there is a session; it knows no client and no HTTP. Owned by the daemon; the
/// loop's thread only. A message given to send() ends with session_ended, or with a message that
/// answers it; messages that were provably not acted on are held here and sent again.
class Session final : public UpstreamEvents {
 public:
  enum class State {
    idle,     ///< none, and no try has failed
    opening,  ///< the first one is being opened
    open,
    reopening,  ///< a lost one is being opened again
    waiting,  ///< a try has failed; the next one has its time, or comes with the next who needs it
    refused,  ///< the upstream has refused; the next who needs a session asks again
  };

  Session(EventLoop& loop, UpstreamIdSource& ids, Upstream& upstream, Log& log,
          SessionOptions options);
  void set_events(SessionEvents& events) { events_ = &events; }

  bool is_open() const { return state_ == State::open; }
  /// It is open, or nothing says that it could not be: no try was made yet, or the last one did not
  /// fail. Stays false through the tries that follow a failed one, until one succeeds.
  bool is_ready() const { return !last_failure_; }
  /// The first session is being opened, or will be by the initialize that waits for the next try.
  bool is_coming() const {
    const bool is_asked_for = initialize_is_clients_ || options_.client_capabilities;
    return state_ == State::opening || (state_ == State::waiting && next_try_ && is_asked_for);
  }
  /// Whether a client's `initialize` can be the one that opens it.
  bool wants_initialize() const;
  /// A frame waits for the session: opens it, or brings the next try nearer.
  void require();
  /// Opens it with a client's request. REQUIRES: wants_initialize(). The answer comes as a message.
  void open_with(UpstreamId id, std::string body, std::string params);
  /// Nobody waits any more for the answer to that request.
  void withdraw_initialize(UpstreamId id);
  /// Whether a try is under way, as opposed to waiting for the next one.
  bool is_trying() const;
  /// Why the last try failed; for those whose patience ends.
  const std::optional<Failure>& last_failure() const { return last_failure_; }

  /// REQUIRES: is_open(), but for answers.
  void send(Outgoing message);
  void abandon(UpstreamId id);
  void pause(UpstreamId id, bool paused) { upstream_.pause(id, paused); }

  /// The kept InitializeResult; empty before the first opening.
  const std::string& initialize_result() const { return kept_result_; }

  /// SIGHUP: takes the times; what the session was opened with stays.
  void reconfigure(const SessionOptions& options);

  /// The daemon is ending: ends every message that waits to be sent again, with this failure.
  void give_up_held(const Failure& failure);
  /// Ends the session in an orderly way. No event comes after this.
  void end(std::function<void()> done);

  State state() const { return state_; }
  ServerStream server_stream() const { return server_stream_; }
  const SessionCounts& counts() const { return counts_; }
  std::optional<SteadyTime> opened_at() const { return opened_at_; }
  const std::string& protocol_version() const { return protocol_version_; }

  AnsweredRequests upstream_message(std::optional<UpstreamId> origin, std::string bytes) override;
  void upstream_ended(UpstreamId id, Ending ending) override;
  void server_stream_changed(ServerStream state) override;
  void server_stream_refused() override;
  void upstream_reachable() override;
  void upstream_lost_session() override;

 private:
  enum class Step { none, initialize, server_stream, initialized, log_level, subscriptions };

  // Opening: session_opening.cpp.
  void start_try();
  std::string params_of_own_initialize() const;
  void initialize_answered(std::optional<UpstreamId> origin, Frame frame);
  void initialize_ended(Ending ending);
  void initialize_echoed();
  void refuse_answer(const Failure& failure, bool is_clients);
  void step_unanswered();
  void initialize_unanswered();
  void open_stream();
  void send_initialized();
  void restore();
  void restore_subscriptions();
  void next_step();
  void step_ended(UpstreamId id);
  void leave_step();
  void become_open();
  void try_failed(Failure failure);
  void refuse(const Failure& failure);

  // Losing it and being away: session_losing.cpp.
  /// Whether no connection came about, so that nobody can have got anything.
  static bool is_unreachable(const Failure& failure);
  void lose(std::string_view why);
  void give_up_initialize();
  void end_given_up(UpstreamId id);
  void message_failed(Ending ending);
  void doubt(Ending ending);
  void confirm();
  bool asks_again(Ending& ending);
  void confirm_unanswered();
  void resolve_doubts(bool lost);
  void hold(Outgoing message, Failure failure, std::chrono::milliseconds delay = {});
  void go_away(const Failure& failure);
  void fail_waiting(const Failure& failure);
  void note_turned_away(const Failure& failure);
  bool somebody_waits() const;
  bool is_wanted() const;
  std::chrono::milliseconds next_delay();
  void came_back();
  void probe();
  void release_held();
  void fail_expired();

  std::optional<UpstreamId> one_message(std::optional<UpstreamId> origin, std::string bytes);
  void note_malformed(std::optional<UpstreamId> origin, std::string_view reason);
  bool is_echo(const Frame& frame) const;
  UpstreamId own_request_answered_by(std::optional<UpstreamId> origin, const Frame& frame) const;
  void own_message(UpstreamId answered, std::optional<UpstreamId> origin, Frame frame);
  void note_answer();
  bool own_ended(UpstreamId id, Ending& ending);
  void set_next_try(std::chrono::milliseconds delay);
  void timer_fired();
  void schedule();
  void watch_silence();
  void keepalive_fired();
  void send_ping();
  UpstreamId send_own(OutgoingKind kind, std::string_view method, std::string_view params);

  EventLoop& loop_;
  Upstream& upstream_;
  UpstreamIdSource& ids_;
  Log& log_;
  SessionOptions options_;
  SessionEvents* events_ = nullptr;

  State state_ = State::idle;
  Step step_ = Step::none;
  bool ending_ = false;
  std::optional<Failure> given_up_;  ///< set once the daemon is ending: nothing is sent again
  std::uint32_t number_ = 0;         ///< of the session, from 1
  bool alive_ = false;               ///< there is a session, as far as is known
  bool lost_ = false;                ///< there was one, and it is to be restored
  ServerStream server_stream_ = ServerStream::off;

  UpstreamId initialize_id_{};
  std::string initialize_body_;  ///< of the try under way
  std::string initialize_params_;
  bool initialize_is_clients_ = false;
  std::string_view malformed_answer_;  ///< to it: what is wrong with what came
  int unanswered_tries_ = 0;           ///< in a row
  std::vector<UpstreamId> step_ids_;   ///< own messages whose end the step waits for
  UpstreamId ping_id_{};
  SteadyTime ping_sent_{};
  UpstreamId confirm_id_{};

  std::string kept_params_;
  std::string kept_result_;
  std::string protocol_version_;
  std::optional<SteadyTime> opened_at_;
  SessionCounts counts_;

  std::vector<Ending> doubts_;  ///< refusals that may mean a lost session; each with its message
  HeldMessages held_;
  Backoff backoff_;
  std::optional<Failure> last_failure_;
  std::optional<SteadyTime> next_try_;
  SteadyTime last_try_{};
  SteadyTime not_before_{};  ///< the upstream has asked for patience until then
  SteadyTime last_sent_{};
  DeadlineTimer timer_;
  DeadlineTimer step_timer_;
  DeadlineTimer keepalive_timer_;
  DeadlineTimer confirm_timer_;
};

std::string_view name_of(Session::State state);

}  // namespace bridge
