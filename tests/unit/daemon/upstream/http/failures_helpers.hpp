#pragma once

#include <asio/io_context.hpp>

#include <string>

#include "loop/byte_budget.hpp"
#include "loop/turn.hpp"
#include "service/log.hpp"
#include "upstream/http/curl_loop.hpp"
#include "upstream/http/failures.hpp"
#include "upstream/http/http_context.hpp"

namespace bridge {

/// A context that no transfer ever uses.
struct TestContext {
  explicit TestContext(HttpOptions options = {}) : context(curl, std::move(options), budget, log) {}

  asio::io_context loop;
  Turn turn;
  CurlLoop curl{loop, turn};
  ByteBudget budget{1 << 20};
  Log log{LogLevel::off};
  HttpContext context;
};

inline ResponseHead head_with(int status, const std::string& content_type = "application/json") {
  ResponseHead head;
  head.status = status;
  head.content_type = content_type;
  return head;
}

}  // namespace bridge
