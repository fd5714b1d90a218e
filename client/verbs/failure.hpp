#pragma once

#include "command_line/options.hpp"
#include "terminal/console.hpp"

namespace client {

/// `{"error":{"kind":…,"code":…,"delivered":…,"message":…,"hint":…}}` with line break.
std::string to_text(const Failure& error);

/// Of the JSON of a JSON-RPC error that answered a request.
Failure read_error(std::string_view error);
/// The same of a request that the daemon answers itself: what it does not mark is its own too.
Failure read_daemon_error(std::string_view error);

/// What to do about an error of this kind.
std::string_view hint_for(std::string_view kind);

/// For a JSON-RPC error object. One that the bridge made itself is told by its kind.
ExitCode exit_code_for_error(std::string_view error_json);

/// A JSON-RPC error object in one line for a person: who says it, the code, the message, and what
/// can be done where that is known. What cannot be read is shown as it is.
std::string describe_error(std::string_view error_json);
/// How the server gets to ask what it says that its client cannot be asked: the session was opened
/// by a client without that capability. "" if `message` says nothing of the kind.
std::string hint_for_capability(std::string_view message);
/// The pages that a server wants opened before it does what it was asked (MCP 2025-11-25,
/// "Elicitation: URL Elicitation Required Error"): of each the purpose, the whole address and its
/// host, on lines of their own, safe for a terminal. "" if it wants none.
std::string describe_pages(std::string_view error_json);
/// What to do about that, on one line.
std::string hint_of_pages(std::string_view error_json);
/// Whether a person can do something about it by logging in.
bool error_wants_login(std::string_view error_json);

/// The same for an error of the daemon itself, which answers bridge/* requests, and not always
/// marks its errors as its own.
std::string describe_daemon_error(std::string_view error_json);

/// `timed out after 2 s (-w)`.
std::string timed_out_after(const Options& options);

/// On stdout, with --json.
void print_failure(Console& console, Failure failure);
/// Says it on stderr, and with --json on stdout too. Returns its code.
ExitCode tell_failure(Console& console, const Options& options, const Failure& failure);

/// The same of the JSON of a JSON-RPC error of the daemon, which answers the verb's request itself.
ExitCode tell_error(Console& console, const Options& options, std::string_view error);

}  // namespace client
