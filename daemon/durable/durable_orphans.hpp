#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "durable/orphan_records.hpp"
#include "router/router.hpp"
#include "session/session.hpp"
#include "state/log_writer.hpp"
#include "state/state_log.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// The requests that connected clients have in flight, with --orphans keep: written so that they
/// can become jobs when the daemon dies.
///
/// Owned by DurableState; the loop's thread only. Memory: what a KeptOrphan takes, of each request
/// in flight.
class DurableOrphans {
 public:
  DurableOrphans(StateLog& log, const Router& router, const Session& session,
                 const Upstream& upstream)
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
  std::map<UpstreamId, KeptOrphan> orphans_;
};

}  // namespace bridge
