// mcp-nc servers: the servers in the files, and which of them run.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "render/failure.hpp"
#include "render/table.hpp"
#include "servers/approve.hpp"
#include "servers/instance.hpp"
#include "text/visible_text.hpp"

namespace client {
namespace {

constexpr Milliseconds longest_look(1000);

/// A daemon's present answers.
struct Running {
  Instance instance;
  pid_t process = 0;
  std::string era{};  ///< "" if unknown
  std::string_view state =
      "runs";  ///< also whether its server could be reached, where that is known
  std::uint64_t age_ms = 0;
};

struct Row {
  std::string name;
  std::string file;
  std::string summary;
  bool is_approved = true;
  bool is_disabled = false;
  std::optional<Running> running{};
  bool is_former = false;  ///< it runs with a definition that was edited since
};

/// From `upstream` of bridge/status.
std::string_view state_of(const json::Value& upstream) {
  if (upstream.object("login").string("state") == "needed") return "needs login";
  const json::Value* const ready = upstream.find("ready", json::Value::Kind::boolean);
  if (ready != nullptr && !ready->truth) return "unreachable";
  return upstream.string("state") == "open" ? "open" : "runs";
}

/// nullopt if it has ended; then only its log remains.
std::optional<Running> look_at(const Instance& instance, const Places& places) {
  auto connected = connect_to_instance(paths_of(places, instance.id).socket);
  if (const auto* failure = std::get_if<ConnectFailure>(&connected)) {
    if (!failure->is_absent) return Running{instance};
    forget_ended(instance, places);
    return std::nullopt;
  }
  Connected& daemon = std::get<Connected>(connected);
  Running running{instance, process_behind(daemon.daemon.get())};
  const auto status = ask_status(std::move(daemon), Deadline::after(longest_look));
  if (!status) return running;
  running.age_ms = status->count("uptimeMs");
  if (const json::Value* upstream = status->find("upstream", json::Value::Kind::object)) {
    running.era = upstream->string("era");
    running.state = state_of(*upstream);
  }
  return running;
}

/// nullopt if empty, which means unknown.
std::optional<std::string> known(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(bridge::make_visible_line(text));
}

json::JsonObject row_object(const Row& row) {
  json::JsonObject object;
  object.add("name", bridge::make_visible_line(row.name)).add("file", known(row.file));
  object.add("server", bridge::make_visible_line(row.summary)).add("approved", row.is_approved);
  if (row.is_disabled) object.add("disabled", true);
  object.add("running", row.running.has_value());
  if (!row.running) return object;
  object.add("pid", row.running->process).add("state", row.running->state);
  object.add("era", known(row.running->era)).add("ageMs", row.running->age_ms);
  return object.add("former", row.is_former);
}

std::string state_of(const Row& row) {
  if (row.running) return fmt::format("{}{}", row.running->state, row.is_former ? ", former" : "");
  if (row.is_disabled) return "disabled";
  return row.is_approved ? "-" : "not approved";
}

void print_table(const std::vector<Row>& rows, Console& console) {
  const Look look = look_of(console);
  std::vector<std::vector<TableCell>> cells;
  for (const Row& row : rows) {
    const Running* const running = row.running ? &*row.running : nullptr;
    // Where there is little room, the folder and the name tell the files apart.
    const std::size_t last = look.width == 0 ? 0 : std::max(row.file.rfind('/'), std::size_t{1});
    const std::size_t begin = last == 0 ? 0 : row.file.rfind('/', last - 1) + 1;
    cells.push_back({{"@" + bridge::make_visible_line(row.name)},
                     {state_of(row)},
                     {running == nullptr || running->era.empty() ? "-" : running->era},
                     {running == nullptr ? "-"
                                         : format_duration(Milliseconds(
                                               static_cast<Milliseconds::rep>(running->age_ms))),
                      Tone::faint},
                     {row.file.empty() ? "-" : bridge::make_visible_line(row.file.substr(begin))},
                     {bridge::make_visible_line(row.summary)}});
  }
  console.print_raw(
      draw_lines(render_table("NAME|STATE|ERA|>AGE|<FILE|SERVER", std::move(cells), look), look));
}

/// Each server of the files with each of its daemons, those of its present definition first; then
/// the daemons without such a server.
std::vector<Row> rows_of(const FoundServers& found, const Places& places) {
  std::vector<std::optional<Running>> running;
  for (const Instance& instance : find_instances(places))
    running.push_back(look_at(instance, places));
  std::vector<Row> rows;
  for (const NamedServer& server : found.servers) {
    const Row alone{server.definition.name, server.file, summary_of(server.definition),
                    is_approved(server, places), is_disabled(server.definition)};
    const std::size_t begin = rows.size();
    for (const bool is_former : {false, true}) {
      for (std::optional<Running>& one : running) {
        if (!one || !is_of(one->instance, server) ||
            client::is_former(one->instance, server) != is_former)
          continue;
        Row& row = rows.emplace_back(alone);
        row.is_former = is_former;
        if (is_former) row.summary = one->instance.summary;
        row.is_approved = row.is_approved || is_former;
        row.running = std::exchange(one, std::nullopt);
      }
      if (rows.size() == begin) rows.push_back(alone);
    }
  }
  for (std::optional<Running>& one : running) {
    if (!one) continue;
    Row& row =
        rows.emplace_back(Row{one->instance.name, one->instance.file, one->instance.summary});
    row.running = std::move(one);
  }
  return rows;
}

}  // namespace

ExitCode list_servers(const Options& options, Console& console) {
  auto places = make_places(environment_variable);
  if (auto* fault = std::get_if<std::string>(&places))
    return tell_failure(console, options, naming_failure(std::move(*fault), ExitCode::unreachable));
  const FoundServers found = find_servers(all_files(options.config, environment_variable));
  if (options.names) {
    for (const NamedServer& server : found.servers) {
      if (is_disabled(server.definition)) continue;
      console.print(bridge::make_visible_line(server.definition.name) + "\n");
    }
    return ExitCode::ok;
  }
  const auto rows = rows_of(found, std::get<Places>(places));
  if (options.json) {
    json::JsonArray servers;
    for (const Row& row : rows) servers.add(row_object(row));
    console.print(json::JsonObject().add("servers", servers).text() + "\n");
  } else if (!rows.empty()) {
    print_table(rows, console);
    if (std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.is_former; }))
      console.note("former: started before its definition was edited (mcp-nc stop @NAME ends it)");
  } else if (found.faults.empty()) {
    console.note(
        "no servers: ~/.config/mcp/mcp.json, ./.mcp.json and other programs' files name none; "
        "--config or MCP_CONFIG names another file");
  }
  for (const NamedServer& server : found.servers) {
    for (const std::string& member : unused_members(server.definition)) {
      console.note(
          fmt::format("@{}: {}", bridge::make_visible_line(server.definition.name), member));
    }
  }
  for (const std::string& fault : found.faults) console.note(fault);
  for (const std::string& fault : found.foreign_faults) console.note(fault);
  return found.faults.empty() ? ExitCode::ok : ExitCode::answered_error;
}

}  // namespace client
