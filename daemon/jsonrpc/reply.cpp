#include "jsonrpc/reply.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "jsonrpc/error_codes.hpp"
#include "text/json_text.hpp"

namespace bridge {

std::string error_reply(std::string_view raw_id, int code, std::string_view message) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":{}}}}})", raw_id,
                     code, quote(message));
}

std::string error_reply(std::string_view raw_id, const Failure& failure) {
  if (!failure.error_object.empty()) {
    return fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{}}})", raw_id, failure.error_object);
  }
  std::string reply;
  auto out = std::back_inserter(reply);
  fmt::format_to(
      out,
      R"({{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":{},"data":{{"source":"bridge")",
      raw_id, failure.status != 0 ? json_rpc::http_error : json_rpc::bridge_error,
      quote(failure.message));
  fmt::format_to(out, R"(,"kind":"{}","delivered":"{}")", name_of(failure.kind),
                 failure.delivered == Delivered::no ? "no" : "unknown");
  if (failure.status != 0) fmt::format_to(out, R"(,"status":{})", failure.status);
  if (failure.opening) reply += ",\"opening\":true";
  if (failure.retry_after)
    fmt::format_to(out, R"(,"retryAfterMs":{})", failure.retry_after->count());
  if (!failure.www_authenticate.empty()) {
    fmt::format_to(out, R"(,"wwwAuthenticate":{})", quote(failure.www_authenticate));
  }
  if (!failure.authorization_server.empty()) {
    fmt::format_to(out, R"(,"mcpAuthServer":{})", quote(failure.authorization_server));
  }
  if (!failure.login.empty()) fmt::format_to(out, R"(,"login":{})", quote(failure.login));
  if (!failure.upstream_error.empty()) reply += ",\"upstream\":" + failure.upstream_error;
  reply += "}}}";
  return reply;
}

std::string result_reply(std::string_view raw_id, std::string_view raw_result) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", raw_id, raw_result);
}

}  // namespace bridge
