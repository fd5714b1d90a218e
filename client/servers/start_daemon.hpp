#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "connection/connect.hpp"
#include "connection/deadline.hpp"
#include "servers/named_server.hpp"
#include "servers/places.hpp"

namespace client {

/// mcp-bridged: beside this program, else the first in PATH; "" if there is none.
std::string find_daemon_program();

/// The environment a daemon is started with, as `NAME=value`: HOME, PATH, LANG, XDG_*, the proxies'
/// variables, and what the definition names. Pure but for `environment`, which ends with nullptr.
std::vector<std::string> environment_for(const Definition& definition, char* const* environment);

/// What a daemon is started with, beside its server.
struct StartOptions {
  std::string idle_exit = "30m";  ///< the value of --idle-exit, which the daemon judges
};

/// Starts a daemon for the server and connects to it: detached, in the server's folder, with its
/// output in the log. The definition goes to it on a descriptor, and so do the values of inputs
/// that were asked for, so neither stands in a file or on a command line. Else why there is none,
/// for a person: what the daemon itself has said if it ended.
///
/// REQUIRES: lock_starting() is held, and nobody listens at the socket.
std::variant<Connected, std::string> start_daemon(const NamedServer& server,
                                                  const std::map<std::string, std::string>& inputs,
                                                  const Places& places, const InstancePaths& paths,
                                                  const StartOptions& options, Deadline deadline);

}  // namespace client
