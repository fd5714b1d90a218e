#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "event/path_watch.hpp"

namespace bridge {

/// What the daemon has made at a path for its clients: a socket, or a folder of pipes.
class PublishedPath {
 public:
  virtual const std::string& name() const = 0;
  /// Whether it was made at its path by the daemon, which then keeps it there.
  virtual bool owns_path() const = 0;
  /// Whether its path still leads to it.
  virtual bool is_published() const = 0;
  /// Makes another one at the path, by the rules of the start. Throws StartError (73); then there
  /// is none. REQUIRES: it was made at its path by the daemon.
  virtual void publish_again() = 0;
  /// `socket`, for messages.
  virtual std::string_view noun() const = 0;

 protected:
  ~PublishedPath() = default;
};

/// Notices when a path no longer leads to what the daemon has made there (removed, moved, folder
/// deleted: clients cannot connect, and there is no other sign), logs it, and publishes it again,
/// by the same rules as at the start: another daemon's socket is left alone, and waited for.
///
/// The loop's thread only. Does not poll: watches the file and every folder
/// and symbolic link on its path, and, while it cannot be published, also the place where the next
/// of them is missing.
class PathKeeper {
 public:
  /// `published`: it is there again. `path` outlives this.
  PathKeeper(EventLoop& loop, Log& log, PublishedPath& path, std::function<void()> published);

  /// Does nothing if the daemon does not own the path.
  void start();
  void stop();

 private:
  void watch_published();
  void changed();
  void look_again();
  void publish();

  EventLoop& loop_;
  Log& log_;
  PublishedPath& path_;
  std::function<void()> published_;
  RouteWatch route_;
  DeadlineTimer next_try_;
  std::chrono::milliseconds pause_;  ///< before the next try
  bool lost_ = false;
  std::string unwatched_;  ///< was already logged
};

}  // namespace bridge
