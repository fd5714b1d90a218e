#include "render/status.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "command_line/duration.hpp"
#include "render/clients_table.hpp"
#include "terminal/progress_bar.hpp"
#include "terminal/visible.hpp"

namespace client {
namespace {

using json::Value;
using Kind = Value::Kind;

constexpr std::size_t bar_cells = 20;

std::string line(std::string_view name, std::string_view text) {
  return fmt::format("{:<11}{}\n", name, make_visible_line(text));
}

std::string duration(const Value& object, std::string_view name) {
  return format_duration(Milliseconds(static_cast<Milliseconds::rep>(object.count(name))));
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 10 * 1024) return fmt::format("{} B", bytes);
  const auto amount = static_cast<double>(bytes);
  if (bytes < 10 * 1024 * 1024) return fmt::format("{:.0f} KiB", amount / 1024);
  return fmt::format("{:.0f} MiB", amount / 1024 / 1024);
}

std::string time_text(std::uint64_t microseconds) {
  if (microseconds < 10000) return fmt::format("{} us", microseconds);
  return fmt::format("{:.1f} ms", static_cast<double>(microseconds) / 1000);
}

/// "1 error", "2 errors".
std::string counted(std::uint64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

void append(std::string& list, std::string_view what) {
  if (what.empty()) return;
  if (!list.empty()) list += ", ";
  list += what;
}

std::string render_upstream(const Value& upstream) {
  std::string text;
  const std::string_view kind = upstream.string("kind");
  const std::string_view target = upstream.string("target");
  text += line("upstream", fmt::format("{}{}{}", target, target.empty() ? "" : " ",
                                       kind.empty() ? "" : fmt::format("({})", kind)));

  std::string session(upstream.string("state"));
  if (upstream.count("sessionAgeMs") > 0)
    append(session, "for " + duration(upstream, "sessionAgeMs"));
  if (upstream.count("reopened") > 0) {
    append(session, "reopened " + counted(upstream.count("reopened"), "time"));
  }
  if (const auto stream = upstream.string("stream"); !stream.empty()) {
    append(session, fmt::format("server stream {}", stream));
  }
  text += line("session", session);

  std::string server;
  if (const Value* info = upstream.find("serverInfo", Kind::object)) {
    server = fmt::format("{} {}", info->string("name"), info->string("version"));
  }
  if (const auto version = upstream.string("protocolVersion"); !version.empty()) {
    append(server, fmt::format("protocol {}", version));
  }
  append(server, upstream.string("era"));
  if (!server.empty()) text += line("server", server);
  return text;
}

std::string render_ring(const Value& ring) {
  const std::uint64_t entries = ring.count("entries");
  const std::uint64_t capacity = ring.count("capacity");
  const double fill =
      capacity > 0 ? static_cast<double>(entries) / static_cast<double>(capacity) : 0;
  std::string text =
      fmt::format("{} {}/{}, {} of {}, {} untaken, {} dropped", draw_bar(fill, bar_cells), entries,
                  capacity, size_text(ring.count("bytes")), size_text(ring.count("capacityBytes")),
                  ring.count("untaken"), ring.count("dropped"));
  if (ring.count("coalesced") > 0) text += fmt::format(", {} coalesced", ring.count("coalesced"));
  if (entries > 0)
    text += fmt::format(", sequence {} to {}", ring.count("oldest"), ring.count("newest"));
  return line("ring", text);
}

std::string render_last_error(const Value& error, std::int64_t now_ms) {
  std::string when;
  if (const auto at = static_cast<std::int64_t>(error.count("atMs")); at > 0 && at <= now_ms) {
    when = ", " + format_duration(Milliseconds(now_ms - at)) + " ago";
  }
  return line("last error",
              fmt::format("{}: {}{}", error.string("kind"), error.string("message"), when));
}

}  // namespace

std::string render_status(const Value& status, std::int64_t now_ms) {
  std::string text =
      line("daemon", fmt::format("mcp-bridged {}, pid {}, up {}", status.string("version"),
                                 status.count("pid"), duration(status, "uptimeMs")));
  if (const Value* upstream = status.find("upstream", Kind::object)) {
    text += render_upstream(*upstream);
  }
  if (const Value* ring = status.find("ring", Kind::object)) text += render_ring(*ring);
  if (const Value* requests = status.find("requests", Kind::object)) {
    text += line(
        "requests",
        fmt::format("{} in all, {}, {} in flight, {} queued, {} parked", requests->count("total"),
                    counted(requests->count("errors"), "error"), requests->count("inFlight"),
                    requests->count("queued"), requests->count("parked")));
  }
  const Value* latency = status.find("latencyUs", Kind::object);
  if (latency != nullptr && latency->count("p50") > 0) {
    text += line("latency",
                 fmt::format("p50 {}, p99 {}, of the p50 added by the bridge {}",
                             time_text(latency->count("p50")), time_text(latency->count("p99")),
                             time_text(latency->count("addedP50"))));
  }
  if (const Value* error = status.find("lastError", Kind::object)) {
    text += render_last_error(*error, now_ms);
  }
  if (const Value* clients = status.find("clients", Kind::array)) {
    text.push_back('\n');
    text += render_clients(clients->items);
  }
  return text;
}

bool is_ready(const Value& status) {
  const Value* upstream = status.find("upstream", Kind::object);
  if (upstream == nullptr) return false;
  if (const Value* ready = upstream->find("ready", Kind::boolean)) return ready->truth;
  const std::string_view state = upstream->string("state");
  return state != "waiting" && state != "refused";
}

std::string render_ready(const Value& status) {
  const Value* upstream = status.find("upstream", Kind::object);
  const std::string_view state = upstream == nullptr ? "unknown" : upstream->string("state");
  if (is_ready(status)) return fmt::format("ready: {}", state);
  std::string text = fmt::format("not ready: the upstream is {}", state);
  if (const Value* error = status.find("lastError", Kind::object)) {
    text += fmt::format("; {}: {}", error->string("kind"), error->string("message"));
  }
  return text;
}

}  // namespace client
