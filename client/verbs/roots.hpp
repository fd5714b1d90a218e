#pragma once

#include "command_line/options.hpp"
#include "verbs/dialogue.hpp"

namespace client {

/// The address of a file as RFC 8089 has it: the bytes of an absolute path, all but RFC 3986's
/// unreserved ones and `/` as %XX. Pure.
std::string file_uri(std::string_view path);

/// The result of a `roots/list` (MCP 2025-11-25, "Roots"): each folder by its real path, named as
/// its last part. "" if there are none. Else which is no folder.
std::variant<std::string, UsageError> read_roots(const std::vector<std::string>& folders);

/// What the server is told before the verb's own request, and what it has said of itself then, if
/// it was told anything; else why there is no session. `roots` as read_roots() gives them;
/// `is_new`: the daemon was started for the verb.
std::optional<Answer> begin_with_roots(Dialogue& dialogue, const Options& options,
                                       const std::string& roots, bool is_new);

/// Opens the session of a daemon that was just started as one with roots, so that any later call
/// can name some (a session's capabilities are those of its opening); `roots` as read_roots() gives
/// them. The server has none where none were named. Gives what the server said of itself, or why
/// there is no session: whatever is asked next would wait for one as long again.
Answer open_with_roots(Dialogue& dialogue, const std::string& roots);

/// Has a server that knows others, or none yet, ask for the roots that the dialogue answers with,
/// and waits until it has heard them, for a second at most: some never ask. Says on stderr if the
/// session was opened without roots, where no server asks. Gives what open_with_roots() does.
Answer tell_roots(Dialogue& dialogue, const Options& options);

}  // namespace client
