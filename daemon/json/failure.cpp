#include "json/failure.hpp"

#include <fmt/format.h>

#include <utility>

#include "json/json_text.hpp"

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

}  // namespace bridge
