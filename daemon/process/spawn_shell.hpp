#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

/// The environment for a command: `environment` (as environ) without what holds our secrets or is
/// meant for this process alone.
std::vector<std::string> child_environment(const char* const* environment);

struct SpawnedShell {
  pid_t pid = -1;
  int pidfd = -1;
  int out = -1;   ///< reads its stdout; does not block
  int err = -1;   ///< reads its stderr; does not block
  int error = 0;  ///< errno, if it could not be started; then nothing of the above is open
};

/// A process to be started.
struct ProcessOrder {
  std::string path;
  std::vector<std::string> arguments;  ///< the first is its name
  std::vector<std::string> environment;
  /// Ours, and where they are in the process: from 3 on, one after the other.
  std::vector<std::pair<int, int>> handed{};
  std::optional<rlimit> descriptors{};  ///< its limit of them; none: ours
};

/// Starts it: stdin /dev/null, its own process group, no other descriptor, default signal handlers
/// and nothing blocked. All descriptors are the caller's.
SpawnedShell spawn_process(const ProcessOrder& order);

/// Starts `/bin/sh -c COMMAND`: stdin /dev/null, its own process group, no other descriptor,
/// default signal handlers and nothing blocked, child_environment(), and `descriptors` as its limit
/// of them (none: ours). All descriptors are the caller's.
SpawnedShell spawn_shell(const std::string& command,
                         const std::optional<rlimit>& descriptors = std::nullopt);

}  // namespace bridge
