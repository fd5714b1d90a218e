#pragma once

#include <cstddef>
#include <string>

namespace bridge {

/// The present soft limit of file descriptors.
std::size_t descriptor_limit();

/// If hardly any further file descriptor can be opened: that, the limit, and what to do, for the
/// error of what has just failed; else an empty string. Programs and libraries report it as
/// something else: an unknown host, a server that cannot be reached.
std::string descriptor_shortage();

}  // namespace bridge
