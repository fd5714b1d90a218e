#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/access_token.hpp"
#include "auth/auth_options.hpp"
#include "auth/discovery.hpp"
#include "auth/login_desk.hpp"
#include "auth/login_method.hpp"
#include "auth/refresher.hpp"
#include "http/client/http_options.hpp"

namespace bridge {

/// The token of a person who logs in: required when the upstream refuses a message without one,
/// obtained by the LoginDesk, refreshed by a Refresher (BEHAVIOUR, "Login").
///
/// Before the first login messages are sent without a token, and fail as soon as the upstream
/// refuses them: it may no longer require one. After a login, or where the operator requires a
/// login, they are not sent without a token.
///
/// The first refusal that does not name the server's metadata is looked into before it is reported:
/// a server without metadata wants a token of another kind, and no login is offered.
///
/// The loop's thread only; owned by the AccessToken. Memory: that of its parts.
class LoginToken final : public TokenSource {
 public:
  LoginToken(EventLoop& loop, CurlLoop& curl, const OAuthOptions& options,
             const HttpOptions& upstream, Log& log);

  std::optional<std::string> current() override;
  void fetch(TokenSource::Done done) override;
  bool refused(const std::string& token, const TokenChallenge& challenge) override;
  void reload() override { refresher_.forgive(); }
  std::vector<std::string> secrets() const override;
  LoginDesk* login() override { return &desk_; }

 private:
  void look_for_metadata();
  void metadata_looked_for(const Discovery::Result& result);
  bool is_served() const { return refresher_.has_good_token() || refresher_.can_refresh(); }

  CurlLoop& curl_;
  OAuthOptions options_;
  HttpOptions upstream_;
  Log& log_;
  TokenStore store_;
  HttpTokenEndpoint endpoint_;
  Refresher refresher_;
  LoginDemand demand_;
  bool has_looked_ = false;  ///< at the store, which exists only once the daemon runs
  bool has_looked_for_metadata_ = false;
  std::unique_ptr<Discovery> discovery_;  ///< while it looks for them
  TokenWaiters waiters_;                  ///< those answered in this turn, or after that
  LoginDesk desk_;
};

}  // namespace bridge
