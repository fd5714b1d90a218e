#pragma once

#include "command_line/options.hpp"
#include "json/document.hpp"
#include "terminal/styled.hpp"

namespace client {

/// How long an answer may take before a person at a terminal is told what it waits for.
constexpr Milliseconds waiting_timeout{1000};

/// What a request is waiting for besides the server's own work, from the result of bridge/status:
/// the daemon opens its session with the server or cannot reach it. For a person, on one line;
/// nothing if there is a session, or the status cannot be read. Pure.
std::optional<std::string> reason_of_wait(std::string_view status);
/// The same, but only why it cannot be reached, once a try has failed. Pure.
std::optional<std::string> failure_of_wait(std::string_view status);

/// Which rule holds, from `policy` of bridge/status. For a person, on one line; "" = no policy.
std::string policy_text(const json::Value& policy);

/// The result of bridge/status for people. `now_ms` is the time in milliseconds since the epoch,
/// for "ago". What is missing is left out. With a height, the clients that do not fit are only
/// counted.
std::vector<StyledLine> render_status(const json::Value& status, std::int64_t now_ms,
                                      const Look& look);

/// Can the upstream be reached as far as the daemon knows? Its `ready` says so: true until a try
/// has failed, and again when one has succeeded. Of a daemon that does not say it, the state tells.
bool is_ready(const json::Value& status);

/// One line that says so, with the last error if it is not.
std::string render_ready(const json::Value& status);

/// The clients of bridge/status as a table with a heading, those that are idle as one line; one
/// line that says so if there is none. At most `rows` lines, 0 = no limit: then the last one counts
/// those that are not shown. The commands have what the look's width leaves.
std::vector<StyledLine> render_clients(const std::vector<json::Value>& clients, const Look& look,
                                       std::size_t rows);

}  // namespace client
