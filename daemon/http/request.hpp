#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "json/arriving_text.hpp"

namespace bridge {

/// Why a request is refused before it is looked at.
struct HttpFault {
  int status = 0;
  std::string_view reason;
};

struct HttpHeader {
  std::string name;  ///< lower case
  std::string value;
};

/// The request line and the header fields of one HTTP/1 request (RFC 9112).
struct RequestHead {
  std::string method;
  std::string path;       ///< without the query; percent signs as received
  std::string query;      ///< without the question mark
  std::string authority;  ///< from a target in absolute form; `host` is then the same
  bool is_http_1_0 = false;
  std::vector<HttpHeader> headers;

  /// The values of all fields of this name, joined by ", "; empty if absent.
  std::string header(std::string_view name) const;
  std::size_t count(std::string_view name) const;
  /// Whether a comma-separated field contains this word, in any case.
  bool header_has(std::string_view name, std::string_view word) const;
  /// The value of a query parameter, decoded.
  std::optional<std::string> parameter(std::string_view name) const;
  /// Whether the connection may serve another request.
  bool keeps_connection() const;
};

/// Reads all up to the empty line, without it. Strict, since what two parsers read differently can
/// be smuggled past one of them: a bare LF or CR, a folded line, a space before the colon and a
/// second Host are rejected.
std::variant<RequestHead, HttpFault> parse_request_head(std::string_view text);

/// Whether `line`, without its end, is a header field: a name, a colon, and no control
/// character.
bool is_header_line(std::string_view line);
/// Whether it has no control character except tabs.
bool is_header_value(std::string_view text);

/// The length of the body.
struct BodyFraming {
  bool is_chunked = false;
  std::size_t length = 0;  ///< if not chunked
};

/// RFC 9112, section 6. Both length headers, several lengths, or a coding that is not `chunked`
/// alone are refused.
std::variant<BodyFraming, HttpFault> body_framing(const RequestHead& head);

/// The form in which a caller wants the response to its POST (RFC 9110, section 12.5.1; BEHAVIOUR,
/// "HTTP frontend: posts").
enum class AnswerForm {
  json,    ///< one JSON body; nothing can precede the response
  stream,  ///< an event stream from the start
  either,  ///< JSON, unless something has to be streamed
};
constexpr AnswerForm last_of(AnswerForm) { return AnswerForm::either; }

/// From the value of `Accept`: `text/event-stream` without JSON, or ranked before it (by `q`, then
/// by order), is `stream`; JSON ranked first is `either`; anything else is `json`.
AnswerForm answer_form(std::string_view accept);

/// Whether this `Accept` permits an event stream: also `*/*`, `text/*` or none at all.
bool accepts_stream(std::string_view accept);

/// Whether a `Content-Type` is JSON: `application/json` or `…+json`, whatever its parameters.
bool is_json_type(std::string_view content_type);

/// Which sites may use the frontend: guards against a web page that reaches it through a visitor's
/// browser, by its own host name resolving to this machine (MCP, "Security Warning" of the
/// Streamable HTTP transport).
///
/// Host: on a loopback address only loopback names; otherwise any numeric address, since only a
/// name can be made to resolve elsewhere. Origin: none, or the same as Host. Anything else must be
/// listed; `*` permits all.
struct SiteCheck {
  bool is_loopback = true;           ///< the address that the frontend is bound to
  std::vector<std::string> hosts;    ///< --http-allow-host, without a port
  std::vector<std::string> origins;  ///< --http-allow-origin

  bool admits_host(std::string_view host) const;
  /// `origin` is empty if absent.
  bool admits_origin(std::string_view origin, std::string_view host) const;
  /// Whether its pages may read the responses (CORS).
  bool is_listed(std::string_view origin) const;
};

/// `host` without its port, lower case; an IPv6 address without its brackets. Empty if not valid.
std::string host_name(std::string_view host);

/// Splits a connection's bytes into HTTP/1 requests, however they were chunked. A large body, most
/// likely JSON, is checked while the rest of it arrives.
///
/// Pure. Bounded: the head by max_head, the body by `max_body`, chunk sizes and trailers by
/// max_line. After `fault` the connection cannot be used: the start of its next request is
/// unknown.
class RequestReader {
 public:
  static constexpr std::size_t max_head = 32u << 10;
  static constexpr std::size_t max_line = 8u << 10;

  enum class Event {
    more,      ///< all bytes were used, more are needed
    head,      ///< the head is complete; continue for the body
    complete,  ///< the request is complete; next() starts another
    fault,
  };

  explicit RequestReader(std::size_t max_body) : max_body_(max_body) {}

  /// Uses bytes from the front of `bytes` up to the next event.
  Event advance(std::string_view& bytes);
  void next();

  const RequestHead& head() const { return head_; }
  RequestHead take_head() { return std::move(head_); }
  ReceivedText take_body() { return body_.take(); }
  HttpFault fault() const { return fault_; }
  /// Whether a body follows the head. REQUIRES: the head is complete.
  bool expects_body() const { return framing_.is_chunked || framing_.length > 0; }

  bool has_head() const { return step_ != Step::head; }
  /// No byte of a request has arrived.
  bool is_idle() const { return step_ == Step::head && line_.empty(); }
  std::size_t pending_bytes() const { return line_.size() + body_.size(); }

 private:
  enum class Step {
    head,
    body_of_length,
    chunk_size,
    chunk_data,
    chunk_end,
    trailer,
    complete,
    fault
  };

  Event failed(HttpFault fault);
  Event read_head(std::string_view& bytes);
  Event head_complete();
  Event read_length(std::string_view& bytes);
  Event read_chunks(std::string_view& bytes);
  Event chunk_size_line();
  bool take_line(std::string_view& bytes);
  void take_data(std::string_view& bytes);

  std::size_t max_body_;
  Step step_ = Step::head;
  std::string line_;  ///< of the head, or of a chunk's size or trailer; incomplete
  RequestHead head_;
  BodyFraming framing_;
  ArrivingText body_;
  std::size_t left_ = 0;  ///< of the body or the chunk
  std::size_t trailer_bytes_ = 0;
  HttpFault fault_;
};

}  // namespace bridge
