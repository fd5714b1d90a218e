#pragma once

#include "auth/auth_options.hpp"
#include "upstream/http/http_options.hpp"

namespace bridge {

/// What is known of the upstream, for whichever carrier reaches it.
struct UpstreamOptions {
  HttpOptions http;
  AuthOptions auth;
};

}  // namespace bridge
