#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace client {

/// The unit whose socket it is, as journalctl -u takes it: that of the package under
/// /run/mcp-bridged, "" for any other path. Pure.
std::string unit_of(std::string_view path);

/// Where the daemon of that socket tells what is wrong with it: "journalctl -u mcp-bridged", or its
/// log. For a person.
std::string where_its_log_is(std::string_view path);

/// Why a connection could not be made and what to do, in one line for a person. `paths` were tried,
/// `path` is the one that `error` (an errno) is about. `waited`: as long as --wait said.
std::string describe_refusal(const std::vector<std::string>& paths, const std::string& path,
                             int error, bool waited);

/// What to look at when the daemon has hung up on us. In one line for a person.
std::string describe_hang_up(std::string_view path);

}  // namespace client
