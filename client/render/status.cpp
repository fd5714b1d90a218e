#include "render/status.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/contains.hpp"
#include "render/table.hpp"

namespace client {
namespace {

using json::Value;
using Kind = Value::Kind;

constexpr std::size_t name_column = 12;
constexpr std::size_t usual_cells = 24;
constexpr std::size_t fewest_cells = 8;
/// The most columns after a bar.
constexpr std::size_t figures_width = 44;

StyledLine named(std::string_view name) {
  StyledLine line;
  line.add(name, Tone::faint).pad_to(name_column);
  return line;
}

void append(std::string& list, std::string_view what) {
  if (what.empty()) return;
  if (!list.empty()) list += ", ";
  list += what;
}

/// `ready`: the last attempt did not fail.
Tone tone_of_state(std::string_view state, bool ready) {
  if (state == "open") return Tone::good;
  return ready && !bridge::has_word("waiting refused", state) ? Tone::warning : Tone::bad;
}

std::string_view words_for(std::string_view state, bool ready) {
  if (state == "idle") return ", not needed yet";
  if (state == "refused") return ", the server refuses a session";
  const bool is_opening = bridge::has_word("opening reopening", state);
  return state == "waiting" || (is_opening && !ready) ? ", the last try failed" : "";
}

void add_upstream(std::vector<StyledLine>& lines, const Value& upstream, const Look& look,
                  std::string_view program) {
  const std::string_view state = upstream.string("state");
  const Value* said = upstream.find("ready", Kind::boolean);
  const bool ready = said == nullptr || said->truth;
  const bool was_opened = upstream.find("sessionAgeMs", Kind::number) != nullptr;
  StyledLine& first = lines.emplace_back(named("upstream"));
  first.add(look.unicode ? "● " : "", tone_of_state(state, ready))
      .add(state, tone_of_state(state, ready));
  if (state == "open" && was_opened) first.add(" for " + duration_text(upstream, "sessionAgeMs"));
  first.add(words_for(state, ready)).add("  ").add(upstream.string("target"), Tone::strong);
  const auto kind = upstream.string("kind");
  if (!kind.empty()) first.add(fmt::format(" ({})", kind));

  std::string server;
  if (const Value* info = upstream.find("serverInfo", Kind::object))
    server = fmt::format("{} {}", info->string("name"), info->string("version"));
  append(server, upstream.string("eras") == "both" ? "legacy and modern" : upstream.string("era"));
  if (const auto version = upstream.string("protocolVersion"); !version.empty())
    append(server, fmt::format("protocol {}", version));
  if (!server.empty()) lines.emplace_back(named("server")).add(server);

  if (const Value* login = upstream.find("login", Kind::object)) {
    const std::string_view how = login->string("state");
    if (how != "none") {
      StyledLine& line = lines.emplace_back(named("login"));
      line.add(how, how == "ok" ? Tone::plain : Tone::warning);
      if (login->find("expiresInMs", Kind::number) != nullptr)
        line.add(", good for " + duration_text(*login, "expiresInMs"));
      if (const auto wanted = login->string("wanted"); !wanted.empty())
        line.add(fmt::format(", {} is wanted as well: {} login", wanted, program), Tone::warning);
      if (how == "needed") line.add(fmt::format(": {} login", program), Tone::warning);
    }
  }

  if (!was_opened) return;
  StyledLine& session = lines.emplace_back(named("session"));
  const std::uint64_t reopened = upstream.count("reopened");
  const std::uint64_t reconnects = upstream.count("reconnects");
  if (reopened > 0)
    session.add("lost and reopened " + counted(reopened, "time"), Tone::warning).add(", ");
  if (reconnects > 0)
    session.add("away and back " + counted(reconnects, "time"), Tone::warning).add(", ");
  if (reopened + reconnects == 0) session.add("never interrupted, ");
  const std::string_view stream = upstream.string("stream");
  session.add(fmt::format("server stream {}", stream),
              stream == "waiting" ? Tone::warning : Tone::plain);
}

StyledLine gauge_line(std::string_view name, std::uint64_t part, std::uint64_t whole, Tone tone,
                      const Look& look) {
  const double fraction = whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
  constexpr std::size_t taken = name_column + figures_width;
  const std::size_t room = std::max(look.width, taken + fewest_cells) - taken;
  const std::size_t cells = look.width == 0 ? usual_cells : std::min(usual_cells, room);
  StyledLine line = named(name);
  line.add(draw_gauge(fraction, cells, look.unicode), part > 0 ? tone : Tone::faint).add("  ");
  return line;
}

void add_ring(std::vector<StyledLine>& lines, const Value& ring, const Look& look) {
  const std::uint64_t entries = ring.count("entries");
  const std::uint64_t capacity = ring.count("capacity");
  const std::uint64_t untaken = ring.count("untaken");
  StyledLine& fill = lines.emplace_back(gauge_line("ring", entries, capacity, Tone::good, look));
  fill.add(fmt::format("{} of {}", entries, capacity));
  if (entries > 0) {
    fill.add(fmt::format(", sequence {} to {}", ring.count("oldest"), ring.count("newest")),
             Tone::faint);
  }
  // Only undelivered entries are lost when they are pushed out.
  const bool at_risk = capacity > 0 && untaken * 10 >= capacity * 8;
  lines
      .emplace_back(
          gauge_line("  untaken", untaken, capacity, at_risk ? Tone::bad : Tone::warning, look))
      .add(fmt::format("{} wait for a client", untaken));
  lines
      .emplace_back(
          gauge_line("  bytes", ring.count("bytes"), ring.count("capacityBytes"), Tone::good, look))
      .add(fmt::format("{} of {}", size_text(ring.count("bytes")),
                       size_text(ring.count("capacityBytes"))));
  const std::uint64_t dropped = ring.count("dropped");
  const std::uint64_t came = std::max(ring.count("newest"), dropped);
  StyledLine& drops = lines.emplace_back(gauge_line("  dropped", dropped, came, Tone::bad, look));
  drops.add(fmt::format("{} of {}", dropped, came), dropped > 0 ? Tone::bad : Tone::plain);
  if (dropped > 0) drops.add(fmt::format(", {}", percent_text(dropped, came)), Tone::bad);
  if (ring.count("coalesced") > 0)
    drops.add(fmt::format(", {} coalesced", ring.count("coalesced")));
}

void add_requests(std::vector<StyledLine>& lines, const Value& requests) {
  StyledLine& line = lines.emplace_back(named("requests"));
  const std::uint64_t errors = requests.count("errors");
  line.add(fmt::format("{} in all, ", requests.count("total")));
  line.add(counted(errors, "error"), errors > 0 ? Tone::warning : Tone::plain);
  // After an upgrade requests can fail that the previous process has counted.
  if (errors > 0 && errors <= requests.count("total"))
    line.add(fmt::format(" ({})", percent_text(errors, requests.count("total"))), Tone::warning);
  line.add(", ").add(fmt::format("{} in flight", requests.count("inFlight")), Tone::strong);
  line.add(
      fmt::format(", {} queued, {} parked", requests.count("queued"), requests.count("parked")));
}

void add_latency(std::vector<StyledLine>& lines, const Value& latency) {
  if (latency.count("p99") == 0) return;
  lines.emplace_back(named("latency"))
      .add("p50 ")
      .add(time_text(latency.count("p50")), Tone::strong)
      .add(", p99 ")
      .add(time_text(latency.count("p99")), Tone::strong)
      .add(", added by the bridge (p50) ")
      .add(time_text(latency.count("addedP50")), Tone::strong);
}

bool has_no_session(const Value& status) {
  return bridge::has_word("opening reopening waiting", status.object("upstream").string("state"));
}

std::vector<TableCell> make_row(const json::Value& client) {
  const bool has_queue = client.find("queuedBytes", json::Value::Kind::number) != nullptr;
  const std::string in_flight = plain_cell(client.find("inFlight"));
  return {{plain_cell(client.find("id")), Tone::faint},
          {plain_cell(client.find("kind")), Tone::faint},
          {plain_cell(client.find("pid")), Tone::faint},
          {plain_cell(client.find("uid")), Tone::faint},
          {duration_text(client, "connectedMs"), Tone::faint},
          {in_flight, in_flight == "0" ? Tone::faint : Tone::strong},
          {has_queue ? size_text(client.count("queuedBytes")) : "-", Tone::faint},
          {plain_cell(client.find("command"))}};
}

}  // namespace

std::optional<std::string> reason_of_wait(std::string_view status_json) {
  const Value status = json::parse_or_null(status_json);
  if (!has_no_session(status)) return std::nullopt;
  if (auto failure = failure_of_wait(status_json)) return failure;
  return fmt::format("the daemon is opening a session with {}",
                     status.object("upstream").string("target"));
}

std::optional<std::string> failure_of_wait(std::string_view status_json) {
  const Value status = json::parse_or_null(status_json);
  // The last error belongs to this outage only if the last attempt failed.
  const Value* const ready = status.object("upstream").find("ready", Kind::boolean);
  const Value* const error = status.find("lastError", Kind::object);
  if (!has_no_session(status) || ready == nullptr || ready->truth || error == nullptr)
    return std::nullopt;
  return std::string(error->string("message"));
}

std::string kind_of_last_error(std::string_view status_json) {
  const Value status = json::parse_or_null(status_json);
  const std::string_view kind = status.object("lastError").string("kind");
  return std::string(kind.empty() ? "connect" : kind);
}

std::string policy_text(const Value& policy) {
  const std::uint64_t rule = policy.count("rule");
  std::string text = rule == 0 ? "no rule is for this user: nearly everything is denied"
                               : fmt::format("rule {}", rule);
  if (const auto file = policy.string("file"); !file.empty()) text += fmt::format(" of {}", file);
  if (rule != 0 && policy.count("line") > 0) text += fmt::format(", line {}", policy.count("line"));
  return policy.find("rule") == nullptr ? std::string() : text;
}

std::vector<StyledLine> render_status(const Value& status, std::int64_t now_ms, const Look& look,
                                      std::string_view program) {
  std::vector<StyledLine> lines;
  lines.emplace_back(named("daemon"))
      .add(fmt::format("mcp-bridged {}", status.string("version")), Tone::strong)
      .add(fmt::format(", pid {}, up {}", status.count("pid"), duration_text(status, "uptimeMs")));
  if (const Value* upstream = status.find("upstream", Kind::object))
    add_upstream(lines, *upstream, look, program);
  // Shown only while saving fails, which requires a person's action.
  const Value* const durable = status.object("state").find("durable", Kind::boolean);
  if (durable != nullptr && !durable->truth)
    lines.emplace_back(named("state"))
        .add(fmt::format("not saved: {}", status.object("state").string("error")), Tone::bad)
        .add("; results and notifications are lost if the daemon ends");
  if (const Value* policy = status.find("policy", Kind::object))
    lines.emplace_back(named("policy"))
        .add(policy_text(*policy), policy->count("rule") == 0 ? Tone::bad : Tone::plain);
  if (status.string("audit") == "failing")
    lines.emplace_back(named("audit"))
        .add("cannot be written", Tone::bad)
        .add("; see the daemon's log, it is tried again every 10 s");
  if (const Value* error = status.find("lastError", Kind::object)) {
    StyledLine& line = lines.emplace_back(named("last error"));
    if (const auto at = static_cast<std::int64_t>(error->count("atMs")); at > 0 && at <= now_ms)
      line.add(format_duration(Milliseconds(now_ms - at)) + " ago, ", Tone::faint);
    line.add(error->string("kind"), Tone::bad).add(": ").add(error->string("message"));
  }
  lines.emplace_back();
  if (const Value* ring = status.find("ring", Kind::object)) add_ring(lines, *ring, look);
  if (const Value* requests = status.find("requests", Kind::object)) add_requests(lines, *requests);
  if (const Value* latency = status.find("latencyUs", Kind::object)) add_latency(lines, *latency);
  if (const Value* clients = status.find("clients", Kind::array)) {
    if (!lines.back().is_empty()) lines.emplace_back();
    const std::size_t rows = look.height > lines.size() ? look.height - lines.size() : 1;
    for (StyledLine& line : render_clients(clients->items, look, look.height > 0 ? rows : 0))
      lines.push_back(std::move(line));
  }
  while (!lines.empty() && lines.back().is_empty()) lines.pop_back();
  return lines;
}

bool is_ready(const Value& status) {
  const Value* upstream = status.find("upstream", Kind::object);
  if (upstream == nullptr) return false;
  if (const Value* ready = upstream->find("ready", Kind::boolean)) return ready->truth;
  const std::string_view state = upstream->string("state");
  return state != "waiting" && state != "refused";
}

std::string render_ready(const Value& status, std::string_view program) {
  const Value* upstream = status.find("upstream", Kind::object);
  const std::string_view state = upstream == nullptr ? "unknown" : upstream->string("state");
  if (is_ready(status)) return fmt::format("ready: {}", state);
  std::string text = fmt::format("not ready: the upstream is {}", state);
  if (const Value* error = status.find("lastError", Kind::object))
    text += fmt::format("; {}: {}", error->string("kind"), error->string("message"));
  const bool wants_login =
      upstream != nullptr && upstream->object("login").string("state") == "needed";
  return wants_login ? fmt::format("{}; log in with: {} login", text, program) : text;
}

std::vector<StyledLine> render_clients(const std::vector<json::Value>& all, const Look& look,
                                       std::size_t rows) {
  std::vector<StyledLine> lines;
  std::vector<const json::Value*> clients;
  for (const json::Value& client : all) {
    if (!client.is_true("idle")) clients.push_back(&client);
  }
  const std::size_t idle = all.size() - clients.size();
  const auto add_idle = [&] {
    if (idle == 0) return;
    lines.emplace_back().add(
        fmt::format("{}{} idle {}, with no connection", clients.empty() ? "" : "and ", idle,
                    idle == 1 ? "HTTP session" : "HTTP sessions"),
        Tone::faint);
  };
  if (clients.empty()) {
    add_idle();
    if (idle == 0) lines.emplace_back().add("no clients", Tone::faint);
    return lines;
  }
  if (rows > 1 && idle > 0) --rows;
  // One row is the heading, one the count of omitted clients.
  std::size_t shown = clients.size();
  if (rows > 0 && clients.size() + 1 > rows) shown = rows > 2 ? rows - 2 : 0;
  std::vector<std::vector<TableCell>> table;
  for (std::size_t at = 0; at < shown; ++at) table.push_back(make_row(*clients[at]));
  lines = render_table(">CLIENT|KIND|>PID|>UID|>CONNECTED|>IN FLIGHT|>QUEUED|COMMAND",
                       std::move(table), look);
  if (shown < clients.size())
    lines.emplace_back().add(fmt::format("and {} more", clients.size() - shown), Tone::faint);
  add_idle();
  return lines;
}

}  // namespace client
