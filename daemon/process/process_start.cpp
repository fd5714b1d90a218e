#include "process/process_start.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace bridge {
namespace {

constexpr char redaction = '*';

using Parts = std::vector<std::pair<std::size_t, std::size_t>>;

Parts secrets_of_url(std::string_view url) {
  Parts parts;
  const auto scheme = url.find("://");
  const auto begin = scheme == url.npos ? 0 : scheme + 3;
  const auto path = std::min(url.find_first_of("/?#", begin), url.size());
  const auto at = url.substr(0, path).rfind('@');
  if (at != url.npos && at > begin) parts.emplace_back(begin, at - begin);
  const auto query = url.find('?', begin);
  if (query != url.npos) parts.emplace_back(query + 1, url.size() - query - 1);
  return parts;
}

/// Everything after the first `separator`; without one the whole value.
Parts secrets_behind(std::string_view value, char separator) {
  const auto found = value.find(separator);
  const auto begin = found == value.npos ? 0 : found + 1;
  if (begin == value.size()) return {};
  return {{begin, value.size() - begin}};
}

Parts secrets_of_value(std::string_view option, std::string_view value) {
  if (option == "--header") return secrets_behind(value, ':');
  if (option == "--input") return secrets_behind(value, '=');
  if (option == "--url") return secrets_of_url(value);
  return {};
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> secret_parts(std::string_view previous,
                                                              std::string_view argument) {
  const auto equals = argument.find('=');
  if (!argument.starts_with("--") || equals == argument.npos)
    return secrets_of_value(previous, argument);
  auto parts = secrets_of_value(argument.substr(0, equals), argument.substr(equals + 1));
  for (auto& [begin, length] : parts) begin += equals + 1;
  return parts;
}

std::vector<std::string> redacted_arguments(std::vector<std::string> arguments) {
  const std::vector<std::string> given = arguments;
  for (std::size_t i = 1; i < given.size() && given[i] != "--"; ++i) {
    for (const auto& [begin, length] : secret_parts(given[i - 1], given[i]))
      arguments[i].replace(begin, length, length, redaction);
  }
  return arguments;
}

ProcessStart::ProcessStart(int argc, char** argv)
    : original_arguments_(argv), original_environ_(environ), arguments_(argv, argv + argc) {
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    original_environment_.push_back(*variable);
    environment_.emplace_back(*variable);
  }
  argument_pointers_ = pointers_to(arguments_);
  environment_pointers_ = pointers_to(environment_);
  environ = environment_pointers_.data();
}

void ProcessStart::continue_from(std::vector<std::string> arguments,
                                 std::vector<std::string> environment) {
  arguments_ = std::move(arguments);
  environment_ = std::move(environment);
  argument_pointers_ = pointers_to(arguments_);
  environment_pointers_ = pointers_to(environment_);
  environ = environment_pointers_.data();
}

ProcessStart::~ProcessStart() { environ = original_environ_; }

void ProcessStart::redact_originals() {
  for (char* const variable : original_environment_) {
    char* const equals = std::strchr(variable, '=');
    if (equals != nullptr) explicit_bzero(equals + 1, std::strlen(equals + 1));
  }
  // The words after `--` belong to the local server.
  for (std::size_t i = 1; i < arguments_.size() && arguments_[i] != "--"; ++i) {
    for (const auto& [begin, length] : secret_parts(arguments_[i - 1], arguments_[i]))
      std::memset(original_arguments_[i] + begin, redaction, length);
  }
}

void name_process(const std::string& program) {
  prctl(PR_SET_NAME, program.substr(program.rfind('/') + 1).c_str(), 0, 0, 0);
}

void let_be_inspected(bool may) { prctl(PR_SET_DUMPABLE, may ? 1 : 0, 0, 0, 0); }

namespace {

/// Reaps ended processes; exits with the daemon.
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
      kill(daemon, signal);  // the terminal's signals reach the daemon directly
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
  // If fork fails it continues as process 1, which is better than not running.
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (daemon < 0) return;
  const char* const sockets_for = std::getenv("LISTEN_PID");
  if (sockets_for != nullptr && std::string_view(sockets_for) == "1") {
    setenv("LISTEN_PID", std::to_string(getpid()).c_str(), 1);
  }
}

void ensure_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    // open() uses the lowest free number, the missing one. It stays open for child processes.
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
      static_cast<void>(open("/dev/null", O_RDWR));
  }
}

namespace {

constexpr std::string_view suffix = ".service";
constexpr std::string_view plain =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:@";

}  // namespace

std::string unit_in(std::string_view cgroups) {
  while (!cgroups.empty()) {
    const std::size_t end = std::min(cgroups.find('\n'), cgroups.size());
    const std::string_view line = cgroups.substr(0, end);
    cgroups.remove_prefix(std::min(end + 1, cgroups.size()));
    const std::string_view name = line.substr(line.rfind('/') + 1);
    if (name.ends_with(suffix) && name.size() > suffix.size() &&
        name.find_first_not_of(plain) == name.npos)
      return std::string(name);
  }
  return {};
}

std::string own_unit() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/cgroup", "re"),
                                                             &std::fclose);
  if (!file) return {};
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  return unit_in(text);
}

}  // namespace bridge
