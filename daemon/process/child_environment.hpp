#pragma once

#include <string>
#include <vector>

namespace bridge {

/// The environment for a command: `environment` (as environ) without what holds our secrets or is
/// meant for this process alone.
std::vector<std::string> child_environment(const char* const* environment);

}  // namespace bridge
