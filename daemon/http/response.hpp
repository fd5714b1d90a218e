#pragma once

#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

/// An HTTP response with its whole body.
struct HttpResponse {
  using Headers = std::vector<std::pair<std::string, std::string>>;

  int status = 200;
  std::string content_type;  ///< empty: none, and no body
  std::string body;
  Headers headers;
};

std::string_view reason_of(int status);

enum class ResponseFraming {
  length,       ///< Content-Length; the body follows
  chunked,      ///< a stream
  until_close,  ///< a stream to an HTTP/1.0 client
};

/// The current `Date`, formatted once a second (RFC 9110, section 6.6.1). For one thread.
class DateHeader {
 public:
  const std::string& at(std::time_t now);

 private:
  std::time_t made_ = 0;
  std::string text_;
};

/// Status line, headers and the empty line. Values must not contain line breaks; an empty `date` is
/// left out.
std::string response_head(const HttpResponse& response, ResponseFraming framing,
                          bool keeps_connection, std::string_view date = {});

/// One chunk of a chunked body. An empty one would be the end: last_chunk.
std::string chunk_of(std::string_view bytes);
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

HttpResponse json_response(int status, std::string body);
HttpResponse text_response(int status, std::string body);

}  // namespace bridge
