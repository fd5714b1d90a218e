#pragma once

#include <functional>

#include "upstream/http/http_context.hpp"
#include "upstream/http/redirection.hpp"
#include "upstream/http/response_head.hpp"

namespace bridge {

/// The DELETE that ends the session (MCP 2025-11-25, "Session Management"). Whatever comes of it is
/// fine, and it takes 2 s at most. The loop's thread only; `context` outlives it.
class Goodbye final : private CurlTransfer {
 public:
  /// Begins at once; `done` is called once, from the loop, unless this is destroyed before.
  Goodbye(HttpContext& context, std::function<void()> done);
  ~Goodbye();
  Goodbye(const Goodbye&) = delete;
  Goodbye& operator=(const Goodbye&) = delete;

 private:
  struct Callbacks;

  void begin();
  void transfer_progressed(bool done, int result) override;

  HttpContext& context_;
  std::function<void()> done_;
  HeaderList headers_;
  SteadyTime deadline_;
  Redirection redirection_;
  ResponseHead head_;
  CurlHandle handle_;
  bool running_ = false;
};

}  // namespace bridge
