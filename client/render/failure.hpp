#pragma once

#include "command_line/options.hpp"
#include "terminal/console.hpp"

namespace client {

/// The beginning and the end of the daemon's advice about a server that wants a token and offers no
/// login.
constexpr std::string_view token_advice = "give the daemon its token";
constexpr std::string_view token_advice_end = "MCP_SERVER_TOKEN";

/// `{"error":{"kind":…,"code":…,"delivered":…,"message":…,"hint":…}}`.
bridge::JsonObject error_object(const Failure& error);

/// From the JSON of the JSON-RPC error that answered a request.
Failure read_error(std::string_view error);
/// The same for a request that the daemon answers itself: unmarked errors are its own, too.
Failure read_daemon_error(std::string_view error);

/// What to do about an error of this kind.
std::string_view hint_for(std::string_view kind);

/// How to let the server ask, if it reports that its client lacks a capability: the session was
/// opened by a client without it. "" if `message` does not say so.
std::string hint_for_capability(std::string_view message);

/// `timed out after 2 s (-w)`.
std::string timed_out_after(const Options& options);

/// Reports the failure on stderr, and with --json on stdout too. Returns its code.
ExitCode tell_failure(Console& console, const Options& options, Failure failure);

}  // namespace client
