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

/// What the server gives for a device (RFC 8628, section 3.2). `code` is secret.
struct DeviceCode {
  std::string code;
  std::string user_code;
  std::string verification_uri;
  std::chrono::seconds expires_in{600};  ///< at most 30 minutes
  std::chrono::seconds interval{5};      ///< at least 1 s, at most 60 s
};

/// Or why there is none, in the server's words: neither bounded nor printable yet. Pure.
std::variant<DeviceCode, std::string> read_device_code(int status, const std::string& body);

/// What the token endpoint says to one that asks again and again (RFC 8628, section 3.5).
enum class DevicePoll : std::uint8_t { pending, slow_down, denied, expired, refused };

/// `error`: the OAuth error; `status`: of HTTP. Pure.
DevicePoll judge_poll(int status, const std::string& error);

/// The device flow (RFC 8628): a code that the person types at another browser, while the server is
/// asked again and again.
///
/// Owned and used as every LoginMethod.
class DeviceLogin final : public LoginMethod {
 public:
  /// What is given by reference outlives this.
  DeviceLogin(const LoginParts& parts, Owner& owner);

  std::string prepare(const AuthorizationServer& server) override;
  /// Never used, but many servers want one.
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
