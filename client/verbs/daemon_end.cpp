#include "verbs/daemon_end.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "connection/hints.hpp"
#include "servers/last_words.hpp"
#include "servers/places.hpp"
#include "terminal/visible.hpp"
#include "verbs/running_daemon.hpp"

namespace client {
namespace {

/// One that cannot start closes its socket a moment before it says why.
constexpr Milliseconds longest_last_moment(1000);

/// Of the daemon of a socket where those are that mcp-nc starts; "" for any other.
std::string log_behind(std::string_view socket) {
  constexpr std::string_view suffix = ".sock";
  const std::size_t name = socket.rfind('/') + 1;
  if (socket.find("/mcp-bridged") == socket.npos || !socket.ends_with(suffix) ||
      socket.size() - name < suffix.size())
    return {};
  const std::string_view instance = socket.substr(name, socket.size() - name - suffix.size());
  const auto places = make_places(environment_variable);
  const auto* const found = std::get_if<Places>(&places);
  if (found == nullptr) return {};
  const InstancePaths paths = paths_of(*found, instance);
  return paths.socket == socket ? paths.log : std::string();
}

}  // namespace

std::optional<std::string> why_not_started(std::string_view socket, pid_t process) {
  const std::string log = log_behind(socket);
  if (log.empty()) return std::nullopt;
  if (process <= 0) return std::nullopt;
  const FileDescriptor held = hold_process(process);
  if (held ? !await_end(held, Deadline::after(longest_last_moment)) : errno != ESRCH)
    return std::nullopt;
  LastWords words = last_words_in(log, 0, "the server");
  if (!words.is_refusal) return std::nullopt;
  return std::move(words.text);
}

std::string describe_end(std::string_view socket, pid_t process) {
  if (const auto why = why_not_started(socket, process))
    return fmt::format("it could not start: {}", *why);
  const std::string log = log_behind(socket);
  return log.empty() ? describe_hang_up(socket)
                     : fmt::format("it has ended; {} tells why", make_visible_line(log));
}

}  // namespace client
