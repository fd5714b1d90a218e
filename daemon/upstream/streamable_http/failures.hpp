#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/failure.hpp"
#include "http/client/curl_loop.hpp"
#include "http/client/response_head.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

class HttpContext;

/// How much is kept of the body of a stream's refusal.
constexpr std::size_t max_refusal = 64u << 10;

/// How far a transfer had come when it failed.
struct TransferProgress {
  enum class Reached : std::uint8_t {
    nothing,  ///< the name was being resolved
    address,  ///< the connection was being made, also through a proxy
    peer,     ///< the TLS handshake was under way
    request,  ///< the request may have left
  };
  Reached reached = Reached::nothing;
  std::string_view detail{};  ///< curl's own words; may be empty
};

/// Of a handle whose transfer is over. `connected`: CurlTransfer::was_connected(); `sent`: curl
/// began to send the request.
TransferProgress::Reached reached_by(CURL* handle, bool connected, bool sent);

/// A transfer that curl could not carry out (BEHAVIOUR, "Errors: kinds").
Failure failure_of_transfer(const HttpContext& context, int curl_result,
                            const TransferProgress& progress);

/// An answer that is no success (BEHAVIOUR, "Errors: what errors say"); `body` as it came. Nothing
/// secret in what comes of it.
Failure failure_of_status(const HttpContext& context, const ResponseHead& head,
                          const std::string& body);

}  // namespace bridge
