#pragma once

#include "command_line/options.hpp"
#include "terminal/console.hpp"

namespace client {

/// `{"error":{"kind":…,"code":…,"delivered":…,"message":…,"hint":…}}`.
bridge::JsonObject error_object(const Failure& error);

/// Of the JSON of a JSON-RPC error that answered a request.
Failure read_error(std::string_view error);
/// The same of a request that the daemon answers itself: what it does not mark is its own too.
Failure read_daemon_error(std::string_view error);

/// What to do about an error of this kind.
std::string_view hint_for(std::string_view kind);

/// How the server gets to ask what it says that its client cannot be asked: the session was opened
/// by a client without that capability. "" if `message` says nothing of the kind.
std::string hint_for_capability(std::string_view message);

/// `timed out after 2 s (-w)`.
std::string timed_out_after(const Options& options);

/// Says it on stderr, and with --json on stdout too. Returns its code.
ExitCode tell_failure(Console& console, const Options& options, Failure failure);

}  // namespace client
