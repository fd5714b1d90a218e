#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace client {

// Users and groups, as /etc/passwd and /etc/group say. The C library's functions would load other
// libraries, which a static program cannot.

/// The name in a line `NAME:…:ID:…`; nothing if no line of `table` has that number.
std::optional<std::string> find_account(std::string_view table, unsigned long id);

/// What the system calls it; nothing if it has no name there.
std::optional<std::string> user_name(uid_t user);
std::optional<std::string> group_name(gid_t group);

/// "alice (uid 1000)", or "uid 1000".
std::string describe_user(uid_t user);

/// Makes this process one of that user (a uid), with the groups that the system gives it, so that a
/// daemon takes it for one. For root only, and for good. Returns why it cannot be; nothing: it is.
std::optional<std::string> act_as(std::string_view uid);

}  // namespace client
