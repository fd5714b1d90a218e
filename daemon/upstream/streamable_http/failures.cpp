#include "upstream/streamable_http/failures.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "auth/discovery.hpp"
#include "auth/login.hpp"
#include "base/descriptors.hpp"
#include "http/client/web_url.hpp"
#include "http/sse_parser.hpp"
#include "json/frame.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "text/characters.hpp"
#include "text/trim.hpp"
#include "upstream/lost_session_text.hpp"
#include "upstream/streamable_http/http_context.hpp"

namespace bridge {

namespace {

/// Statuses by which servers refuse a session that they do not know, other than 404, even if their
/// text does not say so.
constexpr int suspected[] = {400, 401, 403, 409, 410, 422, 500, 503};
/// Statuses that mean something else, whatever the text.
constexpr int never_suspected[] = {405, 429};

template <std::size_t size>
bool is_one_of(const int (&statuses)[size], int status) {
  return std::find(std::begin(statuses), std::end(statuses), status) != std::end(statuses);
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

SessionVerdict session_verdict(const Refusal& refusal) {
  const int status = refusal.status;
  if (refusal.named_by == SessionNamedBy::nothing) return SessionVerdict::kept;
  const std::string_view code = find_member(refusal.error, "code").value_or("");
  if (status == 404) {
    const bool is_unknown_method = refusal.named_by == SessionNamedBy::header && code == "-32601";
    return is_unknown_method ? SessionVerdict::kept : SessionVerdict::lost;
  }
  const bool says_missing = says_session_is_missing(refusal.text);
  if (status == 200) return says_missing ? SessionVerdict::doubtful : SessionVerdict::kept;
  if (status < 400 || is_one_of(never_suspected, status) || (status == 503 && refusal.asks_to_wait))
    return SessionVerdict::kept;
  // The check costs a ping; any mention of the session in an error is enough for it.
  const bool mentions_session =
      !refusal.error.empty() &&
      ascii_lower(find_string(refusal.error, "message").value_or(std::string())).find("session") !=
          std::string::npos;
  if (mentions_session || says_missing) return SessionVerdict::doubtful;
  if (!is_one_of(suspected, status)) return SessionVerdict::kept;
  return is_blank(refusal.text) ? SessionVerdict::doubtful : SessionVerdict::unclear;
}

bool may_have_acted(const Refusal& refusal) {
  return refusal.status >= 500 && !says_session_is_missing(refusal.text);
}

StreamRefusal stream_refusal(const Refusal& refusal, bool was_open) {
  const int status = refusal.status;
  const bool names_session = says_session_is_missing(refusal.text);
  if (status == 405 || (!was_open && (status == 404 || (status == 400 && !names_session))))
    return StreamRefusal::not_offered;
  // 409 alone: another stream of this session is open.
  if (status == 409 && !names_session) return StreamRefusal::passing;
  switch (session_verdict(refusal)) {
    case SessionVerdict::lost: return StreamRefusal::lost_session;
    case SessionVerdict::doubtful: return StreamRefusal::suspicious;
    case SessionVerdict::unclear: return StreamRefusal::unclear;
    case SessionVerdict::kept: break;
  }
  return StreamRefusal::passing;
}

namespace {

/// How much of a body is searched for a text.
constexpr std::size_t longest_look = 4096;

/// The title of a web page, else its first text between tags; of any other body all, without the
/// white space around it.
std::string_view text_of(std::string_view body) {
  const std::string_view page = trimmed(body);
  if (!page.starts_with('<') || page.starts_with("<?")) return page;
  std::size_t at = page.find("<title>");
  for (at = at == page.npos ? 0 : at; at < page.size(); at = page.find('<', at)) {
    at = std::min(page.find('>', at), page.size() - 1) + 1;
    const std::string_view text = trimmed(page.substr(at, page.find('<', at) - at));
    if (!text.empty()) return text;
  }
  return {};
}

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

/// Whether OpenSSL's message means that the server's port has no TLS, or no common version.
bool speaks_no_tls(std::string_view detail) {
  for (const std::string_view what : {"wrong version number", "http request", "packet length"}) {
    if (detail.find(what) != detail.npos) return true;
  }
  return false;
}

bool speaks_other_tls(std::string_view detail) {
  return detail.find("unsupported protocol") != detail.npos ||
         detail.find("protocol version") != detail.npos;
}

/// A server of TLS that gets plain HTTP sends an alert, which curl takes for an answer without a
/// head, or closes the connection.
constexpr std::string_view speaks_tls_hint = "; does this port speak TLS (https:// in the URL)?";

/// For a connection that broke: whether the server, whose URL is of plain HTTP, has never answered.
bool may_speak_tls(CURLcode code, const HttpContext& context) {
  return (code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR) && !context.options().is_tls() &&
         context.counts().received_bytes == 0;
}

/// Names the user's files instead of the bridge's copies of them.
std::string with_file_names(std::string text, const HttpOptions& options) {
  if (!options.trust) return text;
  for (const auto& [copy, name] : {std::pair(options.trust->authorities.get(), &options.ca_file),
                                   {options.trust->certificate.get(), &options.client_certificate},
                                   {options.trust->key.get(), &options.client_key}}) {
    if (copy == nullptr) continue;
    for (std::size_t at = 0; (at = text.find(copy->path(), at)) != text.npos; at += name->size())
      text.replace(at, copy->path().size(), *name);
  }
  return text;
}

std::string advice(CURLcode code, std::string_view detail, const HttpContext& context) {
  if (code == CURLE_UNSUPPORTED_PROTOCOL && !context.options().is_tls())
    return std::string(speaks_tls_hint);
  if (const std::string shortage = descriptor_shortage(); !shortage.empty()) return "; " + shortage;
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return fmt::format("; check the host name in {}", context.options().url_source);
    case CURLE_COULDNT_RESOLVE_PROXY:
      return "; check the proxy's name in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY";
    default: break;
  }
  if (kind_of(code) != ErrorKind::tls) return {};
  if (speaks_no_tls(detail)) return "; does this port speak plain HTTP (http:// in the URL)?";
  if (speaks_other_tls(detail) || !context.options().ca_file.empty()) return {};
  return "; for a private authority name its certificate with --ca-file";
}

/// Whether the server has ended the handshake because it does not accept our certificate.
bool refuses_certificate(std::string_view detail) {
  if (detail.find("alert") == detail.npos) return false;
  for (const std::string_view what :
       {"certificate", "unknown ca", "access denied", "handshake failure"}) {
    if (detail.find(what) != detail.npos) return true;
  }
  return false;
}

/// Whether a failed connection would fail again. If curl's message is about a kept connection that
/// was found dead just before, only another attempt can show that.
bool is_definitive(CURLcode code, std::string_view detail) {
  if (detail.starts_with("Send failure") || detail.starts_with("Recv failure")) return false;
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_UNSUPPORTED_PROTOCOL: return true;
    case CURLE_SSL_CONNECT_ERROR:
      return speaks_no_tls(detail) || speaks_other_tls(detail) || refuses_certificate(detail);
    default: return false;
  }
}

/// The message in a body: the body itself, or the data of its first event with an error.
std::string first_message(const ResponseHead& head, const std::string& body) {
  if (!head.is_event_stream()) return body;
  struct First final : SseSink {
    void on_event(std::string, ReceivedText data) override {
      if (message.empty() && find_member(data.bytes, "error")) message = std::move(data.bytes);
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

/// The error object of a JSON-RPC error. Many servers omit the `id` of an error that belongs to no
/// request.
std::string error_in(std::string message) {
  const std::string bytes = message;
  const auto parsed = parse_frame(std::move(message));
  if (const auto* frame = std::get_if<Frame>(&parsed)) {
    return frame->is_response() && frame->error.present() ? std::string(frame->text(frame->error))
                                                          : std::string();
  }
  if (std::get<FrameFault>(parsed).code != json_rpc::invalid_request) return {};
  if (!find_member(bytes, "jsonrpc") || find_member(bytes, "id") || find_member(bytes, "method"))
    return {};
  const auto error = find_member(bytes, "error");
  return error && is_object(*error) ? std::string(*error) : std::string();
}

/// curl's message without durations: so a persisting failure keeps one text and is logged once.
std::string without_duration(std::string text) {
  constexpr std::string_view before = " after ", unit = " ms";
  for (std::size_t at = 0; (at = text.find(before, at)) != text.npos; at += before.size()) {
    const std::size_t end = text.find_first_not_of("0123456789", at + before.size());
    if (end == text.npos || end == at + before.size() || text.compare(end, unit.size(), unit) != 0)
      continue;
    return text.erase(at, end + unit.size() - at);
  }
  return text;
}

/// What to look at if a status says that the URL is wrong; `body`: its beginning.
std::string advice_for_status(const HttpContext& context, int status, std::string_view body,
                              const Failure& failure) {
  const HttpOptions& options = context.options();
  if (!failure.error_object.empty()) return {};
  if (status == 404 && context.session_id().empty() && !context.answers_elsewhere())
    return fmt::format("; check the path in {}", options.url_source);
  if (status != 400 || options.is_tls()) return {};
  const std::string said = ascii_lower(body);
  const bool wants_tls =
      said.find("http") != said.npos &&
      (said.find("https server") != said.npos || said.find("https port") != said.npos ||
       said.find("ssl-enabled") != said.npos);
  return wants_tls ? std::string(speaks_tls_hint) : std::string();
}

/// The error object with all secrets redacted; empty if the result is not JSON.
std::string error_without_secrets(const HttpContext& context, const std::string& error) {
  std::string shown = context.without_secrets(error);
  return is_json_object(shown) ? shown : std::string();
}

}  // namespace

// curl's own times and addresses are set only after TLS, at least in some versions.
TransferProgress::Reached reached_by(CURL* handle, bool connected, bool sent) {
  using Reached = TransferProgress::Reached;
  if (sent) return Reached::request;
  curl_off_t resolved = 0;
  long proxy_answer = 0;
  curl_easy_getinfo(handle, CURLINFO_NAMELOOKUP_TIME_T, &resolved);
  curl_easy_getinfo(handle, CURLINFO_HTTP_CONNECTCODE, &proxy_answer);
  if (connected && (proxy_answer == 0 || proxy_answer == 200)) return Reached::peer;
  return resolved > 0 ? Reached::address : Reached::nothing;
}

Failure failure_of_transfer(const HttpContext& context, int curl_result,
                            const TransferProgress& progress) {
  const auto code = static_cast<CURLcode>(curl_result);
  const bool timed_out = code == CURLE_OPERATION_TIMEDOUT;
  bool sent = progress.reached == TransferProgress::Reached::request;
  Failure failure;
  failure.kind = kind_of(code);
  if (sent && (failure.kind == ErrorKind::connect || failure.kind == ErrorKind::dns)) {
    failure.kind = ErrorKind::closed;
  } else if (sent && refuses_certificate(progress.detail)) {
    failure.kind = ErrorKind::tls;
    sent = false;  // with TLS 1.3 the refusal follows the request, which was not read
    failure.definitive = true;
  } else if (!sent && failure.kind == ErrorKind::closed) {
    failure.kind = ErrorKind::connect;
  }
  if (!sent && is_definitive(code, progress.detail)) failure.definitive = true;
  std::string reason = progress.detail.empty() ? curl_easy_strerror(code)
                                               : without_duration(std::string(progress.detail));
  if (timed_out && !sent) {
    const auto limit = context.options().connect_timeout.count();
    switch (progress.reached) {
      case TransferProgress::Reached::nothing:
        failure.kind = ErrorKind::dns;
        reason = fmt::format("no answer of a name server within {} ms (--connect-timeout)", limit);
        break;
      case TransferProgress::Reached::address:
        reason = fmt::format("no connection within {} ms (--connect-timeout)", limit);
        break;
      case TransferProgress::Reached::peer:
        if (context.options().is_tls()) failure.kind = ErrorKind::tls;
        reason = fmt::format("the {} was not complete within {} ms (--connect-timeout)",
                             context.options().is_tls() ? "TLS handshake" : "connection", limit);
        break;
      case TransferProgress::Reached::request: break;
    }
  }
  failure.delivered = sent ? Delivered::unknown : Delivered::no;
  const bool broke = sent && failure.kind == ErrorKind::closed;
  failure.message = fmt::format(
      "{} {}{}: {}{}", broke ? "the connection to" : "cannot reach", context.options().target,
      broke ? " broke before the answer was complete" : "",
      printable(context.without_secrets(with_file_names(std::move(reason), context.options())),
                300),
      !broke                         ? advice(code, progress.detail, context)
      : may_speak_tls(code, context) ? std::string(speaks_tls_hint)
                                     : std::string());
  return failure;
}

Failure failure_of_response(const HttpContext& context, const ResponseHead& head, int curl_result,
                            const TransferProgress& progress) {
  // A decoder's failure is also CURLE_WRITE_ERROR, which otherwise is the receiver's own.
  const bool is_of_coding = curl_result == CURLE_BAD_CONTENT_ENCODING ||
                            (curl_result == CURLE_WRITE_ERROR && head.is_encoded());
  if (!head.complete || !is_of_coding) return failure_of_transfer(context, curl_result, progress);
  return failure_of(
      ErrorKind::malformed, Delivered::unknown,
      fmt::format("the upstream's answer has content encoding '{}', {}",
                  printable(head.content_encoding, 80),
                  head.can_be_decoded() ? "but its body is not valid in it"
                                        : "which is not decoded: the bridge asks for identity"));
}

namespace {

/// ` to 'URL'`, without what may be secret in it; "" if the server names none.
std::string shown_target(const HttpContext& context, const std::string& location) {
  std::string target = location.substr(0, location.find_first_of("?#"));
  if (target.empty()) return {};
  if (const auto url = parse_web_url(target)) target = url->shown();
  return fmt::format(" to '{}'", printable(context.without_secrets(std::move(target)), 200));
}

}  // namespace

Failure failure_of_status(const HttpContext& context, const ResponseHead& head,
                          const std::string& body) {
  Failure failure;
  failure.kind = head.refuses_token() ? ErrorKind::auth : ErrorKind::http;
  failure.status = head.status;
  const bool redirects = head.status >= 300 && head.status < 400;
  failure.definitive = redirects || head.status == 501 || head.status == 505;
  const bool rejected =
      head.status == 401 || head.status == 429 || (head.status == 503 && head.retry_after);
  failure.delivered = rejected ? Delivered::no : Delivered::unknown;
  if (head.retry_after) failure.retry_after = *head.retry_after;
  failure.www_authenticate = printable(context.without_secrets(head.www_authenticate), 1000);
  failure.authorization_server =
      printable(context.without_secrets(head.authorization_server), 1000);
  const bool asks_for_more = head.www_authenticate.find("insufficient_scope") != std::string::npos;
  if (context.offers_login() && (head.status == 401 || (head.status == 403 && asks_for_more)))
    failure.login = context.login_command();
  std::string message = first_message(head, body);
  make_single_line(message);
  failure.error_object = error_in(std::move(message));
  // Cut afterwards: a truncated secret would not be recognized.
  const std::string start = context.without_secrets(body).substr(0, longest_look);
  std::string text = printable(text_of(start));
  if (failure.kind == ErrorKind::auth && !failure.error_object.empty()) {
    const std::string error = std::exchange(failure.error_object, std::string());
    const std::string said = find_string(error, "message").value_or(std::string());
    text = printable(context.without_secrets(said).substr(0, longest_look));
    failure.upstream_error = error_without_secrets(context, error);
  }
  const std::string status = fmt::format("HTTP {}", head.status);
  if (redirects && (text.empty() || !head.location.empty())) {
    text = fmt::format("it redirects{}; only 307 and 308 to the same origin are followed",
                       shown_target(context, head.location));
  }
  const std::string advice = advice_for_status(context, head.status, start, failure);
  failure.message = (text.empty() ? status : fmt::format("{}: {}", status, text)) + advice;
  failure.summary = status + advice;
  if (head.status == 401 && context.lacks_token()) failure.message += how_to_give_a_token;
  if (failure.kind == ErrorKind::auth) {
    failure.summary +=
        context.has_token()
            ? fmt::format(" from {}, which refuses the token of {}", context.options().target,
                          context.token_origin())
            : fmt::format(" from {}, to which no token was sent", context.options().target);
  }
  return failure;
}

}  // namespace bridge
