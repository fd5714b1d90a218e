#pragma once

#include <functional>

#include "http/client/http_transfer.hpp"
#include "upstream/streamable_http/http_context.hpp"

namespace bridge {

/// The DELETE that ends the session (MCP 2025-11-25, "Session Management"). Whatever comes of it is
/// fine, and it takes 2 s at most. The loop's thread only; `context` outlives it.
class SessionDelete final : private TransferReceiver {
 public:
  /// Begins at once; `done` is called once, from the loop, unless this is destroyed before.
  SessionDelete(HttpContext& context, std::function<void()> done);
  SessionDelete(const SessionDelete&) = delete;
  SessionDelete& operator=(const SessionDelete&) = delete;

 private:
  void begin();
  bool body_received(std::string_view) override { return true; }
  void transfer_progressed(bool done, int result) override;

  HttpContext& context_;
  std::function<void()> done_;
  SteadyTime deadline_;
  HttpTransfer transfer_;
};

}  // namespace bridge
