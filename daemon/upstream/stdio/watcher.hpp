#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "event/descriptor_watch.hpp"
#include "upstream/stdio/child_command.hpp"

namespace bridge {

class ChildCommand;

// What the daemon and its watcher process tell each other: one struct, one packet of a
// SOCK_SEQPACKET socket. The watcher outlives an upgrade of the daemon: what is said to one of an
// older version has to be what it knows.

/// Of these messages. A watcher of another version is ignored.
constexpr std::uint8_t watcher_version = 1;

/// From the daemon. A `start` carries three descriptors: the child's stdin, stdout and stderr.
struct WatcherOrder {
  enum class Kind : std::uint8_t {
    start,   ///< run the command; what is left of an earlier run is killed first
    signal,  ///< send `signal` to the child's process group
  };
  Kind kind;
  std::int32_t signal;
  std::uint32_t run;  ///< numbers the runs of the command
  std::uint8_t version = watcher_version;
};

/// From the watcher.
struct WatcherReport {
  enum class Kind : std::uint8_t {
    started,     ///< `value`: its pid, which is also its process group
    cannot_run,  ///< `value`: errno
    bad_folder,  ///< its folder cannot be entered; `value`: errno
    ended,       ///< `value`: as waitpid() gives it; its process group was killed
  };
  Kind kind;
  std::int32_t value;
  std::uint32_t run;
  std::uint8_t version = watcher_version;
};

/// What the watcher process reports: told on the loop's thread, in a turn.
struct WatcherEvents {
  std::function<void(const WatcherReport& report)> reported;
  /// It was killed: what it watched is to be killed by us, and it is to be replaced.
  std::function<void()> gone;
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
  Watcher(EventLoop& loop, const ChildCommand& command, WatcherEvents events);
  /// One that the previous process has forked, and its socket.
  Watcher(EventLoop& loop, int pid, int socket, WatcherEvents events);
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

  const WatcherEvents events_;
  pid_t pid_ = -1;
  bool waits_ = false;
  std::unique_ptr<DescriptorWatch> socket_;
};

/// What the watcher process does, from its fork to its end.
///
/// It is the parent of the child and, as a subreaper, of whatever the child leaves behind, so no
/// process of it can get away. It starts the command when it is told to, says how it ended, and
/// when the daemon is gone (the socket is at its end) it ends all of them, SIGTERM first, and
/// itself.
///
/// Runs in a copy of the daemon's memory in which other threads may have held locks: only what is
/// safe in a signal handler may be called here, nothing is allocated. `socket` and `command` are as
/// the daemon had them at the fork. REQUIRES: all signals are blocked.
[[noreturn]] void run_watcher(int socket, const ChildCommand& command);

}  // namespace bridge
