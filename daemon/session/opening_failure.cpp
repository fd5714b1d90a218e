#include "session/opening_failure.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/log.hpp"
#include "json/json_text.hpp"
#include "mcp/handshake.hpp"
#include "text/header_text.hpp"

namespace bridge {
namespace {

void tell_of_newer_revision(Failure& failure) {
  if (!speaks_only_newer(failure.error_object)) return;
  failure.kind = ErrorKind::session;
  failure.delivered = Delivered::no;
  failure.definitive = true;
  failure.message = fmt::format(
      "this server speaks only MCP {}, or nothing that the bridge could tell (see --era)",
      newest_version);
  failure.summary.clear();
  failure.upstream_error = std::exchange(failure.error_object, std::string());
}

}  // namespace

Failure failure_of_opening(Failure failure) {
  failure.opening = true;
  if (failure.error_object.empty()) return failure;
  failure.summary = log_text(failure);
  failure.kind = ErrorKind::session;
  failure.upstream_error = std::exchange(failure.error_object, std::string());
  failure.message = "the upstream refuses to initialize a session";
  return failure;
}

Failure failure_of_initialize_error(std::string_view error_object) {
  Failure failure =
      failure_of(ErrorKind::session, Delivered::no, "the upstream refuses to initialize a session");
  failure.error_object = std::string(error_object);
  tell_of_newer_revision(failure);
  return failure;
}

Failure failure_of_initialize_ending(Ending ending, std::string_view malformed) {
  if (ending.failure) {
    tell_of_newer_revision(*ending.failure);
    return std::move(*ending.failure);
  }
  Failure failure;
  failure.kind = ending.something_came ? ErrorKind::malformed : ErrorKind::closed;
  failure.message =
      malformed.empty()
          ? "the upstream's answer to initialize has no result in it"
          : fmt::format("the upstream's answer to initialize is no message: {}", malformed);
  return failure;
}

Failure failure_of_version(std::string_view version) {
  Failure failure =
      definitive_failure_of(ErrorKind::malformed, "the upstream's protocolVersion is none");
  failure.summary = failure.message;
  failure.message += fmt::format(": '{}'", printable(version, 40));
  return failure;
}

std::optional<Frame> error_of(const Failure& failure) {
  const std::string& error =
      failure.error_object.empty() ? failure.upstream_error : failure.error_object;
  if (error.empty()) return std::nullopt;
  auto parsed = parse_frame(fmt::format(R"({{"jsonrpc":"2.0","id":null,"error":{}}})", error));
  auto* frame = std::get_if<Frame>(&parsed);
  return frame != nullptr ? std::optional(std::move(*frame)) : std::nullopt;
}

bool is_definitive(const Failure& failure) {
  if (failure.definitive || !failure.error_object.empty()) return true;
  return failure.status >= 400 && failure.status < 500 && failure.status != 429;
}

}  // namespace bridge
