#pragma once

#include <string>

namespace bridge {

// Whose a socket's path is: the lock beside it, and whether somebody serves it (BEHAVIOUR,
// "Socket"). At the start, and when it is published again. All throw StartError with what to do.

/// Locks PATH.lock, which its holder removes at its end. Returns the descriptor, the caller's.
int take_socket_lock(const std::string& path);
/// Throws if somebody serves it, or what is there is no socket, or cannot be looked at. Returns
/// whether a socket is there that nobody serves.
bool refuse_unless_free(const std::string& name);
/// Throws: somebody serves it.
[[noreturn]] void refuse_served(const std::string& name);
[[noreturn]] void refuse_socket(const std::string& message);

/// Whether `path` names what the descriptor is open on, and not what somebody has put there since.
bool is_same_file(int descriptor, const std::string& path);
/// Who owns what stands in the way, if somebody else does: " (it belongs to uid 1000)".
std::string other_owner_of(const std::string& path);
/// A descriptor, the caller's.
int new_unix_socket();

}  // namespace bridge
