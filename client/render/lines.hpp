#pragma once

#include "json/document.hpp"

namespace client {

/// A notification in words, for a person: one line without line break. REQUIRES:
/// message.kind is notification. Contains the server's text unchanged: not safe for a
/// terminal. Pure.
std::string notification_line(const json::Message& message);

/// A message that passed through the daemon (the params of notifications/bridge/monitor), on one
/// line for a person, without line break; preceded, if messages were missed, by a line with their
/// number. Contains the message's text unchanged: not safe for a terminal. Pure.
std::string monitor_line(std::string_view params);

/// `{"line":…}` for a line of a log; invalid UTF-8 becomes escapes. Pure.
bridge::JsonObject log_line_object(std::string_view line);

}  // namespace client
