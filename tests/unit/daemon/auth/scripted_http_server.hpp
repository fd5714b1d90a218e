#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "event/descriptor_watch.hpp"

namespace bridge {

/// An HTTP server on the test's own loop: responds by path and records the requests.
class ScriptedHttpServer {
 public:
  struct Request {
    std::string line;  ///< `POST /token`
    std::string head;
    std::string body;
  };
  struct Answer {
    int status = 404;
    std::string body;
  };

  explicit ScriptedHttpServer(EventLoop& loop)
      : loop_(loop),
        listener_(loop, listen_anywhere(), [this](DescriptorWatch::Event) { accept(); }) {
    listener_.want(DescriptorWatch::Event::readable);
  }

  std::string origin() const {
    sockaddr_in address{};
    socklen_t length = sizeof address;
    getsockname(listener_.descriptor(), reinterpret_cast<sockaddr*>(&address), &length);
    return "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  void answer(const std::string& path, int status, const std::string& body) {
    answers_[path] = [status, body](const Request&) { return Answer{status, body}; };
  }
  void answer(const std::string& path, std::function<Answer(const Request&)> make) {
    answers_[path] = std::move(make);
  }
  const std::vector<Request>& seen() const { return seen_; }
  std::size_t count(const std::string& line) const {
    std::size_t found = 0;
    for (const Request& request : seen_) found += request.line == line ? 1 : 0;
    return found;
  }

 private:
  struct Connection {
    std::unique_ptr<DescriptorWatch> watch;
    std::string text;
  };

  static int listen_anywhere() {
    const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(listen(descriptor, 16) == 0);
    return descriptor;
  }

  void accept() {
    listener_.want(DescriptorWatch::Event::readable);
    const int descriptor = accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) return;
    connections_.push_back(std::make_unique<Connection>());
    Connection& connection = *connections_.back();
    connection.watch = std::make_unique<DescriptorWatch>(
        loop_, descriptor, [this, &connection](DescriptorWatch::Event) { read(connection); });
    connection.watch->want(DescriptorWatch::Event::readable);
  }

  void read(Connection& connection) {
    std::array<char, 4096> buffer{};
    const ssize_t size =
        recv(connection.watch->descriptor(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size <= 0) return;
    connection.text.append(buffer.data(), static_cast<std::size_t>(size));
    const auto end = connection.text.find("\r\n\r\n");
    if (end == std::string::npos ||
        connection.text.size() < end + 4 + body_length(connection.text)) {
      connection.watch->want(DescriptorWatch::Event::readable);
    } else {
      reply(connection, end);
    }
  }

  static std::size_t body_length(const std::string& text) {
    const auto at = text.find("Content-Length: ");
    return at == std::string::npos ? 0 : std::stoul(text.substr(at + 16));
  }

  /// Replies and closes: one request per connection.
  void reply(Connection& connection, std::size_t head_end) {
    const std::string& text = connection.text;
    Request request{text.substr(0, text.find(" HTTP/")), text.substr(0, head_end),
                    text.substr(head_end + 4)};
    seen_.push_back(request);
    const auto found = answers_.find(request.line.substr(request.line.find(' ') + 1));
    const Answer answer = found == answers_.end() ? Answer{} : found->second(request);
    const std::string reply =
        "HTTP/1.1 " + std::to_string(answer.status) + " X\r\nContent-Type: application/json\r\n" +
        "Content-Length: " + std::to_string(answer.body.size()) + "\r\n\r\n" + answer.body;
    const int descriptor = connection.watch->descriptor();
    CHECK(send(descriptor, reply.data(), reply.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(reply.size()));
    connection.watch.reset();
  }

  EventLoop& loop_;
  DescriptorWatch listener_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::map<std::string, std::function<Answer(const Request&)>> answers_;
  std::vector<Request> seen_;
};

}  // namespace bridge
