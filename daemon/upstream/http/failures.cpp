#include "upstream/http/failures.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "protocol/frame.hpp"
#include "protocol/json_text.hpp"
#include "protocol/sse_parser.hpp"
#include "upstream/http/http_context.hpp"

namespace bridge {
namespace {

ErrorKind kind_of(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY: return ErrorKind::dns;
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_PROXY: return ErrorKind::connect;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_ENGINE_INITFAILED: return ErrorKind::tls;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_BAD_CONTENT_ENCODING: return ErrorKind::malformed;
    default: return ErrorKind::closed;
  }
}

std::string advice(ErrorKind kind, const HttpContext& context) {
  switch (kind) {
    case ErrorKind::dns: return "; check the host name in MCP_SERVER_URL";
    case ErrorKind::tls:
      return context.options().ca_file.empty() ? "; for a private authority name its certificate with --ca-file" : "";
    default: return {};
  }
}

/// The message in a body: the body itself, or the data of its first event with an error in it.
std::string first_message(const ResponseHead& head, const std::string& body) {
  if (!head.is_event_stream()) return body;
  struct First final : SseSink {
    void on_event(std::string, std::string data) override {
      if (message.empty() && find_member(data, "error")) message = std::move(data);
    }
    void on_retry(std::chrono::milliseconds) override {}
    void on_oversized_event() override {}
    std::string message;
  } first;
  SseParser parser(body.size() + 1);
  parser.feed(body, first);
  parser.feed("\n\n", first);
  return first.message;
}

bool mentions(std::string text, std::string_view words) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text.find(words) != text.npos;
}

}  // namespace

Failure failure_of_transfer(const HttpContext& context, int curl_result, bool sent) {
  const auto code = static_cast<CURLcode>(curl_result);
  Failure failure;
  failure.kind = kind_of(code);
  if (sent && (failure.kind == ErrorKind::connect || failure.kind == ErrorKind::dns)) {
    failure.kind = ErrorKind::closed;
  }
  failure.delivered = sent ? Delivered::unknown : Delivered::no;
  if (sent && failure.kind == ErrorKind::closed) {
    failure.message = fmt::format("the connection to {} broke before the answer was complete: {}",
                                  context.options().target, curl_easy_strerror(code));
  } else {
    failure.message = fmt::format("cannot reach {}: {}{}", context.options().target, curl_easy_strerror(code),
                                  advice(failure.kind, context));
  }
  return failure;
}

Failure failure_of_status(const HttpContext& context, const ResponseHead& head, const std::string& body) {
  Failure failure;
  failure.kind = head.status == 401 || head.status == 403 ? ErrorKind::auth : ErrorKind::http;
  failure.status = head.status;
  const bool rejected = head.status == 401 || head.status == 429 || (head.status == 503 && head.retry_after);
  failure.delivered = rejected ? Delivered::no : Delivered::unknown;
  if (head.retry_after) failure.retry_after = *head.retry_after;
  failure.www_authenticate = printable(context.without_secrets(head.www_authenticate), 1000);
  failure.authorization_server = printable(context.without_secrets(head.authorization_server), 1000);
  std::string message = first_message(head, body);
  make_single_line(message);
  auto parsed = parse_frame(std::move(message));
  if (const auto* frame = std::get_if<Frame>(&parsed); frame != nullptr && frame->is_response() && frame->error.present()) {
    failure.error_object = std::string(frame->text(frame->error));
  }
  const std::string text = printable(context.without_secrets(body.substr(0, 4096)));
  failure.summary = fmt::format("HTTP {}", head.status);
  failure.message = text.empty() ? failure.summary : fmt::format("{}: {}", failure.summary, text);
  return failure;
}

SessionVerdict session_verdict(const ResponseHead& head, const Failure& failure, bool carried_session) {
  const std::string_view error = failure.error_object;
  const std::string code(find_member(error, "code").value_or(""));
  const std::string message = find_string(error, "message").value_or(std::string());
  if (head.status == 404) {
    return carried_session && code != "-32601" ? SessionVerdict::lost : SessionVerdict::kept;
  }
  if (head.status != 400 || error.empty()) return SessionVerdict::kept;
  const bool before_initialization =
      (code == "-32600" || code == "-32602") && mentions(message, "before initialization");
  const bool speaks_of_it = mentions(message, "session") || mentions(message, "not initialized");
  return before_initialization || speaks_of_it ? SessionVerdict::doubtful : SessionVerdict::kept;
}

}  // namespace bridge
