#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "http/client/http_options.hpp"
#include "http/client/small_request.hpp"

namespace bridge {

class CurlLoop;

/// How a client authenticates at the token endpoint (RFC 6749, section 2.3; RFC 7523, section 2.2:
/// the secret is a signed assertion).
enum class SecretPlace : std::uint8_t { none, basic, body, assertion };

/// The client that the bridge is for one authorization server. A value; `secret` is secret.
struct OAuthClient {
  std::string id;  ///< empty: none, or the server has forgotten the registration
  std::string secret;
  SecretPlace place = SecretPlace::none;
  std::string redirect_uri;    ///< as registered; empty: not known yet
  bool is_registered = false;  ///< by the bridge itself (RFC 7591)

  /// The server does not know it. One that the operator has configured stays.
  void forget_registration() {
    if (!is_registered) return;
    id.clear();
    secret.clear();
    place = SecretPlace::none;
    redirect_uri.clear();
  }
};

/// A request to an endpoint that authenticates the client: the form, and the Authorization value
/// (empty: none). Both are secret.
struct TokenForm {
  std::string body;
  std::string authorization;
};

// All pure. Empty values are left out; `resource` as in RFC 8707.

/// RFC 6749, section 4.4.
TokenForm credentials_form(const OAuthClient& client, const std::string& resource,
                           const std::string& scope);
/// RFC 7523, section 2.1; with a client only if one is configured.
TokenForm assertion_form(const OAuthClient& client, const std::string& assertion,
                         const std::string& resource, const std::string& scope);
/// RFC 6749, section 4.1.3.
TokenForm code_form(const OAuthClient& client, const std::string& code, const std::string& verifier,
                    const std::string& redirect_uri, const std::string& resource);
/// RFC 6749, section 6.
TokenForm refresh_form(const OAuthClient& client, const std::string& refresh_token,
                       const std::string& resource);
/// RFC 8628, section 3.1.
TokenForm device_authorization_form(const OAuthClient& client, const std::string& scope,
                                    const std::string& resource);
/// RFC 8628, section 3.4.
TokenForm device_token_form(const OAuthClient& client, const std::string& device_code,
                            const std::string& resource);
/// RFC 7009, section 2.1.
TokenForm revocation_form(const OAuthClient& client, const std::string& token,
                          const std::string& kind);

struct TokenGrant {
  std::string token;
  std::optional<std::chrono::seconds> expires_in;  ///< at most a year
  std::string refresh_token{};                     ///< empty: none
  std::string scope{};                             ///< empty: the requested one
};

/// A refused request: the server's words, neither bounded nor printable yet; they may repeat what
/// was sent.
struct TokenRefusal {
  std::string reason;
  std::string error{};  ///< RFC 6749, section 5.2; empty: none
};

/// Whether the same request would be refused again: any 4xx, except those that ask for a later
/// retry.
constexpr bool refuses_for_good(int status) {
  return status >= 400 && status < 500 && status != 408 && status != 429;
}

/// Reads a response that grants nothing (RFC 6749, section 5.2). Pure.
TokenRefusal read_refusal(int status, const std::string& body);

/// Reads the token endpoint's response: RFC 6749, sections 5.1 and 5.2. Pure.
std::variant<TokenGrant, TokenRefusal> read_token_response(int status, const std::string& body);

/// Sends forms with secrets. An interface for the tests of code that depends on the responses.
///
/// The loop's thread only. `done` is called once, from the loop, and not after cancel().
class TokenEndpoint {
 public:
  using Done = std::function<void(const SmallAnswer&)>;

  virtual ~TokenEndpoint() = default;
  /// `public_only`: a public server has named the URL, so it must not have a private address.
  /// REQUIRES: no request is under way.
  virtual void post(const std::string& url, bool public_only, const TokenForm& form, Done done) = 0;
  virtual void cancel() = 0;
};

/// Over HTTP, one request at a time.
class HttpTokenEndpoint final : public TokenEndpoint {
 public:
  HttpTokenEndpoint(CurlLoop& curl, const HttpOptions& upstream)
      : curl_(curl), upstream_(upstream) {}

  void post(const std::string& url, bool public_only, const TokenForm& form, Done done) override;
  void cancel() override { request_.reset(); }

 private:
  CurlLoop& curl_;
  const HttpOptions& upstream_;
  std::unique_ptr<SmallRequest> request_;
};

/// Every secret of a form, so that a response that repeats it can be shown without them.
std::vector<std::string> secrets_of(const TokenForm& form);

}  // namespace bridge
