#pragma once

#include "auth/auth_options.hpp"
#include "http/client/http_options.hpp"
#include "upstream/child_options.hpp"

namespace bridge {

/// How the upstream is spoken to.
enum class UpstreamKind {
  http,   ///< Streamable HTTP
  sse,    ///< HTTP+SSE, the transport of 2024-11-05
  child,  ///< a local process
};

/// What is known of the upstream, for whichever transport reaches it.
struct UpstreamOptions {
  UpstreamKind kind = UpstreamKind::http;
  HttpOptions http;
  AuthOptions auth;
  ChildOptions child;
};

}  // namespace bridge
