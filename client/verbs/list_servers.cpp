// mcp-nc servers: what the files name, and what of it runs.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "command_line/duration.hpp"
#include "connection/interrupt.hpp"
#include "json/text.hpp"
#include "json/value.hpp"
#include "render/table.hpp"
#include "servers/approvals.hpp"
#include "servers/instance.hpp"
#include "terminal/look_of.hpp"
#include "terminal/visible.hpp"
#include "verbs/dialogue.hpp"
#include "verbs/named_daemon.hpp"
#include "verbs/running_daemon.hpp"
#include "verbs/servers.hpp"

namespace client {
namespace {

constexpr Milliseconds longest_look(1000);

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
  bool is_former = false;  ///< what runs is what the definition was before it was edited
};

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
    text += fmt::format(R"(,"pid":{},"era":{},"ageMs":{},"former":{})", row.running->process,
                        row.running->era.empty() ? "null" : json::quote(row.running->era),
                        row.running->age_ms, row.is_former);
  }
  return text + "}";
}

std::string state_of(const Row& row) {
  if (row.is_former) return "runs, former";
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

ExitCode list_servers(const Options& options, Console& console) {
  auto places = make_places(environment_variable);
  if (auto* fault = std::get_if<std::string>(&places))
    return report({std::move(*fault), ExitCode::unreachable}, options, console);
  const FoundServers found = find_servers(all_files(options.config, environment_variable));
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
    if (std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.is_former; }))
      console.note("former: started before its definition was edited (mcp-nc stop @NAME ends it)");
  } else if (found.faults.empty()) {
    console.note(
        "no server is named in ~/.config/mcp/mcp.json or ./.mcp.json (--config, MCP_CONFIG), nor "
        "by another program");
  }
  for (const std::string& fault : found.faults) console.note(fault);
  for (const std::string& fault : found.foreign_faults) console.note(fault);
  return found.faults.empty() ? ExitCode::ok : ExitCode::answered_error;
}

}  // namespace client
