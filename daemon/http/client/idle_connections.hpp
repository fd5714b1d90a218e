#pragma once

#include "event/deadline_timer.hpp"
#include "http/client/dead_connections.hpp"

namespace bridge {

/// The connections that no transfer uses: at most 16, but for the second after a burst, in which
/// many clients that call one after the other need them again. The oldest are closed first.
///
/// curl's own bound counts the connections in use as well, and it closes one whenever a transfer
/// ends above it; so that bound moves with the most transfers of the last moment, and what is left
/// of a burst is closed here. curl has no call for closing one: it takes a connection that was shut
/// down for dead, and closes it when it looks for such (DeadConnections).
///
/// The loop's thread only; owned by the CurlLoop, whose sockets it looks at.
class IdleConnections {
 public:
  /// `multi` is curl's, and outlives this.
  IdleConnections(CurlLoop& curl, CURLM* multi);

  void transfer_begins();
  /// curl was entered with it, then.
  void transfer_begun(SteadyTime entered) { dead_.note_begin(entered); }
  void transfer_ended();
  /// Those that are idle now are not used again.
  void end_all();
  /// Nothing of this is under way any more.
  void stop() { dead_.stop(); }

 private:
  void bound(std::size_t in_use);
  void forget_closed();
  void close_surplus();
  void close_dead_soon();
  void close_dead();

  CurlLoop& curl_;
  CURLM* const multi_;
  DeadlineTimer surplus_timer_;
  DeadlineTimer dead_timer_;
  DeadConnections dead_;
  int looks_left_ = 0;
  std::size_t recent_peak_ = 0;  ///< transfers at a time, of the last moment
};

}  // namespace bridge
