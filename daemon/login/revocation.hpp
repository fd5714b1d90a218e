#pragma once

#include <memory>

#include "auth/login.hpp"
#include "event/event_loop.hpp"
#include "http/client/http_options.hpp"
#include "login/stored_login.hpp"
#include "login/token_endpoint.hpp"

namespace bridge {

/// Tells a server that a login is over (RFC 7009): one at a time.
///
/// The loop's thread only; a part of LoginDesk. Nothing comes after destruction.
class Revocation {
 public:
  /// What is given by reference outlives this.
  Revocation(EventLoop& loop, CurlLoop& curl, const HttpOptions& upstream)
      : loop_(loop), curl_(curl), upstream_(upstream) {}

  /// `done` comes once, at once or later. With the refresh token the server takes what was issued
  /// by it, too.
  void revoke(const StoredLogin& login, Login::LogoutDone done);

 private:
  EventLoop& loop_;
  CurlLoop& curl_;
  const HttpOptions& upstream_;
  std::unique_ptr<HttpTokenEndpoint> endpoint_;
};

}  // namespace bridge
