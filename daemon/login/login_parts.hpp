#pragma once

#include "auth/auth_options.hpp"
#include "auth/discovery.hpp"
#include "http/client/http_options.hpp"
#include "login/oauth_client.hpp"

namespace bridge {

class CurlLoop;
class EventLoop;
class Log;

/// What all steps of one login work with.
struct LoginParts {
  EventLoop& loop;
  CurlLoop& curl;
  HttpOptions upstream;  ///< its TLS and proxy settings; which addresses may be asked
  const OAuthOptions& options;
  Log& log;
};

/// What a person is asked to grant, to whom, and by whom.
struct AccessRequest {
  AuthorizationServer server;
  OAuthClient client;
  std::string scope;  ///< empty: not said
};

}  // namespace bridge
