#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "auth/discovery.hpp"
#include "auth/login_method.hpp"
#include "auth/token_endpoint.hpp"
#include "base/secret_file.hpp"
#include "http/client/small_request.hpp"

namespace bridge {

/// The client metadata of the bridge's registration (RFC 7591, section 2; MCP 2026-07-28, "Client
/// Registration"): a native application, with a redirect URI of this machine. `scope` may be empty.
/// Pure.
std::string registration_request(const ServerMetadata& server, const std::string& redirect_uri,
                                 const std::string& scope);

/// The registered client (RFC 7591, section 3.2), or the reason for a refusal in the server's
/// words: neither bounded nor printable yet.
std::variant<OAuthClient, std::string> read_registration(int status, const std::string& body,
                                                         const std::string& redirect_uri);

/// The configured client's secret: of the file, which may have changed, else the one given.
SecretFile read_client_secret(const OAuthOptions& options);

/// How a secret is sent: in the body only if the server does not support Basic.
SecretPlace secret_place(const ServerMetadata& server);

/// Finds the client that the bridge is for an authorization server (MCP 2026-07-28, "Client
/// Registration"): the configured one, else the URL of its metadata where the server supports such
/// ids, else the earlier registration, else a new registration (RFC 7591).
///
/// The loop's thread only; owned by a LoginFlow. `done` is called once, possibly from within
/// find(), and not after destruction; a string is the error, with nothing secret in it.
class OAuthIdentity {
 public:
  using Done = std::function<void(const std::variant<OAuthClient, std::string>&)>;

  OAuthIdentity(const LoginParts& parts, Done done) : parts_(parts), done_(std::move(done)) {}
  OAuthIdentity(const OAuthIdentity&) = delete;
  OAuthIdentity& operator=(const OAuthIdentity&) = delete;

  /// `earlier`: a registration with that server that can be reused; optional.
  void find(const AuthorizationServer& server, const std::optional<OAuthClient>& earlier,
            const std::string& redirect_uri, const std::string& scope);

 private:
  void take_configured(const ServerMetadata& metadata);
  std::string how_to_name_the_client() const;
  void request_registration(const AuthorizationServer& server, const std::string& scope);
  void answered(const SmallAnswer& answer);

  const LoginParts& parts_;
  Done done_;
  std::string endpoint_;
  std::string redirect_uri_;
  std::unique_ptr<SmallRequest> request_;
};

}  // namespace bridge
