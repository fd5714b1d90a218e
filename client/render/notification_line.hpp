#pragma once

#include <string>

#include "json/message.hpp"

namespace client {

/// A notification in words, for a person: what has happened, on one line without line break.
/// REQUIRES: message.kind is notification. What the server wrote is in it as it came: not safe for
/// a terminal. Pure.
std::string notification_line(const json::Message& message);

}  // namespace client
