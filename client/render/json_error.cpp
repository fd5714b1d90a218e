#include "render/json_error.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "json/text.hpp"
#include "json/value.hpp"
#include "terminal/visible.hpp"
#include "text/utf8.hpp"

namespace client {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::string_view again = "mcp-nc status says how it is; the daemon tries again by itself";
constexpr std::array<Pair, 14> hints_of_kinds = {{
    {"usage", "mcp-nc help COMMAND says how it is used"},
    {"daemon", "mcp-bridged has to run; -s or MCP_SOCKET_PATH names its socket"},
    {"timeout",
     "-w sets how long mcp-nc waits; --request-timeout of mcp-bridged how long that does"},
    {"dns", again},
    {"connect", again},
    {"tls", "the daemon's log says what is wrong with the certificate"},
    {"closed", again},
    {"session", again},
    {"http", again},
    {"auth", "the daemon's credentials are what the server judges"},
    {"too_large", "--max-frame of mcp-bridged sets how large a message may be"},
    {"overloaded", "too much is under way; try again later"},
    {"shutdown", "the daemon is ending; try again when it has started"},
    {"job", "mcp-nc jobs lists them"},
}};

/// What was typed may be no UTF-8.
std::string quote_any(const std::string& text) {
  return json::quote(bridge::is_utf8(text) ? text : make_visible(text));
}

}  // namespace

std::string_view hint_for(std::string_view kind) {
  for (const auto& [name, hint] : hints_of_kinds) {
    if (name == kind) return hint;
  }
  return {};
}

std::string to_text(const JsonError& error) {
  std::string text =
      fmt::format(R"({{"error":{{"kind":{},"code":{},"delivered":"{}","message":{},"hint":{})",
                  json::quote(error.kind), error.code, error.delivered, quote_any(error.message),
                  quote_any(error.hint));
  if (!error.result.empty()) text += ",\"result\":" + error.result;
  return text + "}}\n";
}

JsonError read_error(std::string_view raw) {
  JsonError error;
  error.kind = "server";
  error.delivered = "yes";
  const auto value = json::parse(raw);
  if (!value) {
    error.message = std::string(raw);
    return error;
  }
  error.message = value->string("message");
  if (const json::Value* code = value->find("code", json::Value::Kind::number))
    error.code = code->text;
  const json::Value* const data = value->find("data", json::Value::Kind::object);
  if (data == nullptr || data->string("source") != "bridge") return error;
  error.kind = data->string("kind");
  error.delivered = data->string("delivered") == "unknown" ? "unknown" : "no";
  error.hint = hint_for(error.kind);
  return error;
}

JsonError read_daemon_error(std::string_view raw) {
  JsonError error = read_error(raw);
  if (error.kind != "server") return error;
  error.kind = "daemon";
  error.delivered = "no";
  error.hint = "mcp-nc status shows how the daemon runs";
  return error;
}

}  // namespace client
