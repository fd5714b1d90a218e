#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "event/descriptor_watch.hpp"
#include "event/event_loop.hpp"
#include "process/spawn.hpp"

namespace bridge {

/// The environment for a command: `environment` (as environ) without the variables that hold our
/// secrets or are meant for this process alone.
std::vector<std::string> child_environment(const char* const* environment);

struct SpawnedShell {
  pid_t pid = -1;
  int pidfd = -1;
  int out = -1;   ///< reads its stdout; does not block
  int err = -1;   ///< reads its stderr; does not block
  int error = 0;  ///< errno, if it was not started; then none of the above is open
};

/// Starts the process (spawn()), whose stdout and stderr are pipes. `limit`: its descriptor limit;
/// none: ours. The caller owns all descriptors.
SpawnedShell spawn_process(ProcessOrder order, const std::optional<rlimit>& limit = std::nullopt);

/// The same of `/bin/sh -c COMMAND` with child_environment().
SpawnedShell spawn_shell(const std::string& command,
                         const std::optional<rlimit>& limit = std::nullopt);

struct CommandLimits {
  std::chrono::milliseconds time{10000};
  std::size_t out = 64u << 10;          ///< more on stdout ends the command
  std::size_t err = 16u << 10;          ///< more on stderr is read and dropped
  std::optional<rlimit> descriptors{};  ///< its descriptor limit; none: ours
};

struct CommandOutput {
  std::string out;
  std::string err;    ///< whole lines only
  std::string fault;  ///< empty: it ended with exit code 0
};

/// One run of `/bin/sh -c COMMAND` in its own process group, with none of our descriptors open in
/// it.
///
/// The loop's thread only; nothing blocks. It ends with the shell, even if other processes still
/// hold its stdout. `done` is called once, from the loop, and may destroy the run. Destruction
/// kills the group, if the shell still runs, and leaves its reaping to the loop.
class CommandRun {
 public:
  using Done = std::function<void(const CommandOutput&)>;

  CommandRun(EventLoop& loop, const std::string& command, const CommandLimits& limits, Done done);
  /// Runs a process that was just started, or failed to start.
  CommandRun(EventLoop& loop, const SpawnedShell& shell, const CommandLimits& limits, Done done);
  ~CommandRun();
  CommandRun(const CommandRun&) = delete;
  CommandRun& operator=(const CommandRun&) = delete;

 private:
  void watch(int out, int err);
  bool take(DescriptorWatch& from, std::string& into, std::size_t limit);
  void readable(std::unique_ptr<DescriptorWatch>& from, std::string& into, std::size_t limit);
  void drain(std::unique_ptr<DescriptorWatch>& from, std::string& into, std::size_t limit);
  void exited();
  void finish();

  EventLoop& loop_;
  CommandLimits limits_;
  Done done_;
  CommandOutput output_;
  pid_t pid_ = -1;  ///< until it is reaped
  std::unique_ptr<DescriptorWatch> out_;
  std::unique_ptr<DescriptorWatch> err_;
  std::unique_ptr<DescriptorWatch> process_;  ///< a pidfd
  DeadlineTimer deadline_;
};

}  // namespace bridge
