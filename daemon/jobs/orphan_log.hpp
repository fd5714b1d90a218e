#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "notifications/ring_log.hpp"
#include "router/router.hpp"
#include "session/session.hpp"
#include "state/log_writer.hpp"
#include "state/state_log.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// A request in flight of a connected client, as it is saved with --orphans keep: what its job is
/// to be if the daemon dies.
struct Orphan {
  User user;
  std::string method;
  pid_t pid = 0;
  std::string command;
  StreamPosition answer;  ///< where the stream of its answer stood

  template <class A>
  void each_field(A& archive) {
    archive(user, method, pid, command, answer);
  }
};

/// Those that a log tells of, answered ones too.
using LoggedOrphans = std::map<UpstreamId, Orphan>;
/// False if the payload is none of that kind. Pure.
bool replay_orphan(std::string_view payload, LoggedOrphans& orphans);

/// The requests that connected clients have in flight, with --orphans keep: written so that they
/// can become jobs when the daemon dies.
///
/// Owned by the DaemonState; the loop's thread only. Memory: what an Orphan takes, of each request
/// in flight.
class OrphanLog {
 public:
  OrphanLog(StateLog& log, const Router& router, const Session& session, const Upstream& upstream)
      : state_log_(log), router_(router), session_(session), upstream_(upstream) {}

  /// These are the requests in flight now; new ones are written.
  void note(const std::vector<UpstreamId>& unanswered);
  /// Where the answers' streams stand. At the end of a turn: all that came was dealt with.
  void note_streams();
  /// For a log that is written anew.
  void say_all(LogWriter& out) const;

 private:
  StateLog& state_log_;
  const Router& router_;
  const Session& session_;
  const Upstream& upstream_;
  LoggedOrphans orphans_;
};

}  // namespace bridge
