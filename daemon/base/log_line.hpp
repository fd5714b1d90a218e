#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/log.hpp"

namespace bridge {

// One line of the log, without its end. Pure. Nothing a peer said can break the line or hide in it:
// control, bidi and invisible characters are escaped, in text and in JSON alike.

/// `message client=1 request="a" upstream=7 …`.
void append_text_line(std::string& line, const LogFields& fields, std::string_view message);

/// `{"time":"2026-01-31T12:00:00.000Z","level":"info","event":…,"message":…,"client":1,…}`.
/// `request` is always a string, `duration_ms` a number.
void append_json_line(std::string& line, WallTime time, LogLevel level, std::string_view kind,
                      const LogFields& fields, std::string_view message);

std::string_view name_of(LogLevel level);

}  // namespace bridge
