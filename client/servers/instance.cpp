#include "servers/instance.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>

#include <tuple>

#include "base/secret_file.hpp"
#include "servers/start.hpp"
#include "text/characters.hpp"
#include "text/sha256.hpp"
#include "text/visible_text.hpp"

namespace client {
namespace {

constexpr Milliseconds longest_connecting(1000);

/// A daemon that fails to start closes its socket a moment before it reports why.
constexpr Milliseconds longest_last_moment(1000);

/// The log of the daemon of a socket in mcp-nc's folder; "" for any other socket.
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

constexpr std::size_t longest_record = 64 << 10;
constexpr std::size_t longest_summary = 500;

std::string kept(const std::string& summary) {
  return bridge::make_visible_line(summary.substr(0, longest_summary));
}

}  // namespace

std::variant<Connected, ConnectFailure> connect_to_instance(const std::string& socket) {
  return connect_to_daemon({socket}, {}, Milliseconds(0), Deadline::after(longest_connecting));
}

pid_t process_behind(int connection) {
  const auto peer = peer_of(connection);
  return peer ? peer->pid : 0;
}

FileDescriptor hold_process(pid_t process) {
  return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

bool await_end(const FileDescriptor& process, Deadline deadline) {
  pollfd ended = {process.get(), POLLIN, 0};
  for (;;) {
    const int happened = ::poll(&ended, 1, deadline.poll_timeout());
    if (happened >= 0 || errno != EINTR) return happened > 0;
  }
}

std::optional<std::string> why_not_started(std::string_view socket, pid_t process) {
  const std::string log = log_behind(socket);
  if (log.empty() || process <= 0) return std::nullopt;
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
  return log.empty() ? describe_hang_up(socket) : fmt::format("it has ended; see {}", log);
}

Instance instance_for(const NamedServer& server, std::string id) {
  return {std::move(id), server.definition.name, server.file, summary_of(server.definition),
          bridge::sha256_hex(server.definition.document)};
}

std::string record_of(const Instance& instance) {
  json::JsonObject record;
  record.add("name", instance.name).add("file", bridge::make_visible_line(instance.file));
  record.add("summary", kept(instance.summary)).add("definition", instance.definition);
  return record.text() + "\n";
}

std::optional<Instance> read_record(std::string_view id, std::string_view text) {
  const auto record = json::parse(text);
  if (!record || !record->is(json::Value::Kind::object)) return std::nullopt;
  return Instance{std::string(id), std::string(record->string("name")),
                  std::string(record->string("file")), std::string(record->string("summary")),
                  std::string(record->string("definition"))};
}

std::vector<Instance> find_instances(const Places& places) {
  std::vector<Instance> all;
  each_file(places.runtime, ".json", [&](std::string_view id) {
    const std::string path = paths_of(places, id).record;
    const std::string record = bridge::read_regular_file(path, longest_record).bytes;
    if (auto instance = read_record(id, record)) all.push_back(std::move(*instance));
  });
  std::sort(all.begin(), all.end(), [](const Instance& left, const Instance& right) {
    return std::tie(left.name, left.id) < std::tie(right.name, right.id);
  });
  return all;
}

bool is_of(const Instance& instance, const NamedServer& server) {
  return instance.name == server.definition.name &&
         instance.file == bridge::make_visible_line(server.file) &&
         (!server.file.empty() || !is_former(instance, server));
}

bool is_former(const Instance& instance, const NamedServer& server) {
  return instance.definition.empty()
             ? instance.summary != kept(summary_of(server.definition))
             : instance.definition != bridge::sha256_hex(server.definition.document);
}

void forget_ended(const Instance& instance, const Places& places) {
  // A starting process writes its record first.
  const FileDescriptor lock = lock_starting(places, false);
  if (!lock) return;
  const InstancePaths paths = paths_of(places, instance.id);
  const auto connected = connect_to_daemon({paths.socket});
  const auto* const failure = std::get_if<ConnectFailure>(&connected);
  if (failure != nullptr && failure->is_absent) ::unlink(paths.record.c_str());
}

std::string newest_log(std::string_view name, const Places& places) {
  const std::string prefix = harmless_name(name) + "-";
  std::string newest;
  std::pair<time_t, long> written;
  each_file(places.state, ".log", [&](std::string_view id) {
    const std::string path = paths_of(places, id).log;
    struct stat facts {};
    if (!id.starts_with(prefix) || ::lstat(path.c_str(), &facts) != 0 ||
        !std::all_of(id.begin() + prefix.size(), id.end(), bridge::is_hex))
      return;
    const std::pair<time_t, long> when(facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
    if (!newest.empty() && when < written) return;
    newest = path;
    written = when;
  });
  return newest;
}

std::vector<Instance> typed_instances(std::string_view name, const Places& places) {
  std::vector<Instance> all = find_instances(places);
  std::erase_if(all, [name](const Instance& one) { return one.name != name || !one.file.empty(); });
  return all;
}

std::variant<NamedDaemon, Failure> find_named(const Options& options) {
  auto server = named_server(options);
  if (auto* failure = std::get_if<Failure>(&server)) return std::move(*failure);
  auto places = make_places(environment_variable);
  if (auto* fault = std::get_if<std::string>(&places))
    return naming_failure(std::move(*fault), ExitCode::unreachable);
  return NamedDaemon{std::get<NamedServer>(std::move(server)), std::get<Places>(std::move(places))};
}

std::variant<Started, Failure> find_started(const Options& options) {
  auto found = find_named(options);
  if (auto* named = std::get_if<NamedDaemon>(&found)) {
    std::vector<Instance> all = find_instances(named->places);
    std::erase_if(all, [&](const Instance& one) { return !is_of(one, named->server); });
    return Started{named->server.definition.name, std::move(all), std::move(named->places),
                   instance_of(named->server, environment_variable)};
  }
  // Listed by mcp-nc servers, though no file names it.
  auto places = make_places(environment_variable);
  auto* const known = options.server.empty() ? nullptr : std::get_if<Places>(&places);
  if (known == nullptr) return std::get<Failure>(std::move(found));
  std::vector<Instance> typed = typed_instances(options.server, *known);
  if (typed.empty()) return std::get<Failure>(std::move(found));
  // A record outlives its daemon: the log may still be wanted.
  const auto ended = std::stable_partition(typed.begin(), typed.end(), [&](const Instance& one) {
    const auto connected = connect_to_instance(paths_of(*known, one.id).socket);
    const auto* const failure = std::get_if<ConnectFailure>(&connected);
    return failure == nullptr || !failure->is_absent;
  });
  if (ended != typed.begin()) typed.erase(ended, typed.end());
  const auto is_other = [&](const Instance& one) {
    return one.summary != typed[0].summary || one.definition != typed[0].definition;
  };
  if (std::any_of(typed.begin(), typed.end(), is_other)) {
    return naming_failure(fmt::format(
        "several daemons were started as @{}: name one with --run or --url as it was started",
        options.server));
  }
  return Started{options.server, std::move(typed), std::move(*known)};
}

std::optional<json::Value> ask_status(Connected daemon, Deadline deadline) {
  constexpr std::string_view id = "1";
  Conversation conversation(std::move(daemon.daemon), -1);
  conversation.queue(bridge::own_notification("bridge/peek", ""));
  conversation.queue(bridge::own_request(id, "bridge/status", ""));
  while (conversation.next(deadline) == Conversation::Event::line) {
    const json::Message message = json::parse_message(conversation.line());
    if (message.kind == json::Message::Kind::response && message.id == id)
      return json::parse(message.result);
  }
  return std::nullopt;
}

}  // namespace client
