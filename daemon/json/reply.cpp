#include "json/reply.hpp"

#include <fmt/format.h>

#include <iterator>

#include "json/json_scanner.hpp"
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
    case ErrorKind::denied: return "denied";
    case ErrorKind::rate_limited: return "rate_limited";
    case ErrorKind::audit: return "audit";
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

namespace {

/// The members before the long one.
struct Beginning {
  bool is_answer = false;
  std::optional<std::uint64_t> id{};
};

Beginning read_beginning(std::string_view text) {
  Beginning found;
  JsonScanner scanner(text);
  scanner.skip_space();
  if (scanner.peek() != '{') return found;
  scanner.object([&](Slice key) {
    if (key_is(key.of(text), "result") || key_is(key.of(text), "error")) {
      found.is_answer = true;
      return false;
    }
    Slice value;
    if (!scanner.value(value)) return false;
    if (key_is(key.of(text), "id")) found.id = unsigned_by_value(value.of(text));
    return !key_is(key.of(text), "method");
  });
  return found;
}

void skip_space_at_end(std::string_view& text) {
  while (!text.empty() && std::string_view(" \t\r").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
}

bool take_end(std::string_view& text, std::string_view end) {
  skip_space_at_end(text);
  if (!text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  return true;
}

/// The value of `"id"` if that is the last member, or the last one before `jsonrpc`.
std::optional<std::uint64_t> read_end(std::string_view text) {
  if (!take_end(text, "}")) return std::nullopt;
  if (std::string_view without = text; take_end(without, R"("2.0")") && take_end(without, ":") &&
                                       take_end(without, R"("jsonrpc")") &&
                                       take_end(without, ",")) {
    text = without;
  }
  skip_space_at_end(text);
  const bool is_string = take_end(text, R"(")");
  const auto last_other = text.find_last_not_of("0123456789");
  if (last_other == text.npos) return std::nullopt;
  const std::string_view digits = text.substr(last_other + 1);
  text = text.substr(0, last_other + 1);
  if (is_string && !take_end(text, R"(")")) return std::nullopt;
  if (!take_end(text, ":") || !take_end(text, R"("id")") || !take_end(text, ","))
    return std::nullopt;
  return to_unsigned(digits);
}

}  // namespace

std::optional<std::uint64_t> id_of_oversized_answer(std::string_view beginning,
                                                    std::string_view end) {
  const Beginning found = read_beginning(beginning);
  if (!found.is_answer) return std::nullopt;
  return found.id ? found.id : read_end(end);
}

Failure answer_too_large(std::size_t limit) {
  return failure_of(
      ErrorKind::too_large, Delivered::unknown,
      fmt::format("the upstream's answer is over the limit of {} bytes (--max-frame)", limit));
}

std::string error_reply(std::string_view raw_id, const Failure& failure) {
  if (!failure.error_object.empty()) {
    return json_rpc_message()
        .add("id", RawJson{raw_id})
        .add("error", RawJson{failure.error_object})
        .text();
  }
  JsonObject data;
  data.add("source", "bridge").add("kind", name_of(failure.kind));
  data.add("delivered", failure.delivered == Delivered::no ? "no" : "unknown");
  if (failure.status != 0) data.add("status", failure.status);
  if (failure.opening) data.add("opening", true);
  if (failure.retry_after) data.add("retryAfterMs", failure.retry_after->count());
  data.add_unless_empty("wwwAuthenticate", failure.www_authenticate)
      .add_unless_empty("mcpAuthServer", failure.authorization_server)
      .add_unless_empty("login", failure.login);
  if (!failure.upstream_error.empty()) data.add("upstream", RawJson{failure.upstream_error});
  return error_reply(raw_id, failure.status != 0 ? json_rpc::http_error : json_rpc::bridge_error,
                     failure.message, data.text());
}

}  // namespace bridge
