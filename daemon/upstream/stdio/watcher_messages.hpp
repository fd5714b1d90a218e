#pragma once

#include <cstdint>

namespace bridge {

// What the daemon and its watcher process tell each other: one struct, one packet of a
// SOCK_SEQPACKET socket. The watcher outlives an upgrade of the daemon: what is said to one of an
// older version has to be what it knows.

/// Of these messages. A watcher of another one is not gone on with.
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

}  // namespace bridge
