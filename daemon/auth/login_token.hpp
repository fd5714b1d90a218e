#pragma once

#include <optional>
#include <string>
#include <vector>

#include "auth/access_token.hpp"
#include "auth/auth_options.hpp"
#include "auth/login_desk.hpp"
#include "auth/login_method.hpp"
#include "auth/refresher.hpp"
#include "http/client/http_options.hpp"

namespace bridge {

/// The token of a person who logs in: asked for when the upstream refuses a message without one,
/// had at the LoginDesk, kept good by a Refresher (BEHAVIOUR, "Login").
///
/// Who has never seen a login sends messages without a token, and they end as soon as the upstream
/// refuses them: it may not want a token any more. After a login, or where the operator has said
/// that there is to be one, they are not sent without.
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
  Login* login() override { return &desk_; }

 private:
  bool is_served() const { return refresher_.has_good_token() || refresher_.can_refresh(); }

  OAuthOptions options_;
  HttpOptions upstream_;
  Log& log_;
  TokenStore store_;
  HttpTokenEndpoint endpoint_;
  Refresher refresher_;
  LoginDemand demand_;
  bool has_looked_ = false;  ///< into the store, which is there when the daemon runs
  TokenWaiters waiters_;     ///< who is answered in this turn
  LoginDesk desk_;
};

}  // namespace bridge
