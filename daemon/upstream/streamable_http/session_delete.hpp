#pragma once

#include <functional>

#include "http/client/redirection.hpp"
#include "http/client/response_head.hpp"
#include "upstream/streamable_http/http_context.hpp"

namespace bridge {

/// The DELETE that ends the session (MCP 2025-11-25, "Session Management"). Whatever comes of it is
/// fine, and it takes 2 s at most. The loop's thread only; `context` outlives it.
class SessionDelete final : private CurlTransfer {
 public:
  /// Begins at once; `done` is called once, from the loop, unless this is destroyed before.
  SessionDelete(HttpContext& context, std::function<void()> done);
  ~SessionDelete();
  SessionDelete(const SessionDelete&) = delete;
  SessionDelete& operator=(const SessionDelete&) = delete;

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
