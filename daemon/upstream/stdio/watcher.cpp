#include "upstream/stdio/watcher.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "process/process_start.hpp"
#include "upstream/stdio/child_command.hpp"
#include "upstream/stdio/child_runs.hpp"

namespace bridge {

Watcher::Watcher(EventLoop& loop, const ChildCommand& command, ChildRuns& owner) : owner_(owner) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "the watcher's socket");
  }
  // A signal must not reach the copies of the daemon's handlers, which would report it to the
  // daemon.
  int error = 0;
  {
    const SignalsBlocked blocked;
    pid_ = fork();
    if (pid_ == 0) run_watcher(ends[1], command);
    error = errno;
  }
  close(ends[1]);
  if (pid_ < 0) {
    close(ends[0]);
    throw std::system_error(error, std::generic_category(), "the watcher process");
  }
  listen(loop, ends[0]);
}

Watcher::Watcher(EventLoop& loop, int pid, int socket, ChildRuns& owner)
    : owner_(owner), pid_(pid) {
  listen(loop, socket);
}

void Watcher::listen(EventLoop& loop, int socket) {
  socket_ = std::make_unique<DescriptorWatch>(loop, socket,
                                              [this](DescriptorWatch::Event) { readable(); });
  socket_->want(DescriptorWatch::Event::readable);
}

Watcher::~Watcher() {
  socket_.reset();
  // Otherwise it first ends a process, without the daemon.
  waitpid(pid_, nullptr, waits_ ? 0 : WNOHANG);
}

void Watcher::start(std::uint32_t run, const int (&streams)[3]) {
  WatcherOrder order{WatcherOrder::Kind::start, 0, run};
  iovec part{&order, sizeof order};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof streams)]{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof streams);
  std::memcpy(CMSG_DATA(header), streams, sizeof streams);
  sendmsg(socket_->descriptor(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Watcher::signal(std::uint32_t run, int signal) {
  const WatcherOrder order{WatcherOrder::Kind::signal, signal, run};
  send(socket_->descriptor(), &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT);
}

Watcher::FirstReport Watcher::wait_for_first_report(int milliseconds) {
  pollfd ready{socket_->descriptor(), POLLIN, 0};
  const int polled = poll(&ready, 1, milliseconds);
  if (polled <= 0) return {std::nullopt, polled < 0 && errno == EINTR};
  WatcherReport report{};
  const ssize_t length = recv(socket_->descriptor(), &report, sizeof report, MSG_DONTWAIT);
  if (length != sizeof report) return {};
  return {report};
}

void Watcher::readable() {
  WatcherReport report{};
  const ssize_t length = recv(socket_->descriptor(), &report, sizeof report, MSG_DONTWAIT);
  if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR)) {
    waits_ = true;  // it is dead: only its exit status is missing
    owner_.watcher_gone();
    return;
  }
  socket_->want(DescriptorWatch::Event::readable);
  if (length == sizeof report) owner_.watcher_reported(report);
}

namespace {

constexpr int socket_place = 3;
/// The time after SIGTERM for a child whose daemon is gone.
constexpr int last_grace_ms = 1000;
/// How long killed processes are waited for. Only a process that hangs in the kernel takes longer.
constexpr int teardown_ms = 1000;

long now_ms() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000L + time.tv_nsec / 1000000L;
}

/// Why the command could not be executed, from its own process.
struct ExecFault {
  WatcherReport::Kind kind;
  int error;
};

class WatcherProcess {
 public:
  explicit WatcherProcess(const ChildCommand& command) : command_(command) {}

  [[noreturn]] void run() {
    for (;;) {
      pollfd ready[] = {{socket_place, POLLIN, 0}, {children_ended_, POLLIN, 0}};
      if (poll(ready, 2, -1) < 0) continue;
      if (ready[1].revents != 0) {
        reap();
        if (child_ < 0) kill_descendants();
      }
      if (ready[0].revents != 0 && !take_order()) end_with_daemon();
    }
  }

  /// False if the process cannot work.
  bool set_up(int socket) {
    setpgid(0, 0);  // not affected by ^C at the daemon's terminal, or a kill of its group
    prctl(PR_SET_NAME, "mcp-watcher");
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return false;
    if (socket != socket_place && dup2(socket, socket_place) < 0) return false;
    const int nothing = open("/dev/null", O_RDWR);
    if (nothing < 0) return false;
    for (int standard = 0; standard <= 2; ++standard) dup2(nothing, standard);
    closefrom(socket_place + 1);
    if (command_.descriptors()) setrlimit(RLIMIT_NOFILE, &*command_.descriptors());
    sigset_t child_signal;
    sigemptyset(&child_signal);
    sigaddset(&child_signal, SIGCHLD);
    children_ended_ = signalfd(-1, &child_signal, SFD_CLOEXEC | SFD_NONBLOCK);
    fcntl(socket_place, F_SETFD, FD_CLOEXEC);
    return children_ended_ >= 0;
  }

 private:
  void report(WatcherReport::Kind kind, int value) {
    const WatcherReport message{kind, value, run_};
    send(socket_place, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  /// False if the daemon is gone.
  bool take_order() {
    WatcherOrder order{};
    iovec part{&order, sizeof order};
    alignas(cmsghdr) char control[CMSG_SPACE(3 * sizeof(int))];
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t length = recvmsg(socket_place, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (length < 0) return errno == EAGAIN || errno == EINTR;
    if (length != sizeof order) return false;
    if (order.kind == WatcherOrder::Kind::signal) {
      if (child_ > 0 && order.run == run_) kill(-child_, order.signal);
      return true;
    }
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_len != CMSG_LEN(3 * sizeof(int))) return false;
    int streams[3];
    std::memcpy(streams, CMSG_DATA(header), sizeof streams);
    tear_down();
    run_ = order.run;
    start(streams);
    for (const int stream : streams) close(stream);
    return true;
  }

  void start(const int (&streams)[3]) {
    int fault_pipe[2];
    if (pipe2(fault_pipe, O_CLOEXEC) != 0) {
      report(WatcherReport::Kind::cannot_run, errno);
      return;
    }
    // _Fork takes no locks, unlike fork.
    const pid_t pid = _Fork();
    if (pid == 0) become_child(streams, fault_pipe[1]);
    const int fork_error = errno;
    close(fault_pipe[1]);
    ExecFault fault{};
    ssize_t length = 0;
    if (pid > 0) {
      do {
        length = read(fault_pipe[0], &fault, sizeof fault);
      } while (length < 0 && errno == EINTR);
    }
    close(fault_pipe[0]);
    if (pid < 0) {
      report(WatcherReport::Kind::cannot_run, fork_error);
    } else if (length == sizeof fault) {
      waitpid(pid, nullptr, 0);
      report(fault.kind, fault.error);
    } else {
      child_ = pid;
      report(WatcherReport::Kind::started, pid);
    }
  }

  [[noreturn]] void become_child(const int (&streams)[3], int fault_pipe) {
    setsid();  // its own group, without a terminal whose reading would stop it
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int standard = 0; standard <= 2; ++standard) dup2(streams[standard], standard);
    if (fault_pipe != socket_place) dup3(fault_pipe, socket_place, O_CLOEXEC);
    closefrom(socket_place + 1);
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &usual, nullptr);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    ExecFault fault{WatcherReport::Kind::cannot_run, ENOENT};
    if (!command_.folder().empty() && chdir(command_.folder().c_str()) != 0) {
      fault = {WatcherReport::Kind::bad_folder, errno};
    } else {
      for (const std::string& candidate : command_.candidates()) {
        execve(candidate.c_str(), command_.arguments(), command_.environment());
        // As in execvp: "not permitted" is reported rather than "not found".
        if (errno == ENOENT || errno == ENOTDIR) continue;
        fault.error = errno;
        if (errno != EACCES) break;
      }
    }
    [[maybe_unused]] const ssize_t written = write(socket_place, &fault, sizeof fault);
    _exit(127);
  }

  void reap() {
    signalfd_siginfo ignored;
    while (read(children_ended_, &ignored, sizeof ignored) > 0) {
    }
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid != child_) continue;
      child_ = -1;
      kill(-pid, SIGKILL);
      report(WatcherReport::Kind::ended, status);
    }
  }

  /// A descendant that has left the child's group is a child of the watcher, or becomes one when
  /// its parent dies; then this is called again.
  void kill_descendants() {
    const int list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (list < 0) return;
    char text[4096];
    pid_t pid = 0;
    for (ssize_t length = 0; (length = read(list, text, sizeof text)) > 0;) {
      for (ssize_t i = 0; i < length; ++i) {
        if (text[i] >= '0' && text[i] <= '9') {
          pid = pid * 10 + (text[i] - '0');
        } else {
          if (pid > 0) kill(pid, SIGKILL);
          pid = 0;
        }
      }
    }
    close(list);
  }

  static bool has_children() {
    siginfo_t ignored;
    return waitid(P_ALL, 0, &ignored, WEXITED | WNOHANG | WNOWAIT) == 0;
  }

  /// Waits for the end of a child, until then at most.
  void wait_for_end(long deadline) {
    pollfd ready{children_ended_, POLLIN, 0};
    const long left = deadline - now_ms();
    if (left > 0) poll(&ready, 1, static_cast<int>(left));
    reap();
  }

  /// Kills all processes.
  void tear_down() {
    const long deadline = now_ms() + teardown_ms;
    while (has_children() && now_ms() < deadline) {
      if (child_ > 0) kill(-child_, SIGKILL);
      kill_descendants();
      wait_for_end(deadline);
    }
    child_ = -1;
  }

  [[noreturn]] void end_with_daemon() {
    if (child_ > 0) kill(-child_, SIGTERM);
    for (const long deadline = now_ms() + last_grace_ms; child_ > 0 && now_ms() < deadline;) {
      wait_for_end(deadline);
    }
    tear_down();
    _exit(0);
  }

  const ChildCommand& command_;
  pid_t child_ = -1;
  std::uint32_t run_ = 0;
  int children_ended_ = -1;
};

}  // namespace

void run_watcher(int socket, const ChildCommand& command) {
  WatcherProcess process(command);
  if (!process.set_up(socket)) _exit(1);
  process.run();
}

}  // namespace bridge
