#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

/// A message under way at the upstream whose end can still come, for another image of the program
/// in the same process to await: both have the same clocks. A value. Times are in ticks of
/// SteadyTime.
struct KeptMessage {
  std::uint64_t id = 0;    ///< UpstreamId
  std::uint64_t kind = 0;  ///< OutgoingKind
  bool may_repeat = false;
  bool endless = false;
  bool stateful = true;  ///< RetryNotes
  std::string body;      ///< if it may have to be sent again
  std::vector<std::string> headers;
  std::uint64_t authorizations = 0;  ///< RetryNotes, and what follows
  std::uint64_t session = 0;
  std::uint64_t rejections = 0;
  std::uint64_t repeats = 0;
  std::uint64_t started = 0;
  std::uint64_t heard = 0;  ///< when a byte came last

  // At a local server.
  std::uint64_t run = 0;
  bool written = false;     ///< some of it; else it is among KeptRun::frames
  std::uint64_t begin = 0;  ///< then: where in the stream to the child

  // Over HTTP: behind which event its answer's stream is continued.
  bool elsewhere = false;  ///< its answer comes on the server stream
  std::string event_id;
  std::vector<std::string> seen;  ///< ids of events that came, oldest first
  std::uint64_t retry = 0;        ///< milliseconds
  std::uint64_t excused = 0;      ///< by pauses, in ticks

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(id, kind, may_repeat, endless, stateful, body, headers, authorizations, session,
           rejections, repeats, started, heard, run, written, begin, elsewhere, event_id, seen,
           retry, excused);
  }
};

}  // namespace bridge
