#include "process/first_process.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace bridge {
namespace {

/// Takes what has ended; ends with the daemon.
void reap(pid_t daemon) {
  int status = 0;
  for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid == daemon) _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
  }
}

[[noreturn]] void wait_for_daemon(pid_t daemon, const sigset_t& all) {
  for (;;) {
    siginfo_t info{};
    const int signal = sigwaitinfo(&all, &info);
    if (signal == SIGCHLD) {
      reap(daemon);
    } else if (signal > 0 && info.si_code != SI_KERNEL) {
      kill(daemon, signal);  // one of the terminal's has reached the daemon by itself
    }
  }
}

}  // namespace

void leave_first_process_behind() {
  if (getpid() != 1) return;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  signal(SIGCHLD, SIG_DFL);
  const pid_t daemon = fork();
  if (daemon > 0) wait_for_daemon(daemon, all);
  // Without a second process it goes on as process 1, which is better than not at all.
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (daemon < 0) return;
  const char* const sockets_for = std::getenv("LISTEN_PID");
  if (sockets_for != nullptr && std::string_view(sockets_for) == "1") {
    setenv("LISTEN_PID", std::to_string(getpid()).c_str(), 1);
  }
}

}  // namespace bridge
