#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace bridge {

// The id of a user or a group that an option names, by name or by number. Nothing if there is none
// of that name, or if the number is none that can be given to chown(2): there (uid_t)-1 means "as
// it is".
std::optional<uid_t> user_id(const std::string& given);
std::optional<gid_t> group_id(const std::string& given);

}  // namespace bridge
