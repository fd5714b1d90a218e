#include "render/clients_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "command_line/duration.hpp"
#include "terminal/utf8.hpp"
#include "terminal/visible.hpp"

namespace client {
namespace {

constexpr std::size_t table_columns = 8;
constexpr std::size_t widest_command = 30;

using Row = std::array<std::string, table_columns>;

std::string plain(const json::Value* value) {
  if (value == nullptr || value->is(json::Value::Kind::null)) return "-";
  return make_visible_line(value->is(json::Value::Kind::string) ? value->text
                                                                : json::to_json(*value));
}

Row make_row(const json::Value& client) {
  const auto connected = static_cast<Milliseconds::rep>(client.count("connectedMs"));
  std::string command = plain(client.find("command"));
  if (display_width(command) > widest_command) {
    command = std::string(fit_columns(command, widest_command - 3)) + "...";
  }
  return {plain(client.find("id")),
          plain(client.find("kind")),
          plain(client.find("pid")),
          plain(client.find("uid")),
          format_duration(Milliseconds(connected)),
          plain(client.find("inFlight")),
          plain(client.find("queuedBytes")),
          command};
}

}  // namespace

std::string render_clients(const std::vector<json::Value>& clients) {
  if (clients.empty()) return "no clients\n";
  std::vector<Row> rows = {
      {"CLIENT", "KIND", "PID", "UID", "CONNECTED", "IN FLIGHT", "QUEUED", "COMMAND"}};
  for (const json::Value& client : clients) rows.push_back(make_row(client));
  std::array<std::size_t, table_columns> widths{};
  for (const Row& row : rows) {
    for (std::size_t at = 0; at < table_columns; ++at) {
      widths[at] = std::max(widths[at], display_width(row[at]));
    }
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t at = 0; at < table_columns; ++at) {
      line += row[at];
      line.append(widths[at] - display_width(row[at]) + 2, ' ');
    }
    while (line.back() == ' ') line.pop_back();
    text += line + "\n";
  }
  return text;
}

}  // namespace client
