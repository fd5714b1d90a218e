#include "process/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>

#include "process/process_start.hpp"

namespace bridge {

int spawn(pid_t& process, ProcessOrder order) {
  constexpr int lowest_copy = 64;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (!order.folder.empty()) posix_spawn_file_actions_addchdir_np(&files, order.folder.c_str());
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  int last = STDERR_FILENO;
  for (auto& [ours, number] : order.descriptors) {
    if (ours < 0) continue;
    // A copy outside of the range of targets: duplicating onto a target would close it.
    ours = fcntl(ours, F_DUPFD_CLOEXEC, lowest_copy);
    posix_spawn_file_actions_adddup2(&files, ours, number);
    last = std::max(last, number);
  }
  posix_spawn_file_actions_addclosefrom_np(&files, last + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int group = order.has_own_session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
  posix_spawnattr_setflags(
      &attributes, static_cast<short>(group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  const int error =
      posix_spawn(&process, order.path.c_str(), &files, &attributes,
                  pointers_to(order.arguments).data(), pointers_to(order.environment).data());
  for (const auto& [copy, number] : order.descriptors) {
    if (copy >= 0) close(copy);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

}  // namespace bridge
