#pragma once

#include "json/document.hpp"

namespace client {

/// A notification in words, for a person: what has happened, on one line without line break.
/// REQUIRES: message.kind is notification. What the server wrote is in it as it came: not safe for
/// a terminal. Pure.
std::string notification_line(const json::Message& message);

/// What the daemon shows of a message that passes (the params of notifications/bridge/monitor), on
/// one line for a person, without line break; before it, if messages were missed, a line that says
/// how many. What the message says is in it as it came: not safe for a terminal. Pure.
std::string monitor_line(std::string_view params);

/// `{"line":…}` of a log; invalid UTF-8 becomes escapes. Pure.
bridge::JsonObject log_line_object(std::string_view line);

}  // namespace client
