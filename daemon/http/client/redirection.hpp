#pragma once

#include <string>

#include "http/client/curl_loop.hpp"
#include "http/client/response_head.hpp"

namespace bridge {

/// The place to which a server sends one request (BEHAVIOUR, "Streamable HTTP: answers"). 307 and
/// 308 keep the method; only the same origin gets the token and the session id (RFC 9110,
/// section 15.4). Pure but for apply().
class Redirection {
 public:
  /// Whether the answer to a request for `url` sends it to another place that is to be asked
  /// instead. At most five times for one request.
  bool follow(const std::string& url, const ResponseHead& head);
  /// Another request follows, which begins at the place that was found.
  void begin_request() { hops_ = 0; }

  bool is_elsewhere() const { return !place_.empty(); }
  /// Where a request for `url` goes.
  const std::string& place(const std::string& url) const { return place_.empty() ? url : place_; }
  /// Sends the handle's request there. Such a handle is not given back: it knows another URL than
  /// the rest.
  void apply(CURL* handle) const;

 private:
  std::string place_;
  int hops_ = 0;
};

}  // namespace bridge
