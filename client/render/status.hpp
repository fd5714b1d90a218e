#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "json/value.hpp"

namespace client {

/// The result of bridge/status for people, lines with a line break each. `now_ms` is the time in
/// milliseconds since the epoch, for "ago". What is missing is left out.
std::string render_status(const json::Value& status, std::int64_t now_ms);

/// Can the upstream be reached as far as the daemon knows? Its `ready` says so: true until a try has
/// failed, and again when one has succeeded. Of a daemon that does not say it, the state tells.
bool is_ready(const json::Value& status);

/// One line that says so, with the last error if it is not.
std::string render_ready(const json::Value& status);

}  // namespace client
