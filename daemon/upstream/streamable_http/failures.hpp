#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/client/curl_loop.hpp"
#include "http/client/response_head.hpp"
#include "json/reply.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

class HttpContext;

/// How a request named its session.
enum class SessionNamedBy : std::uint8_t {
  nothing,   ///< it opens one, or the server gave no id
  header,    ///< Mcp-Session-Id
  endpoint,  ///< the URL that it was posted to (HTTP+SSE)
};

/// A refusal, as far as it concerns the session.
struct Refusal {
  int status = 0;             ///< also 200, with a body that is not the expected one
  bool asks_to_wait = false;  ///< Retry-After
  std::string_view error{};   ///< the JSON-RPC error object in its body; empty: none
  std::string_view text{};    ///< its body
  SessionNamedBy named_by = SessionNamedBy::header;
};

/// The meaning of a refusal for the session (MCP 2025-11-25, "Session Management"; BEHAVIOUR,
/// "Session: a lost session" and "Session: suspected loss"). Pure.
SessionVerdict session_verdict(const Refusal& refusal);

/// Whether the server may have acted on what it refused like this: an error of its own (5xx) that
/// does not name the session. Pure.
bool may_have_acted(const Refusal& refusal);

/// What a refusal of the server stream means.
enum class StreamRefusal : std::uint8_t {
  not_offered,   ///< the server has none
  lost_session,  ///< the session of the request is unknown
  suspicious,    ///< perhaps: SessionVerdict::doubtful
  unclear,       ///< perhaps, if other messages are refused too: SessionVerdict::unclear
  passing,       ///< temporary
};

/// The meaning of a refused server stream (MCP 2025-11-25, "Listening for Messages from the
/// Server"). `was_open`: in this session; then one odd answer (of a gateway, for example) is not
/// final. Pure.
StreamRefusal stream_refusal(const Refusal& refusal, bool was_open);

/// Bytes kept of the body of a refusal.
constexpr std::size_t max_refusal = 64u << 10;

/// How far a failed transfer had come.
struct TransferProgress {
  enum class Reached : std::uint8_t {
    nothing,  ///< the name was being resolved
    address,  ///< the connection was being made, perhaps through a proxy
    peer,     ///< during the TLS handshake
    request,  ///< the request may have been sent
  };
  Reached reached = Reached::nothing;
  std::string_view detail{};  ///< curl's message; may be empty
};

/// For a handle whose transfer is over. `connected`: CurlTransfer::was_connected(); `sent`: curl
/// began to send the request.
TransferProgress::Reached reached_by(CURL* handle, bool connected, bool sent);

/// For a transfer that curl could not complete (BEHAVIOUR, "Errors: kinds").
Failure failure_of_transfer(const HttpContext& context, int curl_result,
                            const TransferProgress& progress);

/// The same for a response whose head may have arrived, also if its body cannot be decoded.
Failure failure_of_response(const HttpContext& context, const ResponseHead& head, int curl_result,
                            const TransferProgress& progress);

/// For a response with an error status (BEHAVIOUR, "Errors: what errors say"); `body` unchanged.
/// The failure contains nothing secret.
Failure failure_of_status(const HttpContext& context, const ResponseHead& head,
                          const std::string& body);

}  // namespace bridge
