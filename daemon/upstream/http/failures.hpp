#pragma once

#include <string>
#include <string_view>

#include "protocol/reply.hpp"
#include "upstream/http/response_head.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

class HttpContext;

/// A transfer that curl could not carry out. `sent`: the request may have left.
Failure failure_of_transfer(const HttpContext& context, int curl_result, bool sent);

/// An answer that is no success; `body` as it came.
Failure failure_of_status(const HttpContext& context, const ResponseHead& head, const std::string& body);

/// What such an answer says about the session (product section 7). `carried_session`: the request
/// had a session id.
SessionVerdict session_verdict(const ResponseHead& head, const Failure& failure, bool carried_session);

}  // namespace bridge
