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
#include "servers/whole_file.hpp"
#include "terminal/visible.hpp"
#include "verbs/log_output.hpp"
#include "verbs/named_daemon.hpp"
#include "verbs/running_daemon.hpp"

namespace client {
namespace {

/// A daemon ends within 8 seconds, unless it hangs.
constexpr Milliseconds longest_end(10'000);
/// One that is stopped takes no signal.
constexpr Milliseconds longest_end_of_stopped(500);

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
  std::string current{};  ///< the id of the daemon that would be used now; "" if no file names it
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
    return Started{named->server.definition.name, std::move(all), std::move(named->places),
                   instance_of(named->server, environment_variable)};
  }
  // As mcp-nc servers shows it, though no file names it.
  auto places = make_places(environment_variable);
  auto* const known = options.server.empty() ? nullptr : std::get_if<Places>(&places);
  if (known == nullptr) return std::get<NamingFailure>(std::move(found));
  std::vector<Instance> typed = typed_instances(options.server, *known);
  if (typed.empty()) return std::get<NamingFailure>(std::move(found));
  // A record stays when its daemon has ended: the log may still be wanted.
  const auto ended = std::stable_partition(typed.begin(), typed.end(), [&](const Instance& one) {
    const auto connected = connect_to_instance(paths_of(*known, one.id).socket);
    const auto* const failure = std::get_if<ConnectFailure>(&connected);
    return failure == nullptr || !failure->is_absent;
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

bool is_stopped(pid_t process) {
  const FileText facts = read_whole_file(fmt::format("/proc/{}/stat", process), 4096);
  const std::size_t name = facts.text.rfind(')');
  return name != facts.text.npos && facts.text.substr(name + 1).starts_with(" T");
}

/// Ends it in order. Gives why it did not end.
std::optional<NamingFailure> end_process(pid_t process, Deadline deadline) {
  if (process <= 0) {
    return NamingFailure{"its daemon runs where its process cannot be seen", ExitCode::unreachable};
  }
  const FileDescriptor held = hold_process(process);
  if (!held || ::syscall(SYS_pidfd_send_signal, held.get(), SIGTERM, nullptr, 0) != 0) {
    if (errno == ESRCH) return std::nullopt;
    return NamingFailure{fmt::format("pid {}: {}", process, std::strerror(errno)),
                         ExitCode::unreachable};
  }
  if (is_stopped(process))
    deadline = Deadline::earlier(deadline, Deadline::after(longest_end_of_stopped));
  if (await_end(held, deadline)) return std::nullopt;
  const std::string what = is_stopped(process)
                               ? fmt::format("it is stopped: kill -CONT {} lets it end", process)
                               : fmt::format("kill -KILL {} ends it at once", process);
  return NamingFailure{
      fmt::format("pid {} has been told to end, and has not in time ({})", process, what),
      ExitCode::timed_out};
}

/// Ends what listens there. Gives its process, or 0 if nobody does; else why it did not end.
std::variant<pid_t, NamingFailure> end_instance(const Instance& instance, const Places& places,
                                                Deadline deadline) {
  auto connected = connect_to_instance(paths_of(places, instance.id).socket);
  if (const auto* failure = std::get_if<ConnectFailure>(&connected)) {
    if (failure->is_absent) return pid_t{0};
    return NamingFailure{
        fmt::format("its daemon takes no connection any more: {}", failure->message),
        failure->timed_out ? ExitCode::timed_out : ExitCode::unreachable};
  }
  const pid_t process = process_behind(std::get<Connected>(connected).daemon.get());
  connected = ConnectFailure();  // it ends sooner without one
  if (auto failure = end_process(process, deadline)) return std::move(*failure);
  return process;
}

/// The log of the daemon that would be used now; else of another one of the server's.
std::string log_of(const Started& started) {
  const auto log = [&](const std::string& id) { return paths_of(started.places, id).log; };
  const bool has_other = !started.instances.empty();
  if (!started.current.empty() && (!has_other || ::access(log(started.current).c_str(), R_OK) == 0))
    return log(started.current);
  return has_other ? log(started.instances[0].id) : newest_log(started.name, started.places);
}

/// Also one that was typed and has ended: nothing but its log knows of it.
std::variant<Started, NamingFailure> find_with_log(const Options& options) {
  auto found = find_started(options);
  if (std::holds_alternative<Started>(found) || options.server.empty()) return found;
  auto places = make_places(environment_variable);
  auto* const known = std::get_if<Places>(&places);
  const bool has_run = known != nullptr && typed_instances(options.server, *known).empty() &&
                       !newest_log(options.server, *known).empty();
  if (!has_run) return found;
  return Started{options.server, {}, std::move(*known)};
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
  std::optional<NamingFailure> failure;
  for (const Instance& instance : started.instances) {
    auto ended = end_instance(instance, started.places, deadline);
    if (auto* why = std::get_if<NamingFailure>(&ended)) {
      failure = std::move(*why);
      continue;
    }
    forget_ended(instance, started.places);
    const pid_t process = std::get<pid_t>(ended);
    if (process > 0) stopped += fmt::format("{}{}", stopped.empty() ? "" : ",", process);
  }
  if (failure) return report(*failure, options, console);
  if (options.json) console.print(fmt::format("{{\"stopped\":[{}]}}\n", stopped));
  if (stopped.empty() && !options.json) {
    console.note(fmt::format("no daemon runs for @{}", make_visible_line(started.name)));
  }
  return ExitCode::ok;
}

ExitCode show_logs(const Options& options, Console& console) {
  auto found = find_with_log(options);
  if (auto* failure = std::get_if<NamingFailure>(&found)) return report(*failure, options, console);
  const Started& started = std::get<Started>(found);
  const std::string path = log_of(started);
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
