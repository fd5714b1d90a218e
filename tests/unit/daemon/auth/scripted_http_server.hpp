#pragma once

#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bridge {

/// An HTTP server on the test's own loop: answers by path and remembers what it was sent.
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

  explicit ScriptedHttpServer(asio::io_context& loop)
      : acceptor_(loop, {asio::ip::address_v4::loopback(), 0}) {
    accept();
  }

  std::string origin() const {
    return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
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
    explicit Connection(asio::ip::tcp::socket given) : socket(std::move(given)) {}
    asio::ip::tcp::socket socket;
    std::string text;
    std::string reply;
  };

  void accept() {
    acceptor_.async_accept([this](const std::error_code& error, asio::ip::tcp::socket socket) {
      if (error) return;
      read(std::make_shared<Connection>(std::move(socket)));
      accept();
    });
  }

  void read(const std::shared_ptr<Connection>& connection) {
    auto buffer = std::make_shared<std::string>(4096, '\0');
    connection->socket.async_read_some(
        asio::buffer(*buffer),
        [this, connection, buffer](const std::error_code& error, std::size_t size) {
          if (error) return;
          connection->text.append(*buffer, 0, size);
          const auto end = connection->text.find("\r\n\r\n");
          if (end == std::string::npos ||
              connection->text.size() < end + 4 + body_length(connection->text)) {
            read(connection);
          } else {
            reply(connection, end);
          }
        });
  }

  static std::size_t body_length(const std::string& text) {
    const auto at = text.find("Content-Length: ");
    return at == std::string::npos ? 0 : std::stoul(text.substr(at + 16));
  }

  void reply(const std::shared_ptr<Connection>& connection, std::size_t head_end) {
    const std::string& text = connection->text;
    Request request{text.substr(0, text.find(" HTTP/")), text.substr(0, head_end),
                    text.substr(head_end + 4)};
    seen_.push_back(request);
    const auto found = answers_.find(request.line.substr(request.line.find(' ') + 1));
    const Answer answer = found == answers_.end() ? Answer{} : found->second(request);
    connection->reply =
        "HTTP/1.1 " + std::to_string(answer.status) + " X\r\nContent-Type: application/json\r\n" +
        "Content-Length: " + std::to_string(answer.body.size()) + "\r\n\r\n" + answer.body;
    asio::async_write(connection->socket, asio::buffer(connection->reply),
                      [connection](const std::error_code&, std::size_t) {});
  }

  asio::ip::tcp::acceptor acceptor_;
  std::map<std::string, std::function<Answer(const Request&)>> answers_;
  std::vector<Request> seen_;
};

}  // namespace bridge
