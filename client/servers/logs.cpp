// mcp-nc logs: the logs of a server's daemons.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>

#include <array>
#include <cerrno>

#include "connection/typed_line.hpp"
#include "render/failure.hpp"
#include "render/lines.hpp"
#include "servers/instance.hpp"
#include "system/signals.hpp"

namespace client {
namespace {

/// The log of the daemon that would be used now; else of another daemon of the server.
std::string log_of(const Started& started) {
  const auto log = [&](const std::string& id) { return paths_of(started.places, id).log; };
  const bool has_other = !started.instances.empty();
  if (!started.current.empty() && (!has_other || ::access(log(started.current).c_str(), R_OK) == 0))
    return log(started.current);
  return has_other ? log(started.instances[0].id) : newest_log(started.name, started.places);
}

/// Also finds a typed server whose daemon has ended, of which only the log remains.
std::variant<Started, Failure> find_with_log(const Options& options) {
  auto found = find_started(options);
  if (std::holds_alternative<Started>(found) || options.server.empty()) return found;
  auto places = make_places(environment_variable);
  auto* const known = std::get_if<Places>(&places);
  const bool has_run = known != nullptr && typed_instances(options.server, *known).empty() &&
                       !newest_log(options.server, *known).empty();
  if (!has_run) return found;
  return Started{options.server, {}, std::move(*known)};
}

constexpr std::size_t longest_line = 1 << 20;  // longer lines are printed in pieces

/// Prints what can be read now: unchanged, or each whole line as `{"line":…}`.
void print_rest(InputLines& log, bool as_json, Console& console) {
  while (log.read()) {
    while (const auto line = as_json ? log.next() : std::nullopt)
      console.print(log_line_object(*line));
    if (!as_json) console.print(log.take_begun());
    if (log.begun().size() > longest_line) console.print(log_line_object(log.take_begun()));
  }
}

}  // namespace

ExitCode show_logs(const Options& options, Console& console) {
  auto found = find_with_log(options);
  if (auto* failure = std::get_if<Failure>(&found)) return tell_failure(console, options, *failure);
  const Started& started = std::get<Started>(found);
  const std::string path = log_of(started);
  const FileDescriptor log(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY));
  if (!log) {
    return tell_failure(
        console, options,
        naming_failure(fmt::format("no log of @{} yet", started.name), ExitCode::answered_error));
  }
  const FileDescriptor changes(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (options.follow) ::inotify_add_watch(changes.get(), path.c_str(), IN_MODIFY);
  Interrupt interrupt;
  InputLines lines(log.get());
  print_rest(lines, options.json, console);
  while (options.follow && console.output_state() == Sink::Result::ok) {
    std::array<pollfd, 2> events = {
        {{changes.get(), POLLIN, 0}, {interrupt.descriptor(), POLLIN, 0}}};
    if (::poll(events.data(), events.size(), -1) < 0 && errno != EINTR) break;
    if (events[1].revents != 0) break;
    std::array<char, 4096> told{};
    while (::read(changes.get(), told.data(), told.size()) > 0) {
    }
    print_rest(lines, options.json, console);
  }
  if (!lines.begun().empty()) console.print(log_line_object(lines.take_begun()));
  return ExitCode::ok;
}

}  // namespace client
