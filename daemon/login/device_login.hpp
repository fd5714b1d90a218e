#pragma once

#include <optional>

#include "event/deadline_timer.hpp"
#include "login/device_answer.hpp"
#include "login/login_method.hpp"
#include "login/token_endpoint.hpp"

namespace bridge {

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
