#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace client {

// Users and groups from /etc/passwd and /etc/group. The C library's functions would load other
// libraries, which a static program cannot.

/// The name in a line `NAME:…:ID:…`; nullopt if no line of `table` has that number.
std::optional<std::string> find_account(std::string_view table, unsigned long id);

/// The user's name; nullopt if the system has none.
std::optional<std::string> user_name(uid_t user);
std::optional<std::string> group_name(gid_t group);

/// "alice (uid 1000)", or "uid 1000".
std::string describe_user(uid_t user);

/// Why this process may not ask a daemon what the user of this uid sees; nullopt: it may.
std::optional<std::string> refusal_to_look_as(std::string_view uid);

/// The user with the groups that the system assigns: `{"uid":…,"gid":…,"groups":[…]}`. REQUIRES:
/// no refusal_to_look_as().
std::string describe_peer(std::string_view uid);

}  // namespace client
