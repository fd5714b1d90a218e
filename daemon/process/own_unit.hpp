#pragma once

#include <string>
#include <string_view>

namespace bridge {

/// The systemd service in a text like /proc/self/cgroup (cgroups(7)): `mcp-bridged@one.service`.
/// Empty if there is none, or none that can be pasted into a shell as it stands.
std::string unit_in(std::string_view cgroups);

/// The service that this process belongs to; empty if none.
std::string own_unit();

}  // namespace bridge
