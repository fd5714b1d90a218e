#include "verbs/servers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "command_line/duration.hpp"
#include "connection/connect.hpp"
#include "connection/interrupt.hpp"
#include "json/text.hpp"
#include "json/value.hpp"
#include "render/table.hpp"
#include "servers/approvals.hpp"
#include "servers/instance.hpp"
#include "terminal/styled.hpp"
#include "terminal/visible.hpp"
#include "verbs/dialogue.hpp"
#include "verbs/named_daemon.hpp"

namespace client {
namespace {

constexpr Milliseconds longest_look(1000);
constexpr Milliseconds longest_end(30'000);

/// A daemon as it answers now.
struct Running {
  Instance instance;
  pid_t process = 0;
  std::string era{};  ///< "" while it is not known
  std::uint64_t age_ms = 0;
};

struct Row {
  std::string name;
  std::string file;
  std::string summary;
  bool is_approved = true;
  std::optional<Running> running{};
};

std::optional<Connected> connect_to(const std::string& socket) {
  const Milliseconds at_once(0);
  auto connected = connect_to_daemon({socket}, {}, at_once, Deadline::after(longest_look));
  if (auto* daemon = std::get_if<Connected>(&connected)) return std::move(*daemon);
  return std::nullopt;
}

/// 0 if it is in no namespace that we see.
pid_t process_behind(const Connected& connected) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  if (::getsockopt(connected.daemon.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return 0;
  return peer.pid;
}

std::optional<Running> look_at(const Instance& instance, const Places& places,
                               const Options& options, Console& console) {
  auto connected = connect_to(paths_of(places, instance.id).socket);
  if (!connected) return std::nullopt;
  Running running{instance, process_behind(*connected)};
  Interrupt interrupt;
  Dialogue dialogue(std::move(*connected), options, Deadline::after(longest_look), true, console,
                    interrupt);
  const Answer answer = dialogue.ask("bridge/status", "");
  if (answer.outcome != Answer::Outcome::result) return running;
  const auto status = json::parse(answer.payload);
  if (!status) return running;
  running.age_ms = status->count("uptimeMs");
  if (const json::Value* upstream = status->find("upstream", json::Value::Kind::object))
    running.era = upstream->string("era");
  return running;
}

std::string json_of(const Row& row) {
  std::string text = fmt::format(
      R"({{"name":{},"file":{},"server":{},"approved":{},"running":{})",
      json::quote(make_visible_line(row.name)),
      row.file.empty() ? "null" : json::quote(make_visible_line(row.file)),
      json::quote(make_visible_line(row.summary)), row.is_approved, row.running.has_value());
  if (row.running) {
    text += fmt::format(R"(,"pid":{},"era":{},"ageMs":{})", row.running->process,
                        row.running->era.empty() ? "null" : json::quote(row.running->era),
                        row.running->age_ms);
  }
  return text + "}";
}

std::string state_of(const Row& row) {
  if (row.running) return "runs";
  return row.is_approved ? "-" : "not approved";
}

void print_table(const std::vector<Row>& rows, Console& console) {
  std::vector<std::vector<TableCell>> cells;
  for (const Row& row : rows) {
    const Running* const running = row.running ? &*row.running : nullptr;
    cells.push_back({{"@" + make_visible_line(row.name)},
                     {state_of(row)},
                     {running == nullptr || running->era.empty() ? "-" : running->era},
                     {running == nullptr ? "-"
                                         : format_duration(Milliseconds(
                                               static_cast<Milliseconds::rep>(running->age_ms))),
                      Tone::faint},
                     {row.file.empty() ? "-" : make_visible_line(row.file)},
                     {make_visible_line(row.summary)}});
  }
  const std::vector<TableColumn> columns = {{"NAME"},      {"STATE"}, {"ERA"},
                                            {"AGE", true}, {"FILE"},  {"SERVER"}};
  const Look look = choose_look(console.output_is_terminal(), console.output_width(), 0,
                                [](const char* name) -> const char* { return std::getenv(name); });
  console.print_raw(draw_lines(render_table(columns, std::move(cells), look), look));
}

/// Each server of the files with each of its daemons, then the daemons of no such server.
std::vector<Row> rows_of(const FoundServers& found, const Places& places, const Options& options,
                         Console& console) {
  std::vector<Running> running;
  for (const Instance& instance : find_instances(places)) {
    if (auto one = look_at(instance, places, options, console)) running.push_back(std::move(*one));
  }
  std::vector<Row> rows;
  for (const NamedServer& server : found.servers) {
    Row row{server.definition.name, server.file, summary_of(server.definition),
            is_approved(server, places)};
    const auto is_its = [&](const Running& one) { return is_of(one.instance, server); };
    auto at = std::find_if(running.begin(), running.end(), is_its);
    if (at == running.end()) rows.push_back(row);
    for (; at != running.end(); at = std::find_if(running.begin(), running.end(), is_its)) {
      row.running = std::move(*at);
      running.erase(at);
      rows.push_back(row);
    }
  }
  for (Running& one : running) {
    Row row{one.instance.name, one.instance.file, one.instance.summary};
    row.running = std::move(one);
    rows.push_back(std::move(row));
  }
  return rows;
}

/// The server as it was named, without asking for anything.
struct Named {
  NamedServer server;
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
std::string log_of(const Named& named) {
  const std::string current = instance_of(named.server, environment_variable);
  std::string log = paths_of(named.places, current).log;
  if (::access(log.c_str(), R_OK) == 0) return log;
  for (const Instance& instance : find_instances(named.places)) {
    if (is_of(instance, named.server)) return paths_of(named.places, instance.id).log;
  }
  return log;
}

/// What there is to read now.
void print_rest(int log, Console& console) {
  std::array<char, 16384> buffer{};
  for (ssize_t count = 1; count > 0 || errno == EINTR;) {
    count = ::read(log, buffer.data(), buffer.size());
    if (count == 0) return;
    if (count > 0) console.print({buffer.data(), static_cast<std::size_t>(count)});
  }
}

}  // namespace

ExitCode list_servers(const Options& options, Console& console) {
  auto places = make_places(environment_variable);
  if (auto* fault = std::get_if<std::string>(&places))
    return report({std::move(*fault), ExitCode::unreachable}, options, console);
  const FoundServers found = find_servers(config_files(options.config, environment_variable));
  if (options.names) {
    for (const NamedServer& server : found.servers)
      console.print(make_visible_line(server.definition.name) + "\n");
    return ExitCode::ok;
  }
  const auto rows = rows_of(found, std::get<Places>(places), options, console);
  if (options.json) {
    std::string text;
    for (const Row& row : rows) text += (text.empty() ? "" : ",") + json_of(row);
    console.print(fmt::format("{{\"servers\":[{}]}}\n", text));
  } else if (!rows.empty()) {
    print_table(rows, console);
  } else if (found.faults.empty()) {
    console.note(
        "no server is named in ~/.config/mcp/mcp.json or ./.mcp.json (--config, MCP_CONFIG), nor "
        "by another program");
  }
  for (const std::string& fault : found.faults) console.note(fault);
  for (const std::string& fault : found.foreign_faults) console.note(fault);
  return found.faults.empty() ? ExitCode::ok : ExitCode::answered_error;
}

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
  auto found = find_named(options);
  if (auto* failure = std::get_if<NamingFailure>(&found)) return report(*failure, options, console);
  const Named& named = std::get<Named>(found);
  const Deadline deadline = Deadline::after(options.timeout.value_or(longest_end));
  std::string stopped;
  for (const Instance& instance : find_instances(named.places)) {
    if (!is_of(instance, named.server)) continue;
    const InstancePaths paths = paths_of(named.places, instance.id);
    auto connected = connect_to(paths.socket);
    if (!connected) continue;
    const pid_t process = process_behind(*connected);
    connected.reset();
    if (std::string why = end_process(process, deadline); !why.empty())
      return report({std::move(why), ExitCode::unreachable}, options, console);
    stopped += fmt::format("{}{}", stopped.empty() ? "" : ",", process);
  }
  if (options.json) console.print(fmt::format("{{\"stopped\":[{}]}}\n", stopped));
  if (stopped.empty() && !options.json) {
    console.note(
        fmt::format("no daemon runs for @{}", make_visible_line(named.server.definition.name)));
  }
  return ExitCode::ok;
}

ExitCode show_logs(const Options& options, Console& console) {
  auto found = find_named(options);
  if (auto* failure = std::get_if<NamingFailure>(&found)) return report(*failure, options, console);
  const Named& named = std::get<Named>(found);
  const std::string path = log_of(named);
  const FileDescriptor log(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY));
  if (!log) {
    return report(
        {fmt::format("@{} has no log yet", make_visible_line(named.server.definition.name)),
         ExitCode::answered_error},
        options, console);
  }
  const FileDescriptor changes(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (options.follow) ::inotify_add_watch(changes.get(), path.c_str(), IN_MODIFY);
  Interrupt interrupt;
  print_rest(log.get(), console);
  while (options.follow && console.output_state() == Sink::Result::ok) {
    std::array<pollfd, 2> events = {
        {{changes.get(), POLLIN, 0}, {interrupt.descriptor(), POLLIN, 0}}};
    if (::poll(events.data(), events.size(), -1) < 0 && errno != EINTR) break;
    if (events[1].revents != 0) break;
    std::array<char, 4096> told{};
    while (::read(changes.get(), told.data(), told.size()) > 0) {
    }
    print_rest(log.get(), console);
  }
  return ExitCode::ok;
}

}  // namespace client
