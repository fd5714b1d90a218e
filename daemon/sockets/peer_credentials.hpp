#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace bridge {

/// The peer's credentials as reported by the kernel (SO_PEERCRED, SO_PEERGROUPS; unix(7)).
struct PeerCredentials {
  pid_t pid = 0;  ///< 0: a process of another pid namespace
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  ///< the supplementary ones
};

/// nullopt if the kernel reports none (the peer is already gone). Supplementary groups only
/// `with_groups`.
std::optional<PeerCredentials> peer_credentials(int socket, bool with_groups = false);

/// Whether it is a Unix socket: other kinds report credentials, too.
bool is_unix_socket(int descriptor);

/// What the peer of a Unix socket has done with what was written to it.
struct PeerReading {
  bool has_read_all = false;
  bool has_sent = false;   ///< something waits to be read
  bool was_reset = false;  ///< it has closed with unread data; the kernel reports that only once
};
PeerReading look_what_peer_read(int socket);

/// Whether both directions of a socket are closed.
bool has_hung_up(int socket);

/// The command name of a process, printable; empty if it cannot be read.
std::string command_of(pid_t pid);

/// Which users may connect.
struct PeerPolicy {
  std::vector<uid_t> uids;
  std::vector<gid_t> gids;
  /// With neither uids nor gids: only root and the daemon's own uid (abstract sockets, which have
  /// no file permissions).
  bool own_user_only = false;

  bool admits(const PeerCredentials& peer) const;
};

}  // namespace bridge
