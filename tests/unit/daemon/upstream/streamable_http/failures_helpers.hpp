#pragma once

#include <string>

#include "base/byte_budget.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "http/client/curl_loop.hpp"
#include "upstream/streamable_http/failures.hpp"
#include "upstream/streamable_http/http_context.hpp"

namespace bridge {

/// A context that no transfer ever uses.
struct TestContext {
  explicit TestContext(HttpOptions options = {}) : context(curl, std::move(options), budget, log) {}

  EventLoop loop;
  CurlLoop curl{loop};
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
