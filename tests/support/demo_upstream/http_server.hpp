#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "answer.hpp"
#include "growing_pool.hpp"
#include "http_request.hpp"

namespace demo {

/// Wraps the HTTP library: requests in, responses out, a thread for each connection.
class HttpServer {
 public:
  using Handler = std::function<Answer(const HttpRequest&)>;

  /// `pool` outlives the server. The handler is called from many threads concurrently.
  HttpServer(GrowingPool& pool, int keep_alive_seconds, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// On 127.0.0.1. The bound port; port 0 chooses one; -1 if binding fails.
  int bind(int port);

  /// Serves until `stop`, which may be called from another thread, even before this.
  void run();
  void stop();

  struct Connections {
    std::uint64_t accepted = 0;
    std::uint64_t open = 0;
  };
  Connections connections() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace demo
