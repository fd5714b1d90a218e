#pragma once

#include "policy/peer.hpp"
#include "router/client_channel.hpp"

namespace bridge {

/// A user as a peer, with the groups that the system's accounts give it: for a request whose client
/// another daemon has known. It asks the accounts, which may take time.
Peer peer_of(const User& user);

}  // namespace bridge
