#pragma once

#include "connection/conversation.hpp"
#include "connection/trusted_peer.hpp"

namespace client {

/// A connection to a daemon, the path of its socket or folder of pipes, and the trusted peers.
struct Connected {
  DaemonStream daemon;
  std::string path;
  TrustedPeer trusted{};
};

/// Why connecting failed, as one line for a person.
struct ConnectFailure {
  std::string message;
  bool timed_out = false;
  bool is_absent = false;  ///< no process listens there
};

/// The sockets to try, in order: the option, else the environment (empty is unset), else the
/// defaults. A path over 107 bytes is a usage error.
std::variant<std::vector<std::string>, UsageError> choose_sockets(std::string_view option,
                                                                  const char* environment);

/// Connects to the first of `paths` that exists, if its peer is trusted (distrust); by pipes, if it
/// is their folder, or if the socket is forbidden and `pipes` (else the socket's path and ".pipes")
/// is. For the duration of `wait` a missing or refusing socket is retried; a full accept queue is
/// waited for until `deadline`, the opening of pipes also 5 s at most. The descriptors are
/// close-on-exec; nothing was sent on them. Without more than paths it waits for nothing.
std::variant<Connected, ConnectFailure> connect_to_daemon(
    const std::vector<std::string>& paths, const TrustedPeer& trusted = {},
    Milliseconds wait = Milliseconds(0), Deadline deadline = Deadline::after(Milliseconds(0)),
    const std::string& pipes = {});

/// The request that uses the grant in MCP_NC_GRANT, to be sent before everything else; "" = none is
/// set. `raw_id` is JSON.
std::string request_for_grant(std::string_view raw_id);

/// How the use of a grant ended.
struct GrantUse {
  Conversation::Event end;  ///< `line`: there is a response
  std::string response{};   ///< JSON-RPC, as received
  bool is_accepted = false;
};

/// Uses the grant in MCP_NC_GRANT and waits for the response: nothing is sent behind a grant that
/// is not accepted. Lines that precede the response are the next ones of the conversation
/// afterwards; more than longest_line bytes of them are too_long. nullopt: no grant is set.
/// REQUIRES: nothing was sent or handed out yet.
std::optional<GrantUse> use_grant(Conversation& conversation, Deadline deadline);

/// The systemd unit of a socket, for journalctl -u: the package's unit for one under
/// /run/mcp-bridged, "" for any other path. Pure.
std::string unit_of(std::string_view path);

/// What to check when the daemon has hung up. In one line for a person.
std::string describe_hang_up(std::string_view path);

}  // namespace client
