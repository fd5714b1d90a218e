#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "answer.hpp"
#include "endpoint.hpp"
#include "http_request.hpp"
#include "http_server.hpp"
#include "upstream.hpp"

namespace demo {

/// `/control/…`: the tests' queries and commands; tests/support/README.md is its contract.
class Control {
 public:
  using Connections = std::function<HttpServer::Connections()>;

  Control(Upstream& upstream, Endpoint& endpoint, Connections connections)
      : upstream_(upstream), endpoint_(endpoint), connections_(std::move(connections)) {}

  Answer handle(const HttpRequest& request);

 private:
  std::optional<Answer> about_requests(const HttpRequest& request, std::string_view path);
  std::optional<Answer> about_sessions(const HttpRequest& request, std::string_view path);

  Answer log(const HttpRequest& request);
  Answer answers(const HttpRequest& request);
  Answer add_fault(std::string_view body);
  Answer emit(std::string_view body);
  Answer close_streams(std::string_view body);
  Answer state(const HttpRequest& request);
  void reset();

  Upstream& upstream_;
  Endpoint& endpoint_;
  Connections connections_;
};

}  // namespace demo
