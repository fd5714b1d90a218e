#pragma once

#include <string>
#include <string_view>

namespace client {

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

/// The same for an error about a line that the daemon itself could not take.
std::string describe_refused_line(std::string_view error_json);

}  // namespace client
