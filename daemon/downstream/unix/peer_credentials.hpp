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
