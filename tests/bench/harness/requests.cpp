#include "harness/requests.hpp"

namespace bench {
namespace {

std::string session_lines(std::string_view session) {
  std::string lines = "MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: ";
  return lines.append(session).append("\r\n");
}

}  // namespace

std::string initialize_message() {
  return R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
         R"("capabilities":{},"clientInfo":{"name":"bench","version":"1"}}})";
}

std::string initialized_message() {
  return R"({"jsonrpc":"2.0","method":"notifications/initialized"})";
}

std::string echo_message(std::string_view text, int id) {
  std::string message = R"({"jsonrpc":"2.0","id":)" + std::to_string(id);
  message += R"(,"method":"tools/call","params":{"name":"echo","arguments":{"message":")";
  message += text;
  message += R"("}}})";
  return message;
}

std::string large_result_message(std::string_view tool, std::size_t size) {
  std::string message = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")";
  message += tool;
  message += R"(","arguments":{"size":)" + std::to_string(size) + "}}}";
  return message;
}

std::string http_post(std::string_view body, std::string_view session, std::string_view path) {
  std::string request = "POST ";
  request += path;
  request +=
      " HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json, text/event-stream\r\n"
      "Content-Type: application/json\r\n";
  if (!session.empty()) request += session_lines(session);
  request += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  request += body;
  return request;
}

std::string http_delete(std::string_view session, std::string_view path) {
  std::string request = "DELETE ";
  request.append(path).append(" HTTP/1.1\r\nHost: 127.0.0.1\r\n");
  return request.append(session_lines(session)).append("\r\n");
}

}  // namespace bench
