#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "command_line/duration.hpp"

namespace client {

/// How long an answer may take before a person at a terminal is told what it waits for.
constexpr Milliseconds waiting_timeout{1000};

/// What a request is waiting for besides the server's own work, from the result of bridge/status:
/// the daemon opens its session with the server or cannot reach it. For a person, on one line;
/// nothing if there is a session, or the status cannot be read. Pure.
std::optional<std::string> describe_wait(std::string_view status);

}  // namespace client
