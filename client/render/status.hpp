#pragma once

#include "command_line/options.hpp"
#include "json/document.hpp"
#include "terminal/styled.hpp"

namespace client {

/// The time without a response after which a person at a terminal is told the reason.
constexpr Milliseconds waiting_timeout{1000};

/// What a request is waiting for besides the server's own work, from the result of bridge/status:
/// the daemon is opening its session with the server or cannot reach it. For a person, on one line;
/// nullopt if there is a session, or the status cannot be read. Pure.
std::optional<std::string> reason_of_wait(std::string_view status);
/// The same, but only why the server is unreachable, once an attempt has failed. Pure.
std::optional<std::string> failure_of_wait(std::string_view status);
/// The kind of that failure. Pure.
std::string kind_of_last_error(std::string_view status);

/// The rule that applies, from `policy` of bridge/status. One line for a person; "" = no policy.
std::string policy_text(const json::Value& policy);

/// The result of bridge/status for people. `now_ms` is the time in milliseconds since the epoch,
/// for "ago". Missing values are left out. With a height, the clients that do not fit are only
/// counted. `program`: as it was called, with the socket or name, for commands to copy.
std::vector<StyledLine> render_status(const json::Value& status, std::int64_t now_ms,
                                      const Look& look, std::string_view program = "mcp-nc");

/// Whether the upstream is reachable as far as the daemon knows, from its `ready`: false from a
/// failed attempt until a successful one. If the daemon does not report it, from its state.
bool is_ready(const json::Value& status);

/// The same as one line, with the last error if not ready, and how to log in if that is needed.
std::string render_ready(const json::Value& status, std::string_view program = "mcp-nc");

/// The clients of bridge/status as a table with a heading, idle ones as one line; one line that
/// says so if there are none. At most `rows` lines, 0 = no limit: then the last one counts those
/// not shown. The commands get the remaining width of the look.
std::vector<StyledLine> render_clients(const std::vector<json::Value>& clients, const Look& look,
                                       std::size_t rows);

}  // namespace client
