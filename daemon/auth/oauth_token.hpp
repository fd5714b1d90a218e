#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "auth/auth_options.hpp"
#include "auth/discovery.hpp"
#include "auth/recent_secrets.hpp"
#include "auth/shared_fetch.hpp"
#include "auth/token_life.hpp"
#include "auth/token_request.hpp"
#include "http/client/http_options.hpp"

namespace bridge {

class Log;

/// OAuth 2.1 client credentials (RFC 6749, section 4.4), as MCP wants them: the server discovered
/// through the upstream's challenge, the upstream named as `resource`.
///
/// Without a token URL the first message goes without a token: the upstream's 401 says whether it
/// wants one, where from and for which scope. A token is replaced ahead of its expiry by a fetch
/// in the background that somebody's asking for it starts; nothing runs while nobody asks. Secret
/// and key are read for every request, so they can be replaced.
class OAuthToken final : public TokenSource {
 public:
  OAuthToken(EventLoop& loop, CurlLoop& curl, const OAuthOptions& options,
             const HttpOptions& upstream, Log& log);

  std::optional<std::string> current() override;
  void fetch(Done done) override;
  /// 401: always. 403: once for each scope that a challenge asks for.
  bool refused(const std::string& token, const TokenChallenge& challenge) override;
  /// Settings are read anew by the next fetch; a token that is good stays.
  void reload() override;
  std::vector<std::string> secrets() const override;

 private:
  void begin();
  void discovered(const Discovery::Result& result);
  void request_token();
  bool authenticate(TokenRequest& request, std::string& fault);
  void answered(const SmallAnswer& answer);
  void fail(const std::string& message, bool heard);
  bool step_up(const std::string& token, const std::string& wanted);
  bool is_good() const;
  std::string scope() const;
  std::vector<std::string> secrets_of_request() const;

  EventLoop& loop_;
  CurlLoop& curl_;
  OAuthOptions options_;
  HttpOptions upstream_;
  Log& log_;
  std::string resource_;

  std::optional<std::string> token_;
  TokenLife life_;
  bool needed_ = false;  ///< the upstream has asked for a token

  std::string announced_;  ///< where the challenge says the resource's metadata are
  std::string challenge_scope_;
  std::optional<AuthorizationServer> server_;
  std::string server_of_;  ///< what announced_ was when server_ was found

  std::string stepped_scope_;  ///< instead of the usual one, since a 403
  std::string scope_before_step_;
  std::string wanted_step_;
  std::set<std::string> tried_steps_;
  bool stepping_ = false;  ///< the token is good, but not good enough

  TokenRequest request_text_;  ///< of the request under way
  SteadyTime asked_{};
  std::string client_secret_;  ///< as last read
  RecentSecrets recent_;
  SharedFetch shared_;
  std::unique_ptr<Discovery> discovery_;
  std::unique_ptr<SmallRequest> request_;
};

}  // namespace bridge
