// mcp-nc servers: what the files name, and what of it runs.
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
#include <iterator>
#include <utility>

#include "command_line/duration.hpp"
#include "connection/connect.hpp"
#include "json/json.hpp"
#include "render/table.hpp"
#include "servers/approve.hpp"
#include "servers/instance.hpp"
#include "servers/start.hpp"
#include "system/files.hpp"
#include "system/signals.hpp"
#include "terminal/styled.hpp"
#include "text/characters.hpp"
#include "text/utf8.hpp"
#include "text/visible_text.hpp"
#include "verbs/dialogue.hpp"

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

std::variant<Named, Failure> find_named(const Options& options) {
  auto server = named_server(options);
  if (auto* failure = std::get_if<Failure>(&server)) return std::move(*failure);
  auto places = make_places(environment_variable);
  if (auto* fault = std::get_if<std::string>(&places))
    return naming_failure(std::move(*fault), ExitCode::unreachable);
  return Named{std::get<NamedServer>(std::move(server)), std::get<Places>(std::move(places))};
}

std::variant<Started, Failure> find_started(const Options& options) {
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
  if (known == nullptr) return std::get<Failure>(std::move(found));
  std::vector<Instance> typed = typed_instances(options.server, *known);
  if (typed.empty()) return std::get<Failure>(std::move(found));
  // A record stays when its daemon has ended: the log may still be wanted.
  const auto ended = std::stable_partition(typed.begin(), typed.end(), [&](const Instance& one) {
    const auto connected = connect_to_instance(paths_of(*known, one.id).socket);
    const auto* const failure = std::get_if<ConnectFailure>(&connected);
    return failure == nullptr || !failure->is_absent;
  });
  if (ended != typed.begin()) typed.erase(ended, typed.end());
  const auto is_other = [&](const Instance& one) { return one.summary != typed[0].summary; };
  if (std::any_of(typed.begin(), typed.end(), is_other)) {
    return naming_failure(fmt::format(
        "several daemons were started as @{}: name one with --run or --url as it was started",
        bridge::make_visible_line(options.server)));
  }
  return Started{options.server, std::move(typed), std::move(*known)};
}

bool is_stopped(pid_t process) {
  const FileText facts = read_whole_file(fmt::format("/proc/{}/stat", process), 4096);
  const std::size_t name = facts.text.rfind(')');
  return name != facts.text.npos && facts.text.substr(name + 1).starts_with(" T");
}

/// Ends it in order. Gives why it did not end.
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

/// Ends what listens there. Gives its process, or 0 if nobody does; else why it did not end.
std::variant<pid_t, Failure> end_instance(const Instance& instance, const Places& places,
                                          Deadline deadline) {
  auto connected = connect_to_instance(paths_of(places, instance.id).socket);
  if (const auto* failure = std::get_if<ConnectFailure>(&connected)) {
    if (failure->is_absent) return pid_t{0};
    return naming_failure(fmt::format("cannot stop the daemon: {}", failure->message),
                          failure->timed_out ? ExitCode::timed_out : ExitCode::unreachable);
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

/// What there is to read now.
void print_rest(int log, LogOutput& output) {
  std::array<char, 16384> buffer{};
  for (ssize_t count = 1; count > 0 || errno == EINTR;) {
    count = ::read(log, buffer.data(), buffer.size());
    if (count == 0) return;
    if (count > 0) output.add({buffer.data(), static_cast<std::size_t>(count)});
  }
}

constexpr Milliseconds longest_look(1000);

/// A daemon as it answers now.
struct Running {
  Instance instance;
  pid_t process = 0;
  std::string era{};  ///< "" while it is not known
  std::string_view state =
      "runs";  ///< also whether its server could be reached, where that is known
  std::uint64_t age_ms = 0;
};

struct Row {
  std::string name;
  std::string file;
  std::string summary;
  bool is_approved = true;
  std::optional<Running> running{};
  bool is_former = false;  ///< what runs is what the definition was before it was edited
};

/// By `upstream` of bridge/status.
std::string_view state_of(const json::Value& upstream) {
  const json::Value* const login = upstream.find("login", json::Value::Kind::object);
  const json::Value* const ready = upstream.find("ready", json::Value::Kind::boolean);
  if (login != nullptr && login->string("state") == "needed") return "needs login";
  if (ready != nullptr && !ready->truth) return "unreachable";
  return upstream.string("state") == "open" ? "open" : "runs";
}

/// Nothing if it has ended; then nothing is left of it but its log.
std::optional<Running> look_at(const Instance& instance, const Places& places,
                               const Options& options, Console& console) {
  auto connected = connect_to_instance(paths_of(places, instance.id).socket);
  if (const auto* failure = std::get_if<ConnectFailure>(&connected)) {
    if (!failure->is_absent) return Running{instance};
    forget_ended(instance, places);
    return std::nullopt;
  }
  Connected& daemon = std::get<Connected>(connected);
  Running running{instance, process_behind(daemon.daemon.get())};
  Interrupt interrupt;
  Dialogue dialogue(std::move(daemon), options, Deadline::after(longest_look), true, console,
                    interrupt);
  const Answer answer = dialogue.ask("bridge/status", "");
  if (answer.outcome != Answer::Outcome::result) return running;
  const auto status = json::parse(answer.payload);
  if (!status) return running;
  running.age_ms = status->count("uptimeMs");
  if (const json::Value* upstream = status->find("upstream", json::Value::Kind::object)) {
    running.era = upstream->string("era");
    running.state = state_of(*upstream);
  }
  return running;
}

std::string json_of(const Row& row) {
  std::string text =
      fmt::format(R"({{"name":{},"file":{},"server":{},"approved":{},"running":{})",
                  json::quote(bridge::make_visible_line(row.name)),
                  row.file.empty() ? "null" : json::quote(bridge::make_visible_line(row.file)),
                  json::quote(bridge::make_visible_line(row.summary)), row.is_approved,
                  row.running.has_value());
  if (row.running) {
    text += fmt::format(R"(,"pid":{},"state":"{}","era":{},"ageMs":{},"former":{})",
                        row.running->process, row.running->state,
                        row.running->era.empty() ? "null" : json::quote(row.running->era),
                        row.running->age_ms, row.is_former);
  }
  return text + "}";
}

std::string state_of(const Row& row) {
  if (row.running) return fmt::format("{}{}", row.running->state, row.is_former ? ", former" : "");
  return row.is_approved ? "-" : "not approved";
}

void print_table(const std::vector<Row>& rows, Console& console) {
  std::vector<std::vector<TableCell>> cells;
  for (const Row& row : rows) {
    const Running* const running = row.running ? &*row.running : nullptr;
    cells.push_back({{"@" + bridge::make_visible_line(row.name)},
                     {state_of(row)},
                     {running == nullptr || running->era.empty() ? "-" : running->era},
                     {running == nullptr ? "-"
                                         : format_duration(Milliseconds(
                                               static_cast<Milliseconds::rep>(running->age_ms))),
                      Tone::faint},
                     {row.file.empty() ? "-" : bridge::make_visible_line(row.file)},
                     {bridge::make_visible_line(row.summary)}});
  }
  const std::vector<TableColumn> columns = {{"NAME"},      {"STATE"}, {"ERA"},
                                            {"AGE", true}, {"FILE"},  {"SERVER"}};
  const Look look = look_of(console);
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
    const auto others =
        std::stable_partition(running.begin(), running.end(),
                              [&](const Running& one) { return !is_of(one.instance, server); });
    std::vector<Running> its;
    std::move(others, running.end(), std::back_inserter(its));
    running.erase(others, running.end());
    const auto former = std::stable_partition(its.begin(), its.end(), [&](const Running& one) {
      return !is_former(one.instance, server);
    });
    if (former == its.begin()) rows.push_back(row);
    for (auto at = its.begin(); at != its.end(); ++at) {
      row.is_former = at >= former;
      if (row.is_former) row.summary = at->instance.summary;
      row.is_approved = row.is_approved || row.is_former;
      row.running = std::move(*at);
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

}  // namespace

ExitCode approve_server(const Options& options, Console& console) {
  auto found = find_named(options);
  if (auto* failure = std::get_if<Failure>(&found)) return tell_failure(console, options, *failure);
  const Named& named = std::get<Named>(found);
  const std::string name = bridge::make_visible_line(named.server.definition.name);
  std::optional<Failure> failure;
  if (is_approved(named.server, named.places)) {
    console.note(fmt::format("@{} is approved already, or needs no approval", name));
  } else if (options.yes) {
    console.prompt(describe_for_approval(named.server));
    if (std::string fault = approve(named.server, named.places); !fault.empty())
      failure = naming_failure(std::move(fault), ExitCode::unreachable);
  } else {
    failure = have_approved(named.server, named.places, console);
  }
  if (failure) return tell_failure(console, options, *failure);
  if (options.json) console.print(fmt::format("{{\"approved\":{}}}\n", json::quote(name)));
  return ExitCode::ok;
}

ExitCode stop_server(const Options& options, Console& console) {
  auto found = find_started(options);
  if (auto* failure = std::get_if<Failure>(&found)) return tell_failure(console, options, *failure);
  const Started& started = std::get<Started>(found);
  const Deadline deadline = Deadline::after(options.timeout.value_or(longest_end));
  std::string stopped;
  std::optional<Failure> failure;
  for (const Instance& instance : started.instances) {
    auto ended = end_instance(instance, started.places, deadline);
    if (auto* why = std::get_if<Failure>(&ended)) {
      failure = std::move(*why);
      continue;
    }
    forget_ended(instance, started.places);
    const pid_t process = std::get<pid_t>(ended);
    if (process > 0) stopped += fmt::format("{}{}", stopped.empty() ? "" : ",", process);
  }
  if (failure) return tell_failure(console, options, *failure);
  if (options.json) console.print(fmt::format("{{\"stopped\":[{}]}}\n", stopped));
  if (stopped.empty() && !options.json) {
    console.note(fmt::format("no daemon runs for @{}", bridge::make_visible_line(started.name)));
  }
  return ExitCode::ok;
}

ExitCode show_logs(const Options& options, Console& console) {
  auto found = find_with_log(options);
  if (auto* failure = std::get_if<Failure>(&found)) return tell_failure(console, options, *failure);
  const Started& started = std::get<Started>(found);
  const std::string path = log_of(started);
  const FileDescriptor log(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY));
  if (!log) {
    return tell_failure(
        console, options,
        naming_failure(fmt::format("no log of @{} yet", bridge::make_visible_line(started.name)),
                       ExitCode::answered_error));
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

ExitCode list_servers(const Options& options, Console& console) {
  auto places = make_places(environment_variable);
  if (auto* fault = std::get_if<std::string>(&places))
    return tell_failure(console, options, naming_failure(std::move(*fault), ExitCode::unreachable));
  const FoundServers found = find_servers(all_files(options.config, environment_variable));
  if (options.names) {
    for (const NamedServer& server : found.servers)
      console.print(bridge::make_visible_line(server.definition.name) + "\n");
    return ExitCode::ok;
  }
  const auto rows = rows_of(found, std::get<Places>(places), options, console);
  if (options.json) {
    std::string text;
    for (const Row& row : rows) text += (text.empty() ? "" : ",") + json_of(row);
    console.print(fmt::format("{{\"servers\":[{}]}}\n", text));
  } else if (!rows.empty()) {
    print_table(rows, console);
    if (std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.is_former; }))
      console.note("former: started before its definition was edited (mcp-nc stop @NAME ends it)");
  } else if (found.faults.empty()) {
    console.note(
        "no servers: ~/.config/mcp/mcp.json, ./.mcp.json and other programs' files name none; "
        "--config or MCP_CONFIG names another file");
  }
  for (const std::string& fault : found.faults) console.note(fault);
  for (const std::string& fault : found.foreign_faults) console.note(fault);
  return found.faults.empty() ? ExitCode::ok : ExitCode::answered_error;
}

std::string LogOutput::json_line(std::string_view line) {
  return "{\"line\":" +
         json::quote(bridge::is_utf8(line) ? std::string(line) : bridge::make_visible(line)) +
         "}\n";
}

void LogOutput::add(std::string_view piece) {
  if (!as_json_) return console_.print(piece);
  begun_ += piece;
  std::string lines;
  std::size_t done = 0;
  for (std::size_t end = begun_.find('\n'); end != begun_.npos; end = begun_.find('\n', done)) {
    lines += json_line(std::string_view(begun_).substr(done, end - done));
    done = end + 1;
  }
  begun_.erase(0, done);
  while (begun_.size() > longest_line) {
    const std::size_t length = bridge::whole_characters(begun_, longest_line).size();
    lines += json_line(std::string_view(begun_).substr(0, length));
    begun_.erase(0, length);
  }
  console_.print(lines);
}

void LogOutput::finish() {
  if (!begun_.empty()) console_.print(json_line(begun_));
  begun_.clear();
}

}  // namespace client
