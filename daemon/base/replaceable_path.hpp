#pragma once

#include <sys/types.h>

#include <string>

namespace bridge {

/// The first folder or symbolic link on the way to `path` through which a user other than root and
/// `user` could replace what `path` names; empty if there is none. Every folder counts that the
/// kernel passes through, those of links included; in a sticky folder that others may write,
/// entries of root and `user` are safe. Only the path is judged, not the mode of the file at its
/// end. A path that cannot be followed is replaceable at that point. REQUIRES: `path` is absolute.
std::string replaceable_part_of(const std::string& path, uid_t user);

}  // namespace bridge
