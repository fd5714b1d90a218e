#include "render/clients_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "command_line/duration.hpp"
#include "render/figures.hpp"
#include "terminal/utf8.hpp"
#include "terminal/visible.hpp"

namespace client {
namespace {

constexpr std::size_t table_columns = 8;
constexpr std::size_t in_flight_column = 5;
constexpr std::size_t command_column = table_columns - 1;
constexpr std::size_t widest_command = 60;
constexpr std::size_t narrowest_command = 10;
constexpr std::size_t column_gap = 2;

using Row = std::array<std::string, table_columns>;

constexpr std::array<std::string_view, table_columns> headings = {
    "CLIENT", "KIND", "PID", "UID", "CONNECTED", "IN FLIGHT", "QUEUED", "COMMAND"};

/// Figures stand at the right of their columns.
constexpr std::array<bool, table_columns> is_figure = {true, false, true, true,
                                                       true, true,  true, false};

std::string plain(const json::Value* value) {
  if (value == nullptr || value->is(json::Value::Kind::null)) return "-";
  return make_visible_line(value->is(json::Value::Kind::string) ? value->text
                                                                : json::to_json(*value));
}

Row make_row(const json::Value& client) {
  const auto connected = static_cast<Milliseconds::rep>(client.count("connectedMs"));
  const bool has_queue = client.find("queuedBytes", json::Value::Kind::number) != nullptr;
  return {plain(client.find("id")),
          plain(client.find("kind")),
          plain(client.find("pid")),
          plain(client.find("uid")),
          format_duration(Milliseconds(connected)),
          plain(client.find("inFlight")),
          has_queue ? size_text(client.count("queuedBytes")) : "-",
          plain(client.find("command"))};
}

bool is_idle(const json::Value& client) {
  const json::Value* idle = client.find("idle", json::Value::Kind::boolean);
  return idle != nullptr && idle->truth;
}

void shorten(std::string& command, std::size_t room) {
  if (display_width(command) <= room) return;
  command = std::string(fit_columns(command, room - 3)) + "...";
}

Tone tone_of(const Row& row, std::size_t column) {
  if (column == in_flight_column) return row[column] == "0" ? Tone::faint : Tone::strong;
  return column == command_column ? Tone::plain : Tone::faint;
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
  std::vector<Row> table;
  std::array<std::size_t, table_columns> widths{};
  for (std::size_t at = 0; at < table_columns; ++at) widths[at] = headings[at].size();
  for (std::size_t at = 0; at < shown; ++at) {
    const Row& row = table.emplace_back(make_row(*clients[at]));
    for (std::size_t column = 0; column < command_column; ++column) {
      widths[column] = std::max(widths[column], display_width(row[column]));
    }
  }
  std::size_t room = widest_command;
  if (look.width > 0) {
    std::size_t taken = 0;
    for (std::size_t column = 0; column < command_column; ++column)
      taken += widths[column] + column_gap;
    room = look.width > taken + narrowest_command ? look.width - taken : narrowest_command;
  }
  const auto add_row = [&](const auto& cells, auto&& tone) {
    StyledLine& line = lines.emplace_back();
    std::size_t begin = 0;
    for (std::size_t column = 0; column < table_columns; ++column) {
      const std::string_view cell = cells[column];
      line.pad_to(is_figure[column] ? begin + widths[column] - display_width(cell) : begin);
      line.add(cell, tone(column));
      begin += widths[column] + column_gap;
    }
  };
  add_row(headings, [](std::size_t) { return Tone::strong; });
  for (Row& row : table) {
    shorten(row[command_column], room);
    add_row(row, [&row](std::size_t column) { return tone_of(row, column); });
  }
  if (shown < clients.size()) {
    lines.emplace_back().add(fmt::format("and {} more", clients.size() - shown), Tone::faint);
  }
  add_idle();
  return lines;
}

}  // namespace client
