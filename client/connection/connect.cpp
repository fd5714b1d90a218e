#include "connection/connect.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/socket.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/contains.hpp"
#include "base/random.hpp"
#include "json/document.hpp"
#include "json/json_object.hpp"
#include "process/socket_address.hpp"
#include "system/signals.hpp"

namespace client {
namespace {

constexpr std::size_t longest_path = 107;  // sun_path holds 108 bytes with the NUL
constexpr std::string_view default_paths[] = {"/tmp/mcp.sock", "/run/mcp-bridged/mcp.sock"};
constexpr int first_pause_ms = 1;
constexpr int longest_pause_ms = 50;
constexpr Milliseconds longest_opening{5000};  // of pipes by a daemon that runs

/// The outcome of an attempt to connect.
struct Attempt {
  int error = 0;     ///< errno, or one that stands for a cause (explanations); 0: connected
  std::string path;  ///< of the socket, or of the folder of pipes
  int why_not_made = 0;
  DaemonStream stream{};
  std::optional<ucred> server{};  ///< who serves it, if known
};

enum Cause { forbidden = EPERM, not_pipes = ENXIO, not_made = EROFS, not_opened = ETIMEDOUT };

/// Why there is no connection, and what to do, for a person: the table in TROUBLESHOOTING.md,
/// "Between mcp-nc and the daemon".
struct Explanation {
  int error;
  std::string_view late;  ///< when the time is up; empty: it is not tried again
  std::string_view text;  ///< {0} path, {1} all of them, {2} another socket, {3} --wait, {4} log,
                          ///< {5} way_in(), {6} error
};
constexpr Explanation explanations[] = {
    {ENOENT, "the socket is not there",
     "cannot connect to {1}: no such file; is mcp-bridged running? ({2}{3})"},
    {ECONNREFUSED, "the socket is not there",
     "cannot connect to {0}: connection refused; is mcp-bridged running? see {4}{3}"},
    {EAGAIN, "the daemon has too many clients", ""},
    {ENOTSOCK, "", "cannot connect to {0}: not a socket ({2})"},
    {EPROTOTYPE, "", "cannot connect to {0}: not a stream socket ({2})"},
    {EACCES, "", "cannot connect to {0}: permission denied; {5}"},
    {forbidden, "",
     "cannot connect to {0}: this sandbox forbids Unix sockets; use pipes in a folder that it "
     "may write (mcp-bridged --pipes DIR, mcp-nc -s DIR), or allow Unix sockets in its settings"},
    {not_pipes, "", "cannot connect to {0}: mcp-bridged --pipes has not made this folder"},
    {not_made, "",
     "cannot make pipes in {0}: {6}; the sandbox must let you write there; for other users "
     "than the daemon's start it with --pipes-mode 1733"},
    {not_opened, "no daemon has opened the pipes",
     "cannot connect to {0}: no daemon has opened the pipes; is mcp-bridged --pipes running, "
     "with fewer than --max-clients?{3}"},
    {0, "", "cannot connect to {0}: {6} ({2})"},
};

const Explanation& explanation_of(int error) {
  return *std::find_if(std::begin(explanations), std::prev(std::end(explanations)),
                       [error](const Explanation& one) { return one.error == error; });
}

constexpr std::string_view units_folder = "/run/mcp-bridged/";
constexpr std::string_view socket_suffix = ".sock";
constexpr std::string_view other_socket = "-s or MCP_SOCKET_PATH names another socket";

bool is_in_group(gid_t group) {
  if (::getegid() == group) return true;
  const int count = ::getgroups(0, nullptr);
  std::vector<gid_t> groups(count > 0 ? static_cast<std::size_t>(count) : 0);
  if (groups.empty() || ::getgroups(count, groups.data()) < 0) return false;
  return bridge::contains(groups, group);
}

/// How this user could get access, from the socket's mode and owner.
std::string way_in(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    return fmt::format("this user may not enter its folder; {}", other_socket);
  const bool serves_group = (status.st_mode & S_IWGRP) != 0;
  if (serves_group && !is_in_group(status.st_gid)) {
    const auto group = group_name(status.st_gid);
    if (!group) {
      return fmt::format("it belongs to the group {0}: run with it (docker: --group-add {0})",
                         status.st_gid);
    }
    return fmt::format("it belongs to the group {0}: adduser {1} {0} (as root), then log in again",
                       *group, user_name(::geteuid()).value_or("USER"));
  }
  return fmt::format(
      "only {} may connect: run as that user, or start mcp-bridged with --socket-group and "
      "--socket-mode 0660",
      describe_user(status.st_uid));
}

/// Where to read what is wrong with the daemon of that socket: "journalctl -u mcp-bridged", or its
/// log. For a person.
std::string where_its_log_is(std::string_view path) {
  const std::string unit = unit_of(path);
  return unit.empty() ? "its log" : fmt::format("journalctl -u {}", unit);
}

/// `paths` were tried. `waited`: for the duration of --wait.
std::string explain(const Attempt& attempt, const std::vector<std::string>& paths, bool waited) {
  return fmt::format(
      fmt::runtime(explanation_of(attempt.error).text), attempt.path,
      fmt::format("{}", fmt::join(paths, " or ")), other_socket,
      waited ? "" : "; --wait 10s waits for it", where_its_log_is(attempt.path),
      way_in(attempt.path),
      std::strerror(attempt.why_not_made != 0 ? attempt.why_not_made : attempt.error));
}

/// The names of one client's pipes (PIPES.md); removes what the daemon has not.
class PipeNames {
 public:
  explicit PipeNames(int folder) : folder_(folder), name_(bridge::random_hex(16)) {}
  ~PipeNames() {
    for (const char* const end : {".out", ".in"}) {
      ::unlinkat(folder_, hidden(end).c_str(), 0);
      ::unlinkat(folder_, shown(end).c_str(), 0);
    }
  }
  PipeNames(const PipeNames&) = delete;
  PipeNames& operator=(const PipeNames&) = delete;

  std::string shown(const char* end) const { return name_ + end; }
  FileDescriptor make(const char* end, mode_t mode, int access) const {
    const std::string made = hidden(end);
    if (::mkfifoat(folder_, made.c_str(), mode) != 0 ||
        ::fchmodat(folder_, made.c_str(), mode, 0) != 0)  // whatever the umask is
      return {};
    return FileDescriptor(::openat(folder_, made.c_str(), access | O_NONBLOCK | O_CLOEXEC));
  }
  bool publish(const char* end) const {
    return ::renameat(folder_, hidden(end).c_str(), folder_, shown(end).c_str()) == 0;
  }

 private:
  std::string hidden(const char* end) const { return "." + name_ + end; }

  int folder_;
  std::string name_;
};

/// Makes pipes and waits until the daemon has opened them: it removes their names.
Attempt try_pipes(const std::string& folder, Deadline until) {
  const SignalDescriptor signals({SIGHUP, SIGINT, SIGTERM});  // they wait until no name is left
  const FileDescriptor place(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat status {};
  struct stat lock {};
  errno = 0;
  if (!place || ::fstat(place.get(), &status) != 0 ||
      ::fstatat(place.get(), ".lock", &lock, AT_SYMLINK_NOFOLLOW) != 0 ||
      lock.st_uid != status.st_uid)
    return {errno == EACCES ? not_made : not_pipes, folder, errno};
  const uid_t server = status.st_uid;
  const bool is_private = server == 0 || server == ::geteuid();
  const PipeNames names(place.get());
  FileDescriptor out = names.make(".out", is_private ? 0600 : 0602, O_RDONLY);
  // Open for both directions, so that it needs no reader, and until the daemon has it.
  FileDescriptor in = out ? names.make(".in", is_private ? 0600 : 0604, O_RDWR) : FileDescriptor();
  if (!in || !names.publish(".out") || !names.publish(".in")) return {not_made, folder, errno};
  // Makes it known at once, where there is one.
  const FileDescriptor watch(::inotify_init1(IN_CLOEXEC));
  ::inotify_add_watch(watch.get(), (folder + "/" + names.shown(".in")).c_str(), IN_ATTRIB);
  pollfd watched[] = {{signals.descriptor(), POLLIN, 0}, {watch.get(), POLLIN, 0}};
  for (int ms = first_pause_ms; ::fstat(in.get(), &status) != 0 || status.st_nlink != 0; ms *= 2) {
    if (until.passed() || watched[0].revents != 0) return {not_opened, folder};
    const Deadline pause = Deadline::after(Milliseconds(ms = std::min(ms, longest_pause_ms)));
    ::poll(watched, 2, Deadline::earlier(until, pause).poll_timeout());
  }
  return {0, folder, 0, {std::move(out), std::move(in)}, ucred{0, server, 0}};
}

/// A path that is a folder is one of pipes; otherwise they are used where the socket is forbidden.
/// `pipes`: their folder, if not that of the socket.
Attempt try_path(const std::string& path, const std::string& pipes, Deadline until) {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const bool is_made = static_cast<bool>(socket);
  const bridge::SocketAddress address(path);
  if (is_made && ::connect(socket.get(), address.get(), address.length) == 0) {
    const auto peer = peer_of(socket.get());
    return {0, path, 0, std::move(socket), peer};
  }
  const int error = errno;
  struct stat status {};
  const bool is_there = ::stat(path.c_str(), &status) == 0;
  if (is_there && S_ISDIR(status.st_mode)) return try_pipes(path, until);
  if (error == EINTR) return {EAGAIN, path};
  if (error == ECONNREFUSED && is_there && !S_ISSOCK(status.st_mode)) return {ENOTSOCK, path};
  if (error != EACCES && error != EPERM && error != EAFNOSUPPORT) return {error, path};
  Attempt other = try_pipes(pipes.empty() ? path + ".pipes" : pipes, until);
  // Where the socket's mode lets this user connect, something else forbids it.
  const bool is_by_mode =
      is_made && !(is_there && (status.st_uid == ::geteuid() ||
                                ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0));
  if (!pipes.empty() || (other.error != not_pipes && (other.error != not_made || !is_by_mode)))
    return other;
  return {is_by_mode ? EACCES : forbidden, path};
}

/// Connects to the first of the paths that exists; else to none, for the first reason.
Attempt try_all(const std::vector<std::string>& paths, const std::string& pipes, Deadline until) {
  Attempt first{ENOENT, paths.front()};
  for (const std::string& path : paths) {
    Attempt attempt = try_path(path, pipes, until);
    if (attempt.error != ENOENT && attempt.error != forbidden) return attempt;
    if (first.error == ENOENT) first = std::move(attempt);
  }
  return first;
}

}  // namespace

std::variant<std::vector<std::string>, UsageError> choose_sockets(std::string_view option,
                                                                  const char* environment) {
  const bool is_option = !option.empty() || environment == nullptr;
  const std::string_view chosen = is_option ? option : environment;
  const std::string_view from = is_option ? "-s" : "MCP_SOCKET_PATH";
  if (chosen.empty())
    return std::vector<std::string>(std::begin(default_paths), std::end(default_paths));
  if (chosen.size() > longest_path) {
    return UsageError{fmt::format("{}: the socket's path has {} bytes, the system allows {}", from,
                                  chosen.size(), longest_path)};
  }
  if (chosen == "@") return UsageError{fmt::format("{}: '@' needs a name after it", from)};
  return std::vector<std::string>{std::string(chosen)};
}

std::variant<Connected, ConnectFailure> connect_to_daemon(const std::vector<std::string>& paths,
                                                          const TrustedPeer& trusted,
                                                          Milliseconds wait, Deadline deadline,
                                                          const std::string& pipes) {
  const Deadline waiting = Deadline::after(wait);
  const Deadline opened = Deadline::after(std::max(wait, longest_opening));
  for (int ms = first_pause_ms;; ms = std::min(2 * ms, longest_pause_ms)) {
    Attempt attempt = try_all(paths, pipes, Deadline::earlier(opened, deadline));
    if (attempt.error == 0) {
      if (auto why = distrust(attempt.server, attempt.path, trusted)) return ConnectFailure{*why};
      return Connected{std::move(attempt.stream), std::move(attempt.path), trusted};
    }
    const std::string_view late = explanation_of(attempt.error).late;
    const bool may_come = !late.empty() && attempt.error != EAGAIN;
    const bool is_over = may_come ? waiting.passed() : late.empty();
    if (deadline.passed() && (!is_over || attempt.error == not_opened)) {
      return ConnectFailure{fmt::format("cannot connect to {}: timed out; {}", attempt.path, late),
                            true};
    }
    if (is_over) return ConnectFailure{explain(attempt, paths, wait.count() > 0), false, may_come};
    const Deadline until = may_come ? Deadline::earlier(waiting, deadline) : deadline;
    const Deadline pause = Deadline::after(Milliseconds(ms));
    ::poll(nullptr, 0, Deadline::earlier(until, pause).poll_timeout());
  }
}

[[gnu::cold]] std::string request_for_grant(std::string_view raw_id) {
  const char* const grant = std::getenv("MCP_NC_GRANT");
  if (grant == nullptr || *grant == '\0') return {};
  return bridge::own_request(raw_id, "bridge/use",
                             bridge::JsonObject().add("grant", std::string_view(grant)).text());
}

[[gnu::cold]] std::optional<GrantUse> use_grant(Conversation& conversation, Deadline deadline) {
  using Event = Conversation::Event;
  constexpr std::string_view id = "\"mcp-nc grant\"";
  const std::string request = request_for_grant(id);
  if (request.empty()) return std::nullopt;
  conversation.queue(request);
  GrantUse use{Event::line};
  std::string before;
  while ((use.end = conversation.next(deadline)) == Event::line) {
    const json::Message message = json::parse_message(conversation.line());
    const bool is_refused_line = message.id == "null" && !message.error.empty();
    if (message.kind == json::Message::Kind::response && (message.id == id || is_refused_line)) {
      use.response = conversation.line();
      use.is_accepted = message.error.empty() && !message.result.empty();
      break;
    }
    before.append(conversation.line()).push_back('\n');
    if (before.size() <= Conversation::longest_line) continue;
    use.end = Event::too_long;
    break;
  }
  conversation.put_back(before);
  return use;
}

std::string unit_of(std::string_view path) {
  if (!path.starts_with(units_folder) || !path.ends_with(socket_suffix)) return {};
  path.remove_prefix(units_folder.size());
  if (path.size() <= socket_suffix.size()) return {};
  path.remove_suffix(socket_suffix.size());
  if (path.find('/') != path.npos) return {};
  return path == "mcp" ? "mcp-bridged" : fmt::format("'mcp-bridged*@{}'", path);
}

std::string describe_hang_up(std::string_view path) {
  return fmt::format("it has ended, or does not serve this user; see {} ({})",
                     where_its_log_is(path), path);
}

}  // namespace client
