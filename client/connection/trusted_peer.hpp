#pragma once

#include <sys/socket.h>

#include "command_line/options.hpp"
#include "connection/accounts.hpp"

namespace client {

/// The user trusted to run the daemon besides root, the user and the owner of the socket's folder:
/// --peer or MCP_NC_PEER.
struct TrustedPeer {
  std::optional<uid_t> user;
  bool anybody = false;
};

/// The option, else the environment (empty is unset): a uid or `any`.
std::variant<TrustedPeer, UsageError> choose_trusted_peer(std::string_view option,
                                                          const char* environment);

/// The peer of a socket, and its location, as reported by the kernel.
struct PeerFacts {
  uid_t peer = 0;
  uid_t user = 0;  ///< the user of this process
  std::optional<uid_t> folder_owner;
  /// In a user namespace all users without a number in it are shown as this one, so it identifies
  /// no user. nullopt where every user has a number.
  std::optional<uid_t> nameless;
};

/// Whether that peer is trusted in a folder that others may write. Pure.
bool is_trusted(const PeerFacts& facts, const TrustedPeer& trusted);

/// Checks the server of a socket that any user could have created (in a folder that group or others
/// may write, or with an abstract name, which has no permissions). nullopt if it is trusted, else
/// why not, for a person. `server`: who serves it, if known; the path as it was given.
std::optional<std::string> distrust(const std::optional<ucred>& server, const std::string& path,
                                    const TrustedPeer& trusted);
/// The process behind a Unix socket (its pid is 0 in another PID namespace); nullopt if unknown.
std::optional<ucred> peer_of(int connected);

}  // namespace client
