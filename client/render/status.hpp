#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "json/value.hpp"
#include "terminal/styled.hpp"

namespace client {

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

}  // namespace client
