// An MCP server that costs next to nothing, so that it is not the bottleneck at 32 clients: one
// thread, epoll, fixed responses. It finds the id and the method as text and reports no errors. Its
// session id is always the same, and as long as a real one. Some of its tools have large results
// (harness/large_results.hpp), whose size is their argument "size".
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "harness/http_head.hpp"
#include "harness/large_results.hpp"
#include "harness/sockets.hpp"

namespace {

struct Client {
  bench::Descriptor connection;
  std::string input;
};

/// The raw id of the message; empty for a notification.
std::string_view id_of(std::string_view message) {
  return bench::text_after(message, "\"id\":", ",}");
}

std::string_view result_of(std::string_view message) {
  if (message.find("\"tools/list\"") != message.npos) return R"({"tools":[]})";
  if (message.find("\"initialize\"") != message.npos) {
    return R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
           R"("serverInfo":{"name":"bench-upstream","version":"1"}})";
  }
  if (message.find("\"tools/call\"") != message.npos) {
    return R"({"content":[{"type":"text","text":"hello from the benchmark"}]})";
  }
  return "{}";
}

/// The request's kind is at the beginning of a message: only that part is parsed.
constexpr std::size_t looked_at = 400;

/// The beginning of a response; a large result is sent after it, from its stored copy.
struct Answer {
  std::string begin;
  std::string_view large;
};

Answer answer_to(std::string_view head, std::string_view message) {
  if (!head.starts_with("POST "))
    return {"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n", {}};
  const std::string_view id = id_of(message);
  if (id.empty()) return {"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", {}};
  const std::string_view large = bench::large_result_for(message);
  std::string body = R"({"jsonrpc":"2.0","id":)";
  body.append(id).append(R"(,"result":)");
  if (large.empty()) body.append(result_of(message)).append("}");
  return {
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: "
      "bench\r\nContent-Length: " +
          std::to_string(body.size() + large.size()) + "\r\n\r\n" + body,
      large};
}

/// False when the client has disconnected.
bool serve(Client& client) {
  std::array<char, 65536> bytes;
  const ssize_t got = recv(client.connection.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN;
  if (got == 0) return false;
  client.input.append(bytes.data(), static_cast<std::size_t>(got));
  for (auto extent = bench::http_extent(client.input);
       extent && client.input.size() >= extent->head + extent->body;
       extent = bench::http_extent(client.input)) {
    const std::string_view input = client.input;
    const Answer answer = answer_to(input.substr(0, extent->head),
                                    input.substr(extent->head, std::min(extent->body, looked_at)));
    bench::write_all(client.connection.get(), answer.begin);
    if (!answer.large.empty()) bench::write_all(client.connection.get(), answer.large);
    client.input.erase(0, extent->head + extent->body);
  }
  return true;
}

[[noreturn]] void run() {
  std::uint16_t port = 0;
  const bench::Descriptor listener = bench::listen_tcp(port);
  const bench::Descriptor poller(epoll_create1(EPOLL_CLOEXEC));
  std::unordered_map<int, Client> clients;
  const auto watch = [&](int fd) {
    epoll_event event{EPOLLIN, {.fd = fd}};
    if (epoll_ctl(poller.get(), EPOLL_CTL_ADD, fd, &event) != 0) bench::fail("epoll_ctl");
  };
  watch(listener.get());
  std::printf("listening on http://127.0.0.1:%u/mcp\n", port);
  std::fflush(stdout);
  for (;;) {
    std::array<epoll_event, 64> events;
    const int ready = epoll_wait(poller.get(), events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < ready; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd != listener.get()) {
        if (!serve(clients[fd])) clients.erase(fd);
        continue;
      }
      const int accepted = accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (accepted < 0) continue;
      bench::set_no_delay(accepted);
      clients[accepted].connection = bench::Descriptor(accepted);
      watch(accepted);
    }
  }
}

}  // namespace

int main() {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench-upstream: %s\n", error.what());
    return 1;
  }
}
