#pragma once

#include "policy/peer.hpp"
#include "router/client_channel.hpp"

namespace bridge {

/// A user as a peer, with the groups from the system's accounts: for a request whose client
/// connected to an earlier daemon. Reads the accounts, which may take time.
Peer peer_of(const User& user);

}  // namespace bridge
