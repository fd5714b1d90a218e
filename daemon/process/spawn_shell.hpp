#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>

namespace bridge {

struct SpawnedShell {
  pid_t pid = -1;
  int pidfd = -1;
  int out = -1;   ///< reads its stdout; does not block
  int err = -1;   ///< reads its stderr; does not block
  int error = 0;  ///< errno, if it could not be started; then nothing of the above is open
};

/// Starts `/bin/sh -c COMMAND`: stdin /dev/null, its own process group, no other descriptor,
/// default signal handlers and nothing blocked, child_environment(), and `descriptors` as its limit
/// of them (none: ours). All descriptors are the caller's.
SpawnedShell spawn_shell(const std::string& command,
                         const std::optional<rlimit>& descriptors = std::nullopt);

}  // namespace bridge
