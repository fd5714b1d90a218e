#pragma once

#include <atomic>

#include "control.hpp"
#include "endpoint.hpp"
#include "http_server.hpp"
#include "upstream.hpp"

namespace demo {

/// Owns all parts of the server.
class Program {
 public:
  explicit Program(Options options);

  /// The bound port, -1 if binding fails.
  int bind() { return server_.bind(upstream_.options.port); }

  /// Serves until SIGTERM or SIGINT, which must be blocked in all threads.
  void run();

 private:
  Answer handle(const HttpRequest& request);

  Upstream upstream_;
  Endpoint endpoint_;
  HttpServer server_;
  Control control_;
};

}  // namespace demo
