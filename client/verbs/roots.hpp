#pragma once

#include "verbs/dialogue.hpp"

namespace client {

/// The address of a file as RFC 8089 has it: the bytes of an absolute path, all but RFC 3986's
/// unreserved ones and `/` as %XX. Pure.
std::string file_uri(std::string_view path);

/// The result of a `roots/list` (MCP 2025-11-25, "Roots"): each folder by its real path, named as
/// its last part. "" if there are none. Else which one is not a folder.
std::variant<std::string, UsageError> read_roots(const std::vector<std::string>& folders);

/// What the server is told before the verb's own request, and what it has said of itself then, if
/// it was told anything; else why there is no session. `roots` as read_roots() gives them;
/// `is_new`: the daemon was started for the verb.
std::optional<Answer> begin_with_roots(Dialogue& dialogue, const Options& options,
                                       const std::string& roots, bool is_new);

}  // namespace client
