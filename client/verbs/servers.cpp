#include "verbs/servers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "connection/connect.hpp"
#include "connection/interrupt.hpp"
#include "json/text.hpp"
#include "servers/approvals.hpp"
#include "servers/instance.hpp"
#include "terminal/visible.hpp"
#include "verbs/log_output.hpp"
#include "verbs/named_daemon.hpp"
#include "verbs/running_daemon.hpp"

namespace client {
namespace {

constexpr Milliseconds longest_end(30'000);

/// The server as it was named, without asking for anything.
struct Named {
  NamedServer server;
  Places places;
};

/// A server with what has been started for it.
struct Started {
  std::string name;
  std::vector<Instance> instances;
  Places places;
};

std::variant<Named, NamingFailure> find_named(const Options& options) {
  auto server = named_server(options);
  if (auto* failure = std::get_if<NamingFailure>(&server)) return std::move(*failure);
  auto places = make_places(environment_variable);
  if (auto* fault = std::get_if<std::string>(&places))
    return NamingFailure{std::move(*fault), ExitCode::unreachable};
  return Named{std::get<NamedServer>(std::move(server)), std::get<Places>(std::move(places))};
}

std::variant<Started, NamingFailure> find_started(const Options& options) {
  auto found = find_named(options);
  if (auto* named = std::get_if<Named>(&found)) {
    std::vector<Instance> all = find_instances(named->places);
    std::erase_if(all, [&](const Instance& one) { return !is_of(one, named->server); });
    return Started{named->server.definition.name, std::move(all), std::move(named->places)};
  }
  // As mcp-nc servers shows it, though no file names it.
  auto places = make_places(environment_variable);
  auto* const known = options.server.empty() ? nullptr : std::get_if<Places>(&places);
  if (known == nullptr) return std::get<NamingFailure>(std::move(found));
  std::vector<Instance> typed = typed_instances(options.server, *known);
  if (typed.empty()) return std::get<NamingFailure>(std::move(found));
  // A record stays when its daemon has ended: the log may still be wanted.
  const auto ended = std::stable_partition(typed.begin(), typed.end(), [&](const Instance& one) {
    return connect_to_instance(paths_of(*known, one.id).socket).has_value();
  });
  if (ended != typed.begin()) typed.erase(ended, typed.end());
  const auto is_other = [&](const Instance& one) { return one.summary != typed[0].summary; };
  if (std::any_of(typed.begin(), typed.end(), is_other)) {
    return NamingFailure{
        fmt::format("no file names @{}, and daemons of several such run: name one "
                    "with --run or --url, as it was when it was started",
                    make_visible_line(options.server))};
  }
  return Started{options.server, std::move(typed), std::move(*known)};
}

/// Ends it in order. Returns why it did not end.
std::string end_process(pid_t process, Deadline deadline) {
  if (process <= 0) return "its daemon runs where its process cannot be seen";
  const FileDescriptor life(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!life || ::syscall(SYS_pidfd_send_signal, life.get(), SIGTERM, nullptr, 0) != 0)
    return errno == ESRCH ? std::string()
                          : fmt::format("pid {}: {}", process, std::strerror(errno));
  pollfd ended = {life.get(), POLLIN, 0};
  for (;;) {
    const int happened = ::poll(&ended, 1, deadline.poll_timeout());
    if (happened > 0) return {};
    if (happened == 0) return fmt::format("pid {} has not ended in time", process);
    if (errno != EINTR) return std::strerror(errno);
  }
}

/// The log of the daemon that would be used now; else of another one of the server's.
std::string log_of(const Options& options, const Started& started) {
  const auto named = find_named(options);
  std::string log;
  if (const auto* server = std::get_if<Named>(&named)) {
    log = paths_of(started.places, instance_of(server->server, environment_variable)).log;
    if (::access(log.c_str(), R_OK) == 0) return log;
  }
  return started.instances.empty() ? log : paths_of(started.places, started.instances[0].id).log;
}

/// What there is to read now.
void print_rest(int log, LogOutput& output) {
  std::array<char, 16384> buffer{};
  for (ssize_t count = 1; count > 0 || errno == EINTR;) {
    count = ::read(log, buffer.data(), buffer.size());
    if (count == 0) return;
    if (count > 0) output.add({buffer.data(), static_cast<std::size_t>(count)});
  }
}

}  // namespace

ExitCode approve_server(const Options& options, Console& console) {
  auto found = find_named(options);
  if (auto* failure = std::get_if<NamingFailure>(&found)) return report(*failure, options, console);
  const Named& named = std::get<Named>(found);
  const std::string name = make_visible_line(named.server.definition.name);
  std::optional<NamingFailure> failure;
  if (is_approved(named.server, named.places)) {
    console.note(fmt::format("@{} needs no approval, or has it", name));
  } else if (options.yes) {
    console.prompt(describe_for_approval(named.server));
    if (std::string fault = approve(named.server, named.places); !fault.empty())
      failure = NamingFailure{std::move(fault), ExitCode::unreachable};
  } else {
    failure = have_approved(named.server, named.places, console);
  }
  if (failure) return report(*failure, options, console);
  if (options.json) console.print(fmt::format("{{\"approved\":{}}}\n", json::quote(name)));
  return ExitCode::ok;
}

ExitCode stop_server(const Options& options, Console& console) {
  auto found = find_started(options);
  if (auto* failure = std::get_if<NamingFailure>(&found)) return report(*failure, options, console);
  const Started& started = std::get<Started>(found);
  const Deadline deadline = Deadline::after(options.timeout.value_or(longest_end));
  std::string stopped;
  for (const Instance& instance : started.instances) {
    const InstancePaths paths = paths_of(started.places, instance.id);
    auto connected = connect_to_instance(paths.socket);
    if (!connected) continue;
    const pid_t process = process_behind(*connected);
    connected.reset();
    if (std::string why = end_process(process, deadline); !why.empty())
      return report({std::move(why), ExitCode::unreachable}, options, console);
    stopped += fmt::format("{}{}", stopped.empty() ? "" : ",", process);
  }
  if (options.json) console.print(fmt::format("{{\"stopped\":[{}]}}\n", stopped));
  if (stopped.empty() && !options.json) {
    console.note(fmt::format("no daemon runs for @{}", make_visible_line(started.name)));
  }
  return ExitCode::ok;
}

ExitCode show_logs(const Options& options, Console& console) {
  auto found = find_started(options);
  if (auto* failure = std::get_if<NamingFailure>(&found)) return report(*failure, options, console);
  const Started& started = std::get<Started>(found);
  const std::string path = log_of(options, started);
  const FileDescriptor log(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY));
  if (!log) {
    return report({fmt::format("@{} has no log yet", make_visible_line(started.name)),
                   ExitCode::answered_error},
                  options, console);
  }
  const FileDescriptor changes(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (options.follow) ::inotify_add_watch(changes.get(), path.c_str(), IN_MODIFY);
  Interrupt interrupt;
  LogOutput output(console, options.json);
  print_rest(log.get(), output);
  while (options.follow && console.output_state() == Sink::Result::ok) {
    std::array<pollfd, 2> events = {
        {{changes.get(), POLLIN, 0}, {interrupt.descriptor(), POLLIN, 0}}};
    if (::poll(events.data(), events.size(), -1) < 0 && errno != EINTR) break;
    if (events[1].revents != 0) break;
    std::array<char, 4096> told{};
    while (::read(changes.get(), told.data(), told.size()) > 0) {
    }
    print_rest(log.get(), output);
  }
  output.finish();
  return ExitCode::ok;
}

}  // namespace client
