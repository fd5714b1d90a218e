#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "command_line/options.hpp"
#include "connection/connect.hpp"
#include "connection/deadline.hpp"
#include "render/json_error.hpp"
#include "servers/named_server.hpp"
#include "servers/places.hpp"
#include "servers/start_daemon.hpp"
#include "terminal/console.hpp"
#include "verbs/exit_code.hpp"

namespace client {

/// Why a server cannot be talked to by its name: what is told, and the exit code.
struct NamingFailure {
  std::string message;
  ExitCode code = ExitCode::usage;
};

/// A server by its name, and the daemon that serves it.
struct NamedDaemon {
  NamedServer server;
  Places places;
  InstancePaths paths;
  StartOptions start{};
};

/// What its daemon is started with.
StartOptions start_options();

/// The server that the command line names, wherever that is looked up.
std::variant<NamedServer, NamingFailure> named_server(const Options& options);

/// The daemon of that server, whether it runs or not; nothing is started. One that needs approval
/// is asked for at the terminal.
std::variant<NamedDaemon, NamingFailure> named_daemon(const Options& options, Console& console);

/// Starts it, unless another process has done so meanwhile, and connects to it. Values of inputs
/// that are nowhere are asked for at the terminal.
std::variant<Connected, NamingFailure> start_named(const NamedDaemon& daemon, Console& console,
                                                   Deadline deadline);

/// Shows what is to be approved, asks at the terminal, and keeps it if that was the answer.
std::optional<NamingFailure> have_approved(const NamedServer& server, const Places& places,
                                           Console& console);

/// Says it on stderr, and with --json on stdout.
ExitCode report(const NamingFailure& failure, const Options& options, Console& console);

}  // namespace client
