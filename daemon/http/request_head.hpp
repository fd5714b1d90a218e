#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bridge {

/// Why a request is refused before anybody looks at what it wants.
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
  std::string path;       ///< without the query; percent signs as they came
  std::string query;      ///< without the question mark
  std::string authority;  ///< of a target that is a whole address; it is what `host` says then
  bool is_http_1_0 = false;
  std::vector<HttpHeader> headers;

  /// The values of all fields of this name, joined by ", "; empty if there is none.
  std::string header(std::string_view name) const;
  std::size_t count(std::string_view name) const;
  /// Whether a comma-separated field holds this word, in any case.
  bool header_has(std::string_view name, std::string_view word) const;
  /// The value of a query parameter, decoded.
  std::optional<std::string> parameter(std::string_view name) const;
  /// Whether the connection may serve another request after this one.
  bool keeps_connection() const;
};

/// Reads everything up to and without the empty line. Strict, since what two parsers read
/// differently can be smuggled past one of them: a bare LF or CR, a folded line, a space before the
/// colon, a second Host are refused.
std::variant<RequestHead, HttpFault> parse_request_head(std::string_view text);

/// Whether `line`, without its end, is a header of its own: a name, a colon, and no control
/// character.
bool is_header_line(std::string_view line);
/// Whether it has no control character but tabs in it.
bool is_header_value(std::string_view text);

/// How long the body is.
struct BodyFraming {
  bool is_chunked = false;
  std::size_t length = 0;  ///< if not chunked
};

/// RFC 9112, section 6. Both length headers, several lengths, or a coding that is not `chunked`
/// alone are refused.
std::variant<BodyFraming, HttpFault> body_framing(const RequestHead& head);

}  // namespace bridge
