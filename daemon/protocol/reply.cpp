#include "protocol/reply.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "protocol/error_codes.hpp"
#include "protocol/json_text.hpp"

namespace bridge {

std::string_view name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::connect: return "connect";
    case ErrorKind::dns: return "dns";
    case ErrorKind::tls: return "tls";
    case ErrorKind::timeout: return "timeout";
    case ErrorKind::closed: return "closed";
    case ErrorKind::malformed: return "malformed";
    case ErrorKind::too_large: return "too_large";
    case ErrorKind::session: return "session";
    case ErrorKind::http: return "http";
    case ErrorKind::auth: return "auth";
    case ErrorKind::overloaded: return "overloaded";
    case ErrorKind::no_client: return "no_client";
    case ErrorKind::not_initialized: return "not_initialized";
    case ErrorKind::shutdown: return "shutdown";
  }
  return "closed";
}

std::string log_text(const Failure& failure) {
  if (failure.error_object.empty())
    return failure.summary.empty() ? failure.message : failure.summary;
  const auto code = find_member(failure.error_object, "code");
  return fmt::format("an error of the upstream's own, code {}",
                     code ? code->substr(0, 20) : "missing");
}

Failure failure_of(ErrorKind kind, Delivered delivered, std::string message) {
  Failure failure;
  failure.kind = kind;
  failure.delivered = delivered;
  failure.message = std::move(message);
  return failure;
}

Failure definitive_failure_of(ErrorKind kind, std::string message) {
  Failure failure = failure_of(kind, Delivered::no, std::move(message));
  failure.definitive = true;
  return failure;
}

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
  if (!failure.upstream_error.empty()) reply += ",\"upstream\":" + failure.upstream_error;
  reply += "}}}";
  return reply;
}

std::string result_reply(std::string_view raw_id, std::string_view raw_result) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", raw_id, raw_result);
}

}  // namespace bridge
