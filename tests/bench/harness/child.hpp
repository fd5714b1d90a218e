#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "harness/descriptor.hpp"

namespace bench {

/// A process of the benchmark; ended by SIGTERM and then SIGKILL on destruction, and killed if the
/// benchmark dies. Inherits the present affinity.
class Child {
 public:
  /// stderr is appended to `log`; with `wants_line` it waits for the first line of stdout.
  Child(const std::vector<std::string>& command, const std::string& log, bool wants_line);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  const std::string& first_line() const { return first_line_; }
  /// Waits until it has ended by SIGTERM.
  void stop();

 private:
  pid_t pid_ = -1;
  std::string first_line_;
};

/// A process whose stdin and stdout are pipes of ours. Killed on destruction, and if we die.
class PipedChild {
 public:
  explicit PipedChild(const std::vector<std::string>& command);
  ~PipedChild();
  PipedChild(const PipedChild&) = delete;
  PipedChild& operator=(const PipedChild&) = delete;

  int input() const { return input_.get(); }
  int output() const { return output_.get(); }

 private:
  Descriptor input_;
  Descriptor output_;
  pid_t pid_ = -1;
};

/// Wall time in microseconds of one process from start to end; stdout is discarded.
double time_process(const std::vector<std::string>& command);

/// A process's CPU time as the kernel counts it; all its threads together.
double cpu_microseconds(pid_t pid);
std::size_t voluntary_switches(pid_t pid);
/// The value of a line of /proc/PID/status in KiB, such as "RssAnon".
std::size_t status_kib(pid_t pid, const std::string& field);

/// While it lives, pins this process, and children started from now on, to one of its available
/// CPUs.
class PinnedToOneCpu {
 public:
  /// `number` starts at 0. REQUIRES: it is below cpu_count().
  explicit PinnedToOneCpu(int number = 0);
  ~PinnedToOneCpu();
  PinnedToOneCpu(const PinnedToOneCpu&) = delete;
  PinnedToOneCpu& operator=(const PinnedToOneCpu&) = delete;

 private:
  std::vector<char> before_;
};

/// The number of CPUs this process may use.
int cpu_count();

}  // namespace bench
