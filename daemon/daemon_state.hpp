#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audit/audit_record.hpp"
#include "grant/grants.hpp"
#include "jobs/job_log.hpp"
#include "notifications/ring_log.hpp"
#include "router/router.hpp"
#include "session/session.hpp"
#include "state/state_log.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// What a log records of the session.
struct LoggedSession {
  SavedSession session;
  /// The session's id at the server, if it may still exist there; none: the session was lost.
  std::optional<std::string> id;

  template <class A>
  void each_field(A& archive) {
    archive(session, id);
  }
};

/// The result of replaying a log's records. A value.
struct ReplayedState {
  explicit ReplayedState(const Moment& now) : jobs(now) {}

  std::string instance;  ///< empty: none
  RingReplay ring;
  LoggedSession session;
  StreamPosition stream;
  std::uint64_t next_id = 0;  ///< ids up to this may have been used upstream
  std::vector<UpstreamId> unanswered;
  JobReplay jobs;
  std::map<std::string, SavedGrant> grants;      ///< by id; also those that have expired
  std::map<std::uint64_t, AuditRecord> audited;  ///< without a line so far, by number
  bool ended_in_order = false;                   ///< the daemon that wrote last shut down in order

  /// False if it is not a record of this format.
  bool take(std::uint32_t type, std::string_view payload);
};

/// The session in the log, and its position in the server's stream.
///
/// Owned by the DaemonState; the loop's thread only.
class SessionLog {
 public:
  SessionLog(StateLog& log, const Session& session, const Router& router, const Upstream& upstream)
      : state_log_(log), session_(session), router_(router), upstream_(upstream) {}

  /// Writes the session if it has changed.
  void note();
  /// For rewriting the log.
  void say(LogWriter& out);
  StreamPosition position() const;
  std::size_t saved_bytes() const { return bytes_; }

 private:
  std::optional<SessionReference> reference() const;
  LoggedSession now();

  StateLog& state_log_;
  const Session& session_;
  const Router& router_;
  const Upstream& upstream_;
  // Of the session that was written last, to detect a new one.
  std::uint64_t opened_ = 0;
  std::uint64_t revision_ = 0;
  std::optional<std::string> id_;
  std::size_t bytes_ = 0;
};

/// The ids at the upstream in the log: those that may have been used, and those of unanswered
/// requests.
///
/// Owned by the DaemonState; the loop's thread only.
class UpstreamIdLog {
 public:
  UpstreamIdLog(StateLog& log, const UpstreamIdSource& ids, const Router& router)
      : state_log_(log), ids_(ids), router_(router) {}

  /// Ids up to this one are in the log.
  void begin(std::uint64_t reserved) { reserved_ = reserved; }
  /// Writes changes. Ended requests are recorded with the next new one: cancelling them would do no
  /// harm.
  void note();
  /// For rewriting the log.
  void say(LogWriter& out);
  /// Requests that are unanswered by now stay so.
  void end();

 private:
  StateLog& state_log_;
  const UpstreamIdSource& ids_;
  const Router& router_;
  std::uint64_t reserved_ = 0;
  UpstreamId seen_{};
  std::vector<UpstreamId> unanswered_;
  bool has_ended_ = false;
};

/// The grants in the log, and their key in a file beside it (STATE.md).
///
/// Owned by the DaemonState; the loop's thread only.
class GrantLog {
 public:
  GrantLog(StateLog& log, Permissions& permissions) : state_log_(log), permissions_(permissions) {}

  /// Takes the key of the folder, or leaves this daemon's own there. Throws StartError (73) if
  /// other users can read it.
  void take_key(const StateFolder& folder, Log& log);
  /// Writes changes: a call is counted in the log before it is sent.
  void note();

  // For rewriting the log.
  void begin_snapshot() { place_ = {}; }
  /// Appends about this many bytes; false when complete.
  bool continue_snapshot(LogWriter& out, std::size_t bytes);
  std::size_t saved_bytes() const;

 private:
  StateLog& state_log_;
  Permissions& permissions_;
  Grants::Place place_;  ///< grants up to this one are in the new log
};

/// The state that outlives the daemon (BEHAVIOUR, "State"): the ring, the session and the jobs,
/// written to the state's log as they change, and restored at the next start.
///
/// Owned by the daemon, if there is --state-dir; the loop's thread only. Memory: the records of one
/// turn, and a step of a log that is being rewritten. Throws StartError (73) if the folder cannot
/// be used; any other fault of its content is logged.
class DaemonState final : private StateSource {
 public:
  /// The state belongs to the upstream that `target` identifies. The parts outlive this. The
  /// audit is the router's.
  DaemonState(EventLoop& loop, const StateOptions& options, const TargetHash& target,
              NotificationFeed& feed, UpstreamIdSource& ids, Session& session, Router& router,
              Upstream& upstream, JobRunner& jobs, Log& log);

  /// Restores the ring, the session and the jobs from the log that was read, if there is one.
  /// Called once, before any client.
  void take_up_session();
  /// Called instead in an upgrade: the previous process has handed over everything, possibly newer
  /// than the log. Once, before any client. REQUIRES: the ring is restored.
  void session_continues(const std::string& instance);
  /// Then, when all other parts are restored.
  void parts_restored();

  /// Writes all changes since the last call. Called before any client is told of them.
  void write();
  /// The same, at the end of each turn.
  void end_turn();

  /// An orderly shutdown begins: the next daemon cancels what is unanswered by now.
  void begin_end();
  /// The daemon has shut down in order.
  void end();

  /// Identifies the ring and its numbers, for bridge/status and bridge/notifications: 16
  /// hexadecimal digits, unchanged as long as the ring continues.
  const std::string& instance() const { return instance_; }
  /// At an orderly shutdown: the session stays open at the server, for the next daemon.
  bool keeps_session() const { return keep_session_ && state_log_.is_durable(); }
  StateReport report() const { return state_log_.report(); }

 private:
  enum class Previous {
    ended,           ///< in order, or there was none
    killed,          ///< without shutting down
    could_not_save,  ///< and left a stale state
  };

  void read();
  bool read_file(const std::string& name, bool may_proceed);
  void move_aside(const std::string& name, const char* kind, const char* why);
  void restore_ring();
  void report_previous(const RestoredJobs& jobs);

  void note_changes();
  void note_audit();
  void say_head(LogWriter& out);

  void begin_snapshot() override;
  bool continue_snapshot(LogWriter& out, std::size_t bytes) override;
  std::size_t saved_bytes() const override;

  const bool keep_session_;
  const TargetHash target_;
  NotificationFeed& feed_;
  Session& session_;
  Router& router_;
  Log& log_;
  StateFolder folder_;
  StateLog state_log_;
  SessionLog session_log_;
  UpstreamIdLog ids_;
  RingLog ring_;
  GrantLog grants_;
  JobRunner& runner_;
  JobLog jobs_;
  std::string instance_;
  ReplayedState replayed_;  ///< until it is restored
  Previous previous_ = Previous::ended;
  bool continues_ = false;     ///< with a log that could be written: what is in it may be acted on
  bool head_is_said_ = false;  ///< in the new log: all but ring and jobs
};

}  // namespace bridge
