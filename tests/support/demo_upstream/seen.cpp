#include "seen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "json_text.hpp"

namespace demo {
namespace {

std::string or_null(const std::string& text) { return text.empty() ? "null" : json::quoted(text); }

std::string headers_json(std::string_view flat) {
  std::map<std::string, std::string> joined;
  while (!flat.empty()) {
    const auto name_end = flat.find('\0');
    const auto value_end = flat.find('\0', name_end + 1);
    std::string name(flat.substr(0, name_end));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto value = flat.substr(name_end + 1, value_end - name_end - 1);
    auto& all = joined[name];
    if (!all.empty()) all += ", ";
    all += value;
    flat.remove_prefix(value_end + 1);
  }
  std::string json;
  for (const auto& [name, value] : joined) {
    json +=
        fmt::format("{}{}:{}", json.empty() ? "" : ",", json::quoted(name), json::quoted(value));
  }
  return '{' + json + '}';
}

}  // namespace

double monotonic_ms() {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  return Milliseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

SeenRequest seen(const HttpRequest& request, const Message& message) {
  SeenRequest entry;
  entry.at_ms = monotonic_ms();
  entry.http_method = request.method();
  entry.path = request.path();
  entry.headers.reserve(512);
  request.each_header([&](std::string_view name, std::string_view value) {
    entry.headers.append(name) += '\0';
    entry.headers.append(value) += '\0';
  });
  entry.body = request.body();
  entry.method = message.method;
  entry.id = message.id;
  entry.session_id = request.header("Mcp-Session-Id");
  entry.connection = request.connection();
  return entry;
}

std::string SeenRequest::json() const {
  return fmt::format(
      R"({{"n":{},"atMs":{:.3f},"httpMethod":{},"path":{},"headers":{},"body":{},"method":{},)"
      R"("id":{},"sessionId":{},"connection":{}}})",
      n, at_ms, json::quoted(http_method), json::quoted(path), headers_json(headers),
      json::quoted(body), or_null(method), or_null(id), or_null(session_id), connection);
}

std::string SeenAnswer::json() const {
  return fmt::format(R"({{"n":{},"atMs":{:.3f},"id":{},"sessionId":{},"body":{}}})", n, at_ms,
                     json::quoted(id), or_null(session_id), json::quoted(body));
}

}  // namespace demo
