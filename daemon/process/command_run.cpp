#include "process/command_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {
namespace {

/// With the equals sign: one variable; without: every variable with this prefix.
constexpr std::array<std::string_view, 10> withheld = {
    "MCP_SERVER_TOKEN=", "MCP_BRIDGE_HEADER=",     "MCP_BRIDGE_INPUT=",
    "MCP_INPUT_",        "NOTIFY_SOCKET=",         "LISTEN_",
    "WATCHDOG_",         "CREDENTIALS_DIRECTORY=", "MAINPID=",
    "MCP_NC_GRANT=",
};

}  // namespace

std::vector<std::string> child_environment(const char* const* environment) {
  std::vector<std::string> kept;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view variable(*environment);
    const bool is_withheld = std::any_of(withheld.begin(), withheld.end(), [&](auto beginning) {
      return variable.starts_with(beginning);
    });
    if (!is_withheld) kept.emplace_back(variable);
  }
  return kept;
}

namespace {

void close_if_open(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

/// Sets our limit while a process is started, which inherits it: posix_spawn cannot set it for the
/// child alone. Descriptors above it stay open.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(const std::optional<rlimit>& wanted) {
    changed_ = wanted && getrlimit(RLIMIT_NOFILE, &before_) == 0 &&
               setrlimit(RLIMIT_NOFILE, &*wanted) == 0;
  }
  ~DescriptorLimit() {
    if (changed_) setrlimit(RLIMIT_NOFILE, &before_);
  }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

 private:
  rlimit before_{};
  bool changed_ = false;
};

}  // namespace

SpawnedShell spawn_shell(const std::string& command, const std::optional<rlimit>& limit) {
  return spawn_process({"/bin/sh", {"sh", "-c", command}, child_environment(environ), {}}, limit);
}

SpawnedShell spawn_process(ProcessOrder order, const std::optional<rlimit>& limit) {
  SpawnedShell shell;
  int out[2] = {-1, -1};
  int err[2] = {-1, -1};
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
    shell.error = errno;
  } else {
    auto& descriptors = order.descriptors;
    descriptors.insert(descriptors.begin(), {{out[1], STDOUT_FILENO}, {err[1], STDERR_FILENO}});
    const DescriptorLimit during_the_start(limit);
    shell.error = spawn(shell.pid, std::move(order));
  }
  close_if_open(out[1]);
  close_if_open(err[1]);
  if (shell.error == 0) {
    shell.pidfd = static_cast<int>(syscall(SYS_pidfd_open, shell.pid, 0));
    if (shell.pidfd < 0) {
      // Its end could not be noticed. Kernels since 5.3 have pidfd; a filter may forbid it.
      shell.error = errno;
      kill(-shell.pid, SIGKILL);
      waitpid(shell.pid, nullptr, 0);
      shell.pid = -1;
    }
  }
  if (shell.error != 0) {
    close_if_open(out[0]);
    close_if_open(err[0]);
    return shell;
  }
  shell.out = out[0];
  shell.err = err[0];
  fcntl(shell.out, F_SETFL, O_NONBLOCK);
  fcntl(shell.err, F_SETFL, O_NONBLOCK);
  return shell;
}

namespace {

/// A killed process: the loop collects its exit status when it is available.
class Killed {
 public:
  Killed(EventLoop& loop, pid_t pid, int pidfd)
      : pid_(pid), watch_(loop, pidfd, [this, &loop](DescriptorWatch::Event) {
          if (waitpid(pid_, nullptr, WNOHANG) == 0) {
            watch_.want(DescriptorWatch::Event::readable);
          } else {
            loop.disown(this);
          }
        }) {
    watch_.want(DescriptorWatch::Event::readable);
  }

 private:
  pid_t pid_;
  DescriptorWatch watch_;
};

void reap_later(EventLoop& loop, pid_t pid, int pidfd) {
  try {
    loop.own(std::make_unique<Killed>(loop, pid, pidfd));
  } catch (const std::exception&) {
    waitpid(pid, nullptr, 0);  // no descriptor left to watch it with; it ends at once
  }
}

}  // namespace

CommandRun::CommandRun(EventLoop& loop, const std::string& command, const CommandLimits& limits,
                       Done done)
    : CommandRun(loop, spawn_shell(command, limits.descriptors), limits, std::move(done)) {}

CommandRun::CommandRun(EventLoop& loop, const SpawnedShell& shell, const CommandLimits& limits,
                       Done done)
    : loop_(loop), limits_(limits), done_(std::move(done)), deadline_(loop, [this] { finish(); }) {
  if (shell.error != 0) {
    output_.fault = fmt::format("cannot be started: {}", std::strerror(shell.error));
    deadline_.set(loop_.now());
    return;
  }
  pid_ = shell.pid;
  process_ = std::make_unique<DescriptorWatch>(loop_, shell.pidfd,
                                               [this](DescriptorWatch::Event) { exited(); });
  watch(shell.out, shell.err);
  process_->want(DescriptorWatch::Event::readable);
  output_.fault = fmt::format("did not end within {} ms", limits_.time.count());
  deadline_.set_after(limits_.time);
}

CommandRun::~CommandRun() {
  if (pid_ < 0) return;
  kill(-pid_, SIGKILL);
  if (waitpid(pid_, nullptr, WNOHANG) == 0) reap_later(loop_, pid_, process_->release());
}

void CommandRun::watch(int out, int err) {
  out_ = std::make_unique<DescriptorWatch>(
      loop_, out, [this](DescriptorWatch::Event) { readable(out_, output_.out, limits_.out); });
  err_ = std::make_unique<DescriptorWatch>(
      loop_, err, [this](DescriptorWatch::Event) { readable(err_, output_.err, limits_.err); });
  out_->want(DescriptorWatch::Event::readable);
  err_->want(DescriptorWatch::Event::readable);
}

/// Reads once; one byte over the limit is kept, to show that there was more. Returns whether more
/// may follow.
bool CommandRun::take(DescriptorWatch& from, std::string& into, std::size_t limit) {
  std::array<char, 4096> buffer;
  const ssize_t count = read(from.descriptor(), buffer.data(), buffer.size());
  if (count <= 0) return count < 0 && (errno == EINTR || errno == EAGAIN);
  const std::size_t room = limit + 1 - std::min(limit + 1, into.size());
  into.append(buffer.data(), std::min(room, static_cast<std::size_t>(count)));
  return true;
}

void CommandRun::readable(std::unique_ptr<DescriptorWatch>& from, std::string& into,
                          std::size_t limit) {
  if (!take(*from, into, limit)) {
    from.reset();
  } else if (output_.out.size() > limits_.out) {
    output_.fault = fmt::format("wrote more than {} bytes", limits_.out);
    finish();
  } else {
    from->want(DescriptorWatch::Event::readable);
  }
}

/// Reads what is in the pipe, but not what is written to it meanwhile.
void CommandRun::drain(std::unique_ptr<DescriptorWatch>& from, std::string& into,
                       std::size_t limit) {
  for (int i = 0; from && i < 32; ++i) {
    errno = 0;
    if (!take(*from, into, limit))
      from.reset();
    else if (errno == EAGAIN)
      break;
  }
}

void CommandRun::exited() {
  int status = 0;
  const pid_t reaped = waitpid(pid_, &status, WNOHANG);
  if (reaped == 0) {
    process_->want(DescriptorWatch::Event::readable);
    return;
  }
  pid_ = -1;
  output_.fault.clear();
  if (reaped < 0) {
    output_.fault = fmt::format("its exit status is lost: {}", std::strerror(errno));
  } else if (WIFSIGNALED(status)) {
    output_.fault = fmt::format("was ended by signal {}", WTERMSIG(status));
  } else if (WEXITSTATUS(status) != 0) {
    output_.fault = fmt::format("ended with exit code {}", WEXITSTATUS(status));
  }
  finish();
}

void CommandRun::finish() {
  deadline_.clear();
  drain(out_, output_.out, limits_.out);
  drain(err_, output_.err, limits_.err);
  out_.reset();
  err_.reset();
  if (output_.out.size() > limits_.out && output_.fault.empty()) {
    output_.fault = fmt::format("wrote more than {} bytes", limits_.out);
  }
  if (output_.err.size() > limits_.err) {
    // A cut line could contain part of a secret that is recognizable only as a whole.
    const auto end = output_.err.rfind('\n');
    output_.err.resize(end == std::string::npos ? 0 : end);
  }
  const Done done = std::move(done_);
  const CommandOutput output = std::move(output_);
  done(output);
}

}  // namespace bridge
