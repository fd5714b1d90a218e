#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "http/client/small_request.hpp"
#include "login/login_parts.hpp"

namespace bridge {

/// Who the bridge is for one authorization server (MCP 2026-07-28, "Client Registration"): as it
/// was told, else by the URL of its metadata where the server takes such ids, else as it was
/// registered before, else by a registration (RFC 7591).
///
/// The loop's thread only; owned by a LoginFlow. `done` comes once, maybe from within find(), and
/// not after destruction; a text is why there is none, with nothing secret in it.
class OAuthIdentity {
 public:
  using Done = std::function<void(const std::variant<OAuthClient, std::string>&)>;

  OAuthIdentity(const LoginParts& parts, Done done) : parts_(parts), done_(std::move(done)) {}
  OAuthIdentity(const OAuthIdentity&) = delete;
  OAuthIdentity& operator=(const OAuthIdentity&) = delete;

  /// `earlier` is a registration with that server that does; it need not be one.
  void find(const AuthorizationServer& server, const std::optional<OAuthClient>& earlier,
            const std::string& redirect_uri, const std::string& scope);

 private:
  void take_configured(const ServerMetadata& metadata);
  void request_registration(const AuthorizationServer& server, const std::string& scope);
  void answered(const SmallAnswer& answer);

  const LoginParts& parts_;
  Done done_;
  std::string endpoint_;
  std::string redirect_uri_;
  std::unique_ptr<SmallRequest> request_;
};

}  // namespace bridge
