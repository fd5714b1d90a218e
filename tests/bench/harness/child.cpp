#include "harness/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace bench {
namespace {

constexpr int start_timeout_ms = 20'000;
constexpr auto stop_timeout = std::chrono::seconds(10);

std::vector<char*> arguments_of(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& one : command) arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

std::string read_first_line(int fd, const std::string& program) {
  std::string line;
  pollfd ready{fd, POLLIN, 0};
  while (poll(&ready, 1, start_timeout_ms) > 0) {
    char c = 0;
    if (read(fd, &c, 1) != 1) break;
    if (c == '\n') return line;
    line += c;
  }
  throw std::runtime_error(program + " did not start");
}

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
    from = Descriptor(ends[0]);
    to = Descriptor(ends[1]);
  }
  Descriptor from, to;
};

/// Killed when this process dies.
pid_t start(const std::vector<std::string>& command, int input, int output, int errors) {
  const auto arguments = arguments_of(command);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) fail("fork");
  if (pid > 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

Child::Child(const std::vector<std::string>& command, const std::string& log, bool wants_line) {
  const Descriptor errors(open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (errors.get() < 0) fail("open the log");
  Pipe line;
  pid_ = start(command, STDIN_FILENO, wants_line ? line.to.get() : errors.get(), errors.get());
  line.to.reset();
  if (wants_line) first_line_ = read_first_line(line.from.get(), command[0]);
}

PipedChild::PipedChild(const std::vector<std::string>& command) {
  Pipe in, out;
  pid_ = start(command, in.from.get(), out.to.get(), STDERR_FILENO);
  input_ = std::move(in.to);
  output_ = std::move(out.from);
}

PipedChild::~PipedChild() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

Child::~Child() { stop(); }

void Child::stop() {
  if (pid_ < 0) return;
  kill(pid_, SIGTERM);
  const auto deadline = std::chrono::steady_clock::now() + stop_timeout;
  while (waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) kill(pid_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  pid_ = -1;
}

double time_process(const std::vector<std::string>& command) {
  const auto arguments = arguments_of(command);
  const Descriptor nowhere(open("/dev/null", O_RDWR | O_CLOEXEC));
  const auto begin = std::chrono::steady_clock::now();
  const pid_t pid = vfork();
  if (pid < 0) fail("vfork");
  if (pid == 0) {
    dup2(nowhere.get(), STDOUT_FILENO);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) fail("waitpid");
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  if (status != 0) throw std::runtime_error(command[0] + " failed");
  return took.count();
}

PinnedToOneCpu::PinnedToOneCpu(int number) : before_(sizeof(cpu_set_t)) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) fail("sched_getaffinity");
  std::memcpy(before_.data(), &set, sizeof set);
  std::size_t cpu = 0;
  while (cpu < CPU_SETSIZE && (!CPU_ISSET(cpu, &set) || number-- > 0)) ++cpu;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) fail("sched_setaffinity");
}

PinnedToOneCpu::~PinnedToOneCpu() {
  cpu_set_t set;
  std::memcpy(&set, before_.data(), sizeof set);
  sched_setaffinity(0, sizeof set, &set);
}

int cpu_count() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) fail("sched_getaffinity");
  return CPU_COUNT(&set);
}

}  // namespace bench
