#include "servers/start_daemon.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "json/text.hpp"
#include "servers/input_values.hpp"
#include "servers/last_words.hpp"
#include "system/file_descriptor.hpp"
#include "terminal/visible.hpp"

namespace client {
namespace {

constexpr const char* program = "mcp-bridged";
/// What a daemon gets beyond its standard descriptors, beside the definition.
constexpr int inputs_number = 6;
/// Above those, so that none is written over before it is handed on.
constexpr int lowest_own_number = 10;
constexpr int accepting_ms = 1;
constexpr off_t longest_log = 1 << 20;

constexpr std::string_view always_passed[] = {"HOME", "PATH", "LANG"};
constexpr std::string_view proxies[] = {"http_proxy", "https_proxy", "all_proxy", "no_proxy",
                                        "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"};

std::string error_text(const char* what) {
  return fmt::format("{}: {}", what, std::strerror(errno));
}

FileDescriptor above_the_handed(FileDescriptor low) {
  return FileDescriptor(::fcntl(low.get(), F_DUPFD_CLOEXEC, lowest_own_number));
}

/// A file that is nowhere, with this content, which nobody can change.
FileDescriptor sealed_file(const char* name, const std::string& content) {
  FileDescriptor file =
      above_the_handed(FileDescriptor(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  if (!file) return {};
  if (::write(file.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()))
    return {};
  ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  return file;
}

/// Is readable when something appears in the folder of the socket.
FileDescriptor watch_folder(const Places& places) {
  FileDescriptor watch =
      above_the_handed(FileDescriptor(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)));
  if (!watch || ::inotify_add_watch(watch.get(), places.runtime.c_str(),
                                    IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) < 0)
    return {};
  return watch;
}

/// Nothing is waited for: whoever has its socket is there already.
std::optional<Connected> try_to_connect(const std::string& socket) {
  const Milliseconds at_once(0);
  auto connected = connect_to_daemon({socket}, {}, at_once, Deadline::never());
  if (auto* daemon = std::get_if<Connected>(&connected)) return std::move(*daemon);
  return std::nullopt;
}

std::string text_of_inputs(const std::map<std::string, std::string>& inputs) {
  std::string text;
  for (const auto& [id, value] : inputs)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", json::quote(id), json::quote(value));
  return "{" + text + "}";
}

/// Not longer than it may be when the daemon starts; what it says after that is its own.
FileDescriptor open_log(const std::string& path, off_t& begin) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) == 0 && facts.st_size > longest_log)
    static_cast<void>(std::rename(path.c_str(), (path + ".old").c_str()));
  FileDescriptor log = above_the_handed(FileDescriptor(::open(
      path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600)));
  if (log && ::fstat(log.get(), &facts) == 0) begin = facts.st_size;
  return log;
}

class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  void hand(const FileDescriptor& from, int number) {
    posix_spawn_file_actions_adddup2(&actions_, from.get(), number);
  }
  void open_null(int number) {
    posix_spawn_file_actions_addopen(&actions_, number, "/dev/null", O_RDONLY, 0);
  }
  void enter(const std::string& folder) {
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// A session of its own: what is typed at our terminal is not for it. No signal is blocked or
/// ignored in it.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::string find_daemon_program() {
  std::array<char, 4096> own{};
  const ssize_t length = ::readlink("/proc/self/exe", own.data(), own.size() - 1);
  if (length > 0) {
    std::string beside(own.data(), static_cast<std::size_t>(length));
    beside.erase(beside.rfind('/') + 1);
    beside += program;
    if (::access(beside.c_str(), X_OK) == 0) return beside;
  }
  const char* const path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
    if (folder.empty() || folder.front() != '/') continue;
    std::string candidate = fmt::format("{}/{}", folder, program);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

std::vector<std::string> environment_for(const Definition& definition, char* const* environment) {
  const NamedVariables variables = variables_of(definition);
  const auto is_passed = [&](std::string_view name) {
    const auto is_name = [name](std::string_view other) { return other == name; };
    return std::any_of(std::begin(always_passed), std::end(always_passed), is_name) ||
           std::any_of(std::begin(proxies), std::end(proxies), is_name) ||
           name.starts_with("XDG_") ||
           std::any_of(variables.environment.begin(), variables.environment.end(),
                       [name](const WantedVariable& variable) { return variable.name == name; }) ||
           std::any_of(variables.inputs.begin(), variables.inputs.end(),
                       [name](const WantedInput& input) {
                         return bridge::variable_of_input(input.id) == name;
                       });
  };
  std::vector<std::string> passed;
  for (; *environment != nullptr; ++environment) {
    const std::string_view variable = *environment;
    if (is_passed(variable.substr(0, variable.find('=')))) passed.emplace_back(variable);
  }
  return passed;
}

std::variant<Connected, std::string> start_daemon(const NamedServer& server,
                                                  const std::map<std::string, std::string>& inputs,
                                                  const Places& places, const InstancePaths& paths,
                                                  const StartOptions& options, Deadline deadline) {
  const std::string daemon = find_daemon_program();
  if (daemon.empty()) return fmt::format("there is no {} beside mcp-nc, and none in PATH", program);
  const FileDescriptor watch = watch_folder(places);
  if (!watch) return error_text("cannot watch the folder of its socket");
  const FileDescriptor definition = sealed_file("definition", server.definition.document);
  const FileDescriptor values = sealed_file("inputs", text_of_inputs(inputs));
  if (!definition || !values) return error_text("cannot hand the definition on");
  off_t log_begin = 0;
  const FileDescriptor log = open_log(paths.log, log_begin);
  if (!log) return error_text(("cannot write " + make_visible_line(paths.log)).c_str());

  SpawnActions actions;
  actions.enter(server.folder);
  actions.open_null(STDIN_FILENO);
  actions.hand(log, STDOUT_FILENO);
  actions.hand(log, STDERR_FILENO);
  actions.hand(definition, definition_number);
  std::vector<std::string> words = {daemon,
                                    "--socket",
                                    paths.socket,
                                    "--config",
                                    fmt::format("/proc/self/fd/{}", definition_number),
                                    "--idle-exit",
                                    options.idle_exit};
  if (!inputs.empty()) {
    actions.hand(values, inputs_number);
    words.insert(words.end(), {"--input-file", fmt::format("/proc/self/fd/{}", inputs_number)});
  }
  std::vector<std::string> environment = environment_for(server.definition, environ);
  const SpawnAttributes attributes;
  pid_t process = 0;
  const int error = ::posix_spawn(&process, daemon.c_str(), actions.get(), attributes.get(),
                                  pointers_to(words).data(), pointers_to(environment).data());
  if (error != 0)
    return fmt::format("cannot start {} in {}: {}", make_visible_line(daemon),
                       make_visible_line(server.folder), std::strerror(error));

  const FileDescriptor life(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  for (;;) {
    std::array<pollfd, 2> events = {{{watch.get(), POLLIN, 0}, {life.get(), POLLIN, 0}}};
    // Its socket appears a moment before it accepts.
    const bool is_there = ::access(paths.socket.c_str(), F_OK) == 0;
    const int longest = is_there ? accepting_ms : deadline.poll_timeout();
    const int happened = ::poll(events.data(), events.size(), longest);
    if (happened < 0 && errno != EINTR) return error_text("cannot wait for the daemon");
    std::array<char, 4096> told{};
    while (::read(watch.get(), told.data(), told.size()) > 0) {
    }
    if (auto connected = try_to_connect(paths.socket)) return std::move(*connected);
    if (happened > 0 && events[1].revents != 0) {
      ::waitpid(process, nullptr, 0);
      return last_words_in(paths.log, static_cast<std::size_t>(log_begin),
                           server.file.empty() ? "the server" : server.file)
          .text;
    }
    if (deadline.passed())
      return fmt::format("the daemon (pid {}) is not ready in time; its log is {}", process,
                         make_visible_line(paths.log));
  }
}

}  // namespace client
