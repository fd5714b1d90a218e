#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>

#include "event/descriptor_watch.hpp"
#include "upstream/stdio/child_command.hpp"
#include "upstream/stdio/watcher_messages.hpp"

namespace bridge {

/// What the watcher process reports: told on the loop's thread, in a turn.
class WatcherEvents {
 public:
  virtual void watcher_reported(const WatcherReport& report) = 0;
  /// It was killed: what it watched is to be killed by us, and it is to be replaced.
  virtual void watcher_gone() = 0;

 protected:
  ~WatcherEvents() = default;
};

/// The daemon's side of the watcher process (watcher_process.hpp), which is forked here. BEHAVIOUR,
/// "Local server: its process".
///
/// The loop's thread only; nothing blocks but wait_for_first_report(). The process shares the
/// daemon's pages as they were, so the earlier it is forked the smaller it stays. It ends by itself
/// when this is destroyed, however that comes to be.
class Watcher {
 public:
  /// Throws std::system_error if there can be no such process. `command` is what it will run.
  Watcher(EventLoop& loop, const ChildCommand& command, WatcherEvents& events);
  /// One that an earlier image of the program has forked, and its socket.
  Watcher(EventLoop& loop, int pid, int socket, WatcherEvents& events);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  /// Has the command run with these as its stdin, stdout and stderr; they stay the caller's.
  void start(std::uint32_t run, const int (&streams)[3]);
  void signal(std::uint32_t run, int signal);
  pid_t pid() const { return pid_; }
  int socket() const { return socket_->descriptor(); }

  /// Waits for the first report, at the daemon's start only. A signal ends the waiting; then the
  /// report comes by `WatcherEvents` like any other.
  struct FirstReport {
    std::optional<WatcherReport> report;
    bool interrupted = false;
  };
  FirstReport wait_for_first_report(int milliseconds);

  /// Nothing runs under it: its end can be waited for.
  void wait_for_end_at_destruction() { waits_ = true; }

 private:
  void listen(EventLoop& loop, int socket);
  void readable();

  WatcherEvents& events_;
  pid_t pid_ = -1;
  bool waits_ = false;
  std::unique_ptr<DescriptorWatch> socket_;
};

}  // namespace bridge
