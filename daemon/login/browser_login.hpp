#pragma once

#include <memory>

#include "login/login_method.hpp"
#include "login/redirect_answer.hpp"
#include "login/redirect_listener.hpp"
#include "login/token_endpoint.hpp"

namespace bridge {

/// The authorization code flow with PKCE (RFC 6749, section 4.1; RFC 7636; RFC 8252; MCP
/// 2026-07-28, "Authorization"): a URL for the person's browser, the redirect that it comes back
/// by, and the tokens for the code in it.
///
/// Owned and used as every LoginMethod. Its listener is open from prepare() to the end of its life.
class BrowserLogin final : public LoginMethod {
 public:
  /// `earlier_uri`: where the last login was registered for, to be tried first; may be empty. What
  /// is given by reference outlives this.
  BrowserLogin(const LoginParts& parts, std::string earlier_uri, Owner& owner);

  std::string prepare(const AuthorizationServer& server) override;
  std::string redirect_uri() const override { return listener_->uri(); }
  bool fits(const std::string& registered_uri) const override {
    return registered_uri == listener_->uri();
  }
  void start(const AccessRequest& request) override;
  void stop() override { endpoint_.cancel(); }

  bool has_offer() const override { return !url_.empty(); }
  void describe(LoginOffer& offer) const override { offer.url = url_; }
  bool take(const std::string& query) override;
  void show_end(bool is_logged_in) override;
  std::vector<std::string> secrets() const override;

 private:
  std::string listen();
  void exchange(const std::string& code);
  void answered(const SmallAnswer& answer);

  const LoginParts& parts_;
  std::string earlier_uri_;
  Owner& owner_;
  std::unique_ptr<RedirectListener> listener_;
  AccessRequest request_;
  std::string verifier_;
  ExpectedRedirect expected_;
  std::string url_;
  TokenForm form_;
  HttpTokenEndpoint endpoint_;
};

}  // namespace bridge
