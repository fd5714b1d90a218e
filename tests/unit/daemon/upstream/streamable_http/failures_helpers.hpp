#pragma once

#include <memory>
#include <string>

#include "../../support/fake_token_source.hpp"
#include "base/byte_budget.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "http/client/curl_loop.hpp"
#include "upstream/streamable_http/failures.hpp"
#include "upstream/streamable_http/http_context.hpp"

namespace bridge {

/// A context that no transfer ever uses.
struct TestContext {
  explicit TestContext(HttpOptions options = {})
      : context(curl, std::move(options), token, budget, log) {}

  void use_token(const std::string& text) {
    source->token = text;
    token.is_there();
  }

  EventLoop loop;
  CurlLoop curl{loop};
  FakeTokenSource* source = new FakeTokenSource;  // token's
  AccessToken token{std::unique_ptr<TokenSource>(source), nullptr};
  ByteBudget budget{1 << 20};
  Log log{LogLevel::off};
  HttpContext context;
};

inline ResponseHead head_with(int status, const std::string& content_type = "application/json") {
  ResponseHead head;
  head.status = status;
  head.set_content_type(content_type);
  return head;
}

}  // namespace bridge
