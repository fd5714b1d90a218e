#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "event/descriptor_watch.hpp"
#include "upstream/stdio/child_command.hpp"

namespace bridge {

// The messages between the daemon and its watcher process: one struct per packet of a
// SOCK_SEQPACKET socket. The watcher outlives an upgrade of the daemon, so messages to an older
// watcher must have its version.

/// Version of these messages. A watcher of another version is ignored.
constexpr std::uint8_t watcher_version = 1;

/// From the daemon. A `start` carries three descriptors: the child's stdin, stdout and stderr.
struct WatcherOrder {
  enum class Kind : std::uint8_t {
    start,   ///< run the command; kill the rest of an earlier run first
    signal,  ///< send `signal` to the child's process group
  };
  Kind kind;
  std::int32_t signal;
  std::uint32_t run;  ///< number of the run
  std::uint8_t version = watcher_version;
};

/// From the watcher.
struct WatcherReport {
  enum class Kind : std::uint8_t {
    started,     ///< `value`: its pid and process group
    cannot_run,  ///< `value`: errno
    bad_folder,  ///< cannot enter its folder; `value`: errno
    ended,       ///< `value`: from waitpid(); its process group was killed
  };
  Kind kind;
  std::int32_t value;
  std::uint32_t run;
  std::uint8_t version = watcher_version;
};

class ChildRuns;

/// The daemon's side of the watcher process, which is forked here (BEHAVIOUR, "Local server: its
/// process").
///
/// The loop's thread only; only wait_for_first_report() blocks. The process shares the daemon's
/// memory pages, so it is forked as early as possible to stay small. It exits when this object is
/// destroyed or the daemon dies.
class Watcher {
 public:
  /// Throws std::system_error if the process cannot be made. `command`: what it will run.
  Watcher(EventLoop& loop, const ChildCommand& command, ChildRuns& owner);
  /// Takes over the watcher of the previous process, and its socket.
  Watcher(EventLoop& loop, int pid, int socket, ChildRuns& owner);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  /// Runs the command with these as stdin, stdout and stderr; they stay the caller's.
  void start(std::uint32_t run, const int (&streams)[3]);
  void signal(std::uint32_t run, int signal);
  pid_t pid() const { return pid_; }
  int socket() const { return socket_->descriptor(); }

  /// Waits for the first report, at the daemon's start only. A signal ends the wait; then the
  /// report comes like all others.
  struct FirstReport {
    std::optional<WatcherReport> report;
    bool interrupted = false;
  };
  FirstReport wait_for_first_report(int milliseconds);

  /// No run is left: the destructor may wait for its exit.
  void wait_for_end_at_destruction() { waits_ = true; }

 private:
  void listen(EventLoop& loop, int socket);
  void readable();

  ChildRuns& owner_;
  pid_t pid_ = -1;
  bool waits_ = false;
  std::unique_ptr<DescriptorWatch> socket_;
};

/// The watcher process, from its fork to its exit.
///
/// It is the parent of the child and, as a subreaper, of all processes that the child leaves
/// behind, so none can escape. It starts the command when ordered, reports how it ended, and when
/// the daemon is gone (end of the socket) ends all of them, SIGTERM first, and exits.
///
/// Runs in a copy of the daemon's memory in which other threads may have held locks: only
/// async-signal-safe calls, no allocation. `socket` and `command` are the daemon's at the fork.
/// REQUIRES: all signals are blocked.
[[noreturn]] void run_watcher(int socket, const ChildCommand& command);

}  // namespace bridge
