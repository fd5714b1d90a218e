#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace client {

/// Why the daemon that has closed a connection, and that mcp-nc has started, has never begun to
/// serve; nothing if it has, or if that is not known. For a person, on one line. `process`: the one
/// behind the connection.
std::optional<std::string> why_not_started(std::string_view socket, pid_t process);

/// Why the daemon behind this socket may have closed the connection, and what tells more: of one
/// that mcp-nc has started, its log.
std::string describe_end(std::string_view socket, pid_t process);

}  // namespace client
