#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "auth/access_token.hpp"
#include "auth/auth_options.hpp"
#include "auth/discovery.hpp"
#include "auth/recent_secrets.hpp"
#include "auth/token_endpoint.hpp"
#include "base/clock.hpp"
#include "http/client/http_options.hpp"

struct evp_pkey_st;

namespace bridge {

/// A private key for JWS signatures (RFC 7518): P-256 for ES256, RSA of at least 2048 bits for
/// RS256.
class SigningKey {
 public:
  /// From an unencrypted PEM text; never prompts for a passphrase. Returns the error otherwise.
  static std::variant<SigningKey, std::string> from_pem(std::string_view pem);

  std::string_view algorithm() const { return is_rsa_ ? "RS256" : "ES256"; }

  /// In the form of JWS: for ES256 R and S in 32 bytes each. nullopt if OpenSSL fails.
  std::optional<std::string> sign(std::string_view text) const;

 private:
  struct Cleanup {
    void operator()(evp_pkey_st* key) const;
  };
  using Key = std::unique_ptr<evp_pkey_st, Cleanup>;

  SigningKey(Key key, bool is_rsa) : key_(std::move(key)), is_rsa_(is_rsa) {}

  Key key_;
  bool is_rsa_;
};

}  // namespace bridge

namespace bridge {

/// The claims of private_key_jwt (RFC 7523, section 3).
struct AssertionClaims {
  std::string client_id;  ///< iss and sub
  std::string audience;   ///< the issuer; its token endpoint if that is unknown
  std::string id;         ///< jti, never used twice
  WallTime now;
};

/// A signed JWT (RFC 7519), valid for 60 s; nullopt if signing fails.
std::optional<std::string> client_assertion(const SigningKey& key, const AssertionClaims& claims);

}  // namespace bridge

namespace bridge {

class Log;

/// The option that names the assertion's file.
constexpr const char* assertion_option = "--oauth-assertion-file";

/// OAuth 2.1 without a person, as MCP requires: the server discovered through the upstream's
/// challenge, the upstream named as `resource`. The grant is client credentials (RFC 6749, section
/// 4.4) or an assertion (RFC 7523, section 2.1).
///
/// Without a token URL the first message is sent without a token: the upstream's 401 says whether
/// one is required, from which server and for which scope. Asking for a token that is about to
/// expire starts a background fetch of the next one; without requests nothing runs. Secret, key
/// and assertion are read for every token request, so they can be replaced. BEHAVIOUR,
/// "Authorization".
///
/// The loop's thread only; owned by the AccessToken. Times are in seconds, as the server gives
/// them. Errors: a TokenAnswer with a failure, and a line in the log, neither with secrets. Memory:
/// the last 8 tokens, for redacting them, and one small response (SmallRequest).
class OAuthToken final : public TokenSource {
 public:
  OAuthToken(EventLoop& loop, CurlLoop& curl, const OAuthOptions& options,
             const HttpOptions& upstream, Log& log);

  std::optional<std::string> current() override;
  void fetch(Done done) override;
  /// 401: always true. 403: once for each scope that a challenge asks for.
  bool refused(const std::string& token, const TokenChallenge& challenge) override;
  /// Settings are read again by the next fetch; a valid token stays.
  void reload() override;
  std::optional<SavedToken> save() const override;
  void restore(const SavedToken& saved) override;
  std::vector<std::string> secrets() const override;

 private:
  /// The authorization server, and how it was found.
  struct Server {
    std::string announced;  ///< where the last challenge announced the resource's metadata
    std::string found_by;   ///< `announced` at the time of the discovery
    std::unique_ptr<Discovery> discovery;
    std::optional<AuthorizationServer> found;
  };
  /// The request under way, or the last one.
  struct Request {
    OAuthClient client;
    TokenForm form;
    std::string scope;
    SteadyTime asked{};
    std::unique_ptr<SmallRequest> transfer;
  };

  void begin();
  void discovered(const Discovery::Result& result);
  void request_token();
  bool authenticate(OAuthClient& client, std::string& fault);
  std::optional<TokenForm> make_form(const OAuthClient& client, std::string& fault) const;
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
  bool needed_ = false;  ///< the upstream has required a token
  std::optional<std::string> token_;
  TokenLife life_;  ///< of token_: when it is to be replaced
  RecentSecrets recent_;
  WantedScope scope_;
  Server server_;
  Request request_;
  SharedFetch shared_;
};

}  // namespace bridge
