#pragma once

#include "verbs/dialogue.hpp"

namespace client {

/// The URI of a file by RFC 8089: the bytes of an absolute path, all but RFC 3986's unreserved ones
/// and `/` as %XX. Pure.
std::string file_uri(std::string_view path);

/// The result of a `roots/list` (MCP 2025-11-25, "Roots"): each folder by its real path, named as
/// its last part. "" if there are none. Else which one is not a folder.
std::variant<std::string, UsageError> read_roots(const std::vector<std::string>& folders);

/// Tells the server about roots before the verb's own request. Returns its self-description if it
/// was contacted, or why there is no session. `roots` as from read_roots(); `is_new`: the daemon
/// was started for the verb.
std::optional<Answer> begin_with_roots(Dialogue& dialogue, const Options& options,
                                       const std::string& roots, bool is_new);

}  // namespace client
