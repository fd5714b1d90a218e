#pragma once

#include <signal.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

/// Arguments or an environment for execve(2): a pointer to each text, a null pointer at the end.
/// Valid while `texts` is unchanged.
inline std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Holds signals back during its lifetime; they are delivered afterwards, possibly to the new
/// process.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

/// The process's arguments and environment, moved to where only this process can read them. The one
/// value from which the options can be parsed again (SIGHUP), by this process or by the new one.
///
/// `environ` points into it: getenv(3), setenv(3) and forked children work as before. Made once,
/// before any other thread; must outlive every reader of the environment.
class ProcessStart {
 public:
  ProcessStart(int argc, char** argv);
  ~ProcessStart();
  ProcessStart(const ProcessStart&) = delete;
  ProcessStart& operator=(const ProcessStart&) = delete;

  /// Replaces its own start by that of the previous process.
  void continue_from(std::vector<std::string> arguments, std::vector<std::string> environment);
  const std::vector<std::string>& arguments() const { return arguments_; }

  int argc() const { return static_cast<int>(arguments_.size()); }
  /// Ends with a null pointer, as main's argv does.
  char** argv() { return argument_pointers_.data(); }

  /// Redacts, where the kernel shows them to other users (/proc/PID/environ and cmdline, proc(5)),
  /// the values of all variables, and those arguments that may be secret: of --header and --input,
  /// and userinfo and query of --url. Names stay, to show how the process was started.
  void redact_originals();

 private:
  char** original_arguments_;
  char** original_environ_;
  std::vector<char*> original_environment_;
  std::vector<std::string> arguments_;
  std::vector<std::string> environment_;
  std::vector<char*> argument_pointers_;
  std::vector<char*> environment_pointers_;
};

/// Positions of the secret parts of an argument: offset and length. `previous` is the argument
/// before it, possibly the option whose value this one is. Pure.
std::vector<std::pair<std::size_t, std::size_t>> secret_parts(std::string_view previous,
                                                              std::string_view argument);

/// The same arguments with secret parts redacted. Pure.
std::vector<std::string> redacted_arguments(std::vector<std::string> arguments);

/// Sets the process name that is shown without the path: for a program that was executed by its
/// descriptor the kernel's own name is just a number.
void name_process(const std::string& program);

/// Sets whether other processes of the same user may read this one's memory, environment and
/// descriptors through /proc, attach to it, or find it in a core dump: PR_SET_DUMPABLE, prctl(2).
/// Inherited across fork, but not across exec.
void let_be_inspected(bool may);

/// Called first in main. In a container without an init the daemon would be process 1, which has
/// to reap orphans (a token command's helpers, processes of `docker exec`), and for which signals
/// work differently. So it forks: a small process 1 stays behind, which forwards signals, reaps,
/// and exits with the daemon. Returns in the daemon, the new process; at once if this is not
/// process 1.
void leave_first_process_behind();

/// Opens /dev/null for each of 0, 1, 2 that is closed: a later file would get its number, and log
/// lines would go into it. REQUIRES: nothing was opened before.
void ensure_standard_descriptors();

/// The systemd service in a text like /proc/self/cgroup (cgroups(7)): `mcp-bridged@one.service`.
/// Empty if there is none, or its name cannot be pasted into a shell unquoted.
std::string unit_in(std::string_view cgroups);

/// The service that this process belongs to; empty if none.
std::string own_unit();

}  // namespace bridge
