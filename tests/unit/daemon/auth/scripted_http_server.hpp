#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "http/server/http_server.hpp"

namespace bridge {

/// An HTTP server on the test's own loop: responds by path and records the requests.
class ScriptedHttpServer final : public HttpRequests {
 public:
  struct Request {
    std::string line;  ///< `POST /token`
    RequestHead head;
    std::string body;
  };

  explicit ScriptedHttpServer(EventLoop& loop) : loop_(loop) { server_.start(); }

  std::string origin() const { return "http://" + authority_; }

  void answer(const std::string& path, int status, const std::string& body) {
    answer(path, [=](const Request&) {
      return HttpResponse{status, "application/json", body, {}};
    });
  }
  void answer(const std::string& path, std::function<HttpResponse(const Request&)> make) {
    answers_[path] = std::move(make);
  }
  /// Responds 404 to everything again.
  void forget_answers() { answers_.clear(); }

  const std::vector<Request>& seen() const { return seen_; }
  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    for (const Request& request : seen_) all.push_back(request.line);
    return all;
  }
  std::ptrdiff_t count(const std::string& line) const {
    return std::count_if(seen_.begin(), seen_.end(),
                         [&](const Request& request) { return request.line == line; });
  }

  Admission request_begins(const HttpConnection&, const RequestHead&, bool) override {
    return {{}, true};
  }
  HttpResponse refusal(int status, std::string_view) const override {
    return text_response(status, {});
  }
  void request(HttpConnection& connection, RequestHead head, ReceivedText body) override {
    const std::string path = head.path;
    seen_.push_back({head.method + ' ' + path, std::move(head), std::move(body.bytes)});
    const auto found = answers_.find(path);
    connection.respond(found == answers_.end() ? text_response(404, {})
                                               : found->second(seen_.back()));
  }

 private:
  EventLoop& loop_;
  Log log_{LogLevel::off};
  ByteBudget budget_{1 << 20};
  ByteCounts counts_;
  ListeningPort port_ = ListeningPort::open(*parse_listen_address("127.0.0.1:0"));
  const std::string authority_ = port_.authority;
  Deferred flush_{loop_, [this] { server_.flush(); }};
  HttpServer server_{HttpConnectionContext{loop_, budget_, counts_, *this, flush_, 1 << 20,
                                           std::chrono::seconds(30)},
                     port_, nullptr, 16, log_};
  std::map<std::string, std::function<HttpResponse(const Request&)>> answers_;
  std::vector<Request> seen_;
};

}  // namespace bridge
