#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "auth/login_method.hpp"
#include "auth/token_endpoint.hpp"
#include "event/event_loop.hpp"

namespace bridge {

/// The device authorization response (RFC 8628, section 3.2). `code` is secret.
struct DeviceCode {
  std::string code;
  std::string user_code;
  std::string verification_uri;
  std::chrono::seconds expires_in{600};  ///< at most 30 minutes
  std::chrono::seconds interval{5};      ///< at least 1 s, at most 60 s
};

/// Returns the error in the server's words otherwise: neither bounded nor printable yet. Pure.
std::variant<DeviceCode, std::string> read_device_code(int status, const std::string& body);

/// What the token endpoint answers to a poll (RFC 8628, section 3.5).
enum class DevicePoll : std::uint8_t { pending, slow_down, denied, expired, refused };

/// `error`: the OAuth error; `status`: the HTTP status. Pure.
DevicePoll judge_poll(int status, const std::string& error);

/// The device flow (RFC 8628): the person types a code in any browser while the token endpoint is
/// polled.
///
/// Owned and used like every LoginMethod.
class DeviceLogin final : public LoginMethod {
 public:
  /// References outlive this.
  DeviceLogin(const LoginParts& parts, Owner& owner);

  std::string prepare(const AuthorizationServer& server) override;
  /// Never used, but many servers require one.
  std::string redirect_uri() const override { return "http://127.0.0.1/callback"; }
  bool fits(const std::string&) const override { return true; }
  void start(const AccessRequest& request) override;
  void stop() override;

  bool has_offer() const override { return device_.has_value(); }
  void describe(LoginOffer& offer) const override;
  bool take(const std::string&) override { return false; }
  void show_end(bool) override {}
  std::vector<std::string> secrets() const override;

 private:
  void code_came(const SmallAnswer& answer);
  void poll();
  void polled(const SmallAnswer& answer);

  const LoginParts& parts_;
  Owner& owner_;
  AccessRequest request_;
  std::optional<DeviceCode> device_;
  TokenForm form_;
  HttpTokenEndpoint endpoint_;
  DeadlineTimer next_poll_;
};

}  // namespace bridge
