#pragma once

#include <memory>
#include <optional>
#include <string>

#include "auth/auth_options.hpp"
#include "auth/challenge.hpp"
#include "auth/discovery.hpp"
#include "auth/recent_secrets.hpp"
#include "auth/shared_fetch.hpp"
#include "auth/token_source.hpp"
#include "http/client/http_options.hpp"

namespace bridge {

class Log;

enum class ClientAuthentication { secret_basic, secret_post, private_key_jwt };

/// A client credentials request (RFC 6749, section 4.4).
struct TokenRequest {
  ClientAuthentication how = ClientAuthentication::secret_basic;
  std::string client_id;
  std::string secret;    ///< or the signed assertion
  std::string resource;  ///< RFC 8707
  std::string scope;     ///< empty: not sent

  std::string body() const;
  /// The Authorization field's value; empty: none.
  std::string authorization() const;
};

/// OAuth 2.1 client credentials (RFC 6749, section 4.4), as MCP wants them: the server discovered
/// through the upstream's challenge, the upstream named as `resource`.
///
/// Without a token URL the first message goes without a token: the upstream's 401 says whether it
/// wants one, where from and for which scope. A token is replaced ahead of its expiry by a fetch
/// in the background that somebody's asking for it starts; nothing runs while nobody asks. Secret
/// and key are read for every request, so they can be replaced. BEHAVIOUR, "Authorization".
///
/// The loop's thread only; owned by the AccessToken. Times are in seconds, as the server says them.
/// What goes wrong is a TokenAnswer with a failure, and a line in the log, with nothing secret in
/// either. Memory: the last 8 tokens, for redacting them, and one small answer (SmallRequest).
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
  std::optional<KeptToken> to_keep() const override;
  void go_on_with(const KeptToken& kept) override;
  std::vector<std::string> secrets() const override;

 private:
  /// The server that is asked, and how it is found.
  struct Server {
    std::string announced;  ///< where the last challenge says the resource's metadata are
    std::string found_by;   ///< what that was when it was looked for
    std::unique_ptr<Discovery> discovery;
    std::optional<AuthorizationServer> found;
  };
  /// The request under way, or the last one.
  struct Request {
    TokenRequest text;
    SteadyTime asked{};
    std::unique_ptr<SmallRequest> transfer;
  };

  void begin();
  void discovered(const Discovery::Result& result);
  void request_token();
  bool authenticate(TokenRequest& request, std::string& fault);
  void answered(const SmallAnswer& answer);
  void fail(const std::string& message, bool judged);
  bool step_up(const std::string& token, const std::string& wanted);
  bool is_good() const;
  std::string scope() const;

  EventLoop& loop_;
  CurlLoop& curl_;
  OAuthOptions options_;
  HttpOptions upstream_;
  Log& log_;
  std::string resource_;
  bool needed_ = false;  ///< the upstream has asked for a token
  std::optional<std::string> token_;
  TokenLife life_;  ///< of token_: when it is to be replaced
  RecentSecrets recent_;
  WantedScope scope_;
  Server server_;
  Request request_;
  SharedFetch shared_;
};

}  // namespace bridge
