#include "render/clients_table.hpp"

#include <fmt/format.h>

#include <utility>

#include "command_line/duration.hpp"
#include "render/figures.hpp"
#include "render/table.hpp"

namespace client {
namespace {

constexpr std::size_t in_flight_column = 5;

std::vector<TableCell> make_row(const json::Value& client) {
  const auto connected = static_cast<Milliseconds::rep>(client.count("connectedMs"));
  const bool has_queue = client.find("queuedBytes", json::Value::Kind::number) != nullptr;
  std::vector<TableCell> row = {
      {plain_cell(client.find("id")), Tone::faint},
      {plain_cell(client.find("kind")), Tone::faint},
      {plain_cell(client.find("pid")), Tone::faint},
      {plain_cell(client.find("uid")), Tone::faint},
      {format_duration(Milliseconds(connected)), Tone::faint},
      {plain_cell(client.find("inFlight"))},
      {has_queue ? size_text(client.count("queuedBytes")) : "-", Tone::faint},
      {plain_cell(client.find("command"))}};
  TableCell& in_flight = row[in_flight_column];
  in_flight.tone = in_flight.text == "0" ? Tone::faint : Tone::strong;
  return row;
}

bool is_idle(const json::Value& client) {
  const json::Value* idle = client.find("idle", json::Value::Kind::boolean);
  return idle != nullptr && idle->truth;
}

}  // namespace

std::vector<StyledLine> render_clients(const std::vector<json::Value>& all, const Look& look,
                                       std::size_t rows) {
  std::vector<StyledLine> lines;
  std::vector<const json::Value*> clients;
  for (const json::Value& client : all) {
    if (!is_idle(client)) clients.push_back(&client);
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
  // One row is the heading's, one the count's of those left out.
  std::size_t shown = clients.size();
  if (rows > 0 && clients.size() + 1 > rows) shown = rows > 2 ? rows - 2 : 0;
  std::vector<std::vector<TableCell>> table;
  for (std::size_t at = 0; at < shown; ++at) table.push_back(make_row(*clients[at]));
  lines = render_table({{"CLIENT", true},
                        {"KIND"},
                        {"PID", true},
                        {"UID", true},
                        {"CONNECTED", true},
                        {"IN FLIGHT", true},
                        {"QUEUED", true},
                        {"COMMAND"}},
                       std::move(table), look);
  if (shown < clients.size()) {
    lines.emplace_back().add(fmt::format("and {} more", clients.size() - shown), Tone::faint);
  }
  add_idle();
  return lines;
}

}  // namespace client
