// mcp-nc stop: ends the daemons of a server.
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>

#include "base/secret_file.hpp"
#include "render/failure.hpp"
#include "servers/instance.hpp"
#include "text/visible_text.hpp"

namespace client {
namespace {

/// A daemon ends within 8 seconds, unless it hangs.
constexpr Milliseconds longest_end(10'000);
/// A stopped (SIGSTOP) process does not handle signals.
constexpr Milliseconds longest_end_of_stopped(500);

bool is_stopped(pid_t process) {
  const std::string facts =
      bridge::read_regular_file(fmt::format("/proc/{}/stat", process), 4096).bytes;
  const std::size_t name = facts.rfind(')');
  return name != facts.npos && facts.substr(name + 1).starts_with(" T");
}

/// Ends it in order. Returns why it did not end, if so.
std::optional<Failure> end_process(pid_t process, Deadline deadline) {
  if (process <= 0) {
    return naming_failure("cannot stop the daemon: its process is in another PID namespace",
                          ExitCode::unreachable);
  }
  const FileDescriptor held = hold_process(process);
  if (!held || ::syscall(SYS_pidfd_send_signal, held.get(), SIGTERM, nullptr, 0) != 0) {
    if (errno == ESRCH) return std::nullopt;
    return naming_failure(
        fmt::format("cannot stop the daemon (pid {}): {}", process, std::strerror(errno)),
        ExitCode::unreachable);
  }
  if (is_stopped(process))
    deadline = Deadline::earlier(deadline, Deadline::after(longest_end_of_stopped));
  if (await_end(held, deadline)) return std::nullopt;
  const std::string what = is_stopped(process)
                               ? fmt::format("it is stopped: kill -CONT {} lets it end", process)
                               : fmt::format("kill -KILL {} ends it at once", process);
  return naming_failure(
      fmt::format("cannot stop the daemon (pid {}): it still runs after SIGTERM ({})", process,
                  what),
      ExitCode::timed_out);
}

/// Ends the daemon of an instance. Returns its process, 0 if none runs, or why it did not end.
std::variant<pid_t, Failure> end_instance(const Instance& instance, const Places& places,
                                          Deadline deadline) {
  auto connected = connect_to_instance(paths_of(places, instance.id).socket);
  if (const auto* failure = std::get_if<ConnectFailure>(&connected)) {
    if (failure->is_absent) return pid_t{0};
    return naming_failure(fmt::format("cannot stop the daemon: {}", failure->message),
                          failure->timed_out ? ExitCode::timed_out : ExitCode::unreachable);
  }
  const pid_t process = process_behind(std::get<Connected>(connected).daemon.get());
  connected = ConnectFailure();  // disconnecting first makes it end sooner
  if (auto failure = end_process(process, deadline)) return std::move(*failure);
  return process;
}

}  // namespace

ExitCode stop_server(const Options& options, Console& console) {
  auto found = find_started(options);
  if (auto* failure = std::get_if<Failure>(&found)) return tell_failure(console, options, *failure);
  const Started& started = std::get<Started>(found);
  const Deadline deadline = Deadline::after(options.timeout.value_or(longest_end));
  json::JsonArray stopped;
  std::optional<Failure> failure;
  for (const Instance& instance : started.instances) {
    auto ended = end_instance(instance, started.places, deadline);
    if (auto* why = std::get_if<Failure>(&ended)) {
      failure = std::move(*why);
      continue;
    }
    forget_ended(instance, started.places);
    const pid_t process = std::get<pid_t>(ended);
    if (process > 0) stopped.add(json::RawJson{std::to_string(process)});
  }
  if (failure) return tell_failure(console, options, *failure);
  if (options.json) {
    console.print(json::JsonObject().add("stopped", stopped).text() + "\n");
  } else {
    const std::string name = started.name;
    if (stopped.is_empty()) console.note(fmt::format("no daemon runs for @{}", name));
    if (!stopped.is_empty()) console.remark(fmt::format("stopped the daemon of @{}", name));
  }
  return ExitCode::ok;
}

}  // namespace client
