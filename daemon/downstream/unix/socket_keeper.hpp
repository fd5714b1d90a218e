#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/log.hpp"
#include "downstream/unix/listening_socket.hpp"
#include "event/event_loop.hpp"
#include "event/path_watch.hpp"

namespace bridge {

/// Notices when the socket's path is not the daemon's any more (removed, moved, its folder deleted:
/// nobody can connect then, and nothing else tells), says so, and publishes the socket anew, under
/// the same rules as at the start: another daemon's socket is left alone, and waited for.
///
/// Owned by UnixClients; the loop's thread only. Nothing is polled: the socket and every folder and
/// symbolic link that its path leads through are watched, and while it cannot be published also the
/// place where the next of them is missing.
class SocketKeeper {
 public:
  /// `published`: the socket listens anew, take_descriptor() has it. `socket` outlives this.
  SocketKeeper(EventLoop& loop, Log& log, ListeningSocket& socket, std::function<void()> published);

  /// Does nothing if the path is not the daemon's to publish.
  void start();
  void stop();

 private:
  void watch_published();
  void changed();
  void look_again();
  void publish();

  EventLoop& loop_;
  Log& log_;
  ListeningSocket& socket_;
  std::function<void()> published_;
  RouteWatch route_;
  DeadlineTimer next_try_;
  std::chrono::milliseconds pause_;  ///< before the next try
  bool lost_ = false;
  std::string unwatched_;  ///< what the log was told of already
};

}  // namespace bridge
