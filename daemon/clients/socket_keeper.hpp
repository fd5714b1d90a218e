#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "clients/listening_socket.hpp"
#include "loop/deadline_timer.hpp"
#include "loop/path_watch.hpp"
#include "service/log.hpp"

namespace bridge {

/// Notices when the socket's path is not the daemon's any more (removed, moved, its folder deleted:
/// nobody can connect then, and nothing else tells), says so, and publishes the socket anew, under
/// the same rules as at the start: another daemon's socket is left alone, and waited for.
///
/// Owned by UnixClients; the loop's thread only. Nothing is polled: the socket and its folder are
/// watched, and while it cannot be published the nearest folder that exists. A folder that is
/// moved away together with the one above it goes unnoticed.
class SocketKeeper {
 public:
  /// `published`: the socket listens anew, take_descriptor() has it. `socket` outlives this.
  SocketKeeper(asio::io_context& loop, Turn& turn, Log& log, ListeningSocket& socket,
               std::function<void()> published);

  /// Does nothing if the path is not the daemon's to publish.
  void start();
  void stop();

 private:
  void watch_published();
  void watch_lost();
  void changed(std::string_view name);
  void publish();

  Log& log_;
  ListeningSocket& socket_;
  std::function<void()> published_;
  PathWatch watch_;
  DeadlineTimer next_try_;
  std::chrono::milliseconds pause_;  ///< before the next try
  bool lost_ = false;
  std::string awaited_;  ///< while lost: the name that counts in the watched folder
};

}  // namespace bridge
