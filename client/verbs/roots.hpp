#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "command_line/options.hpp"
#include "verbs/dialogue.hpp"

namespace client {

/// The address of a file as RFC 8089 has it: the bytes of an absolute path, all but RFC 3986's
/// unreserved ones and `/` as %XX. Pure.
std::string file_uri(std::string_view path);

/// The result of a `roots/list` (MCP 2025-11-25, "Roots"): each folder by its real path, named as
/// its last part. "" if there are none. Else which is no folder.
std::variant<std::string, UsageError> read_roots(const std::vector<std::string>& folders);

/// Opens the session of a daemon that was just started as one with roots, so that any later call
/// can name some (a session's capabilities are those of its opening); `roots` as read_roots() gives
/// them. The server has none where none were named.
void open_with_roots(Dialogue& dialogue, const std::string& roots);

/// Has a server that knows others, or none yet, ask for the roots that the dialogue answers with,
/// and waits until it has heard them, for a second at most: some never ask. Says on stderr if the
/// session was opened without roots, where no server asks. What fails here fails again with the
/// verb's own request, and is told then.
void tell_roots(Dialogue& dialogue, const Options& options);

}  // namespace client
