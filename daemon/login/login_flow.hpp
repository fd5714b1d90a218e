#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "auth/auth_options.hpp"
#include "auth/discovery.hpp"
#include "auth/login.hpp"
#include "auth/token_response.hpp"
#include "auth/wanted_scope.hpp"
#include "event/deadline_timer.hpp"
#include "login/device_answer.hpp"
#include "login/redirect_answer.hpp"
#include "login/redirect_listener.hpp"
#include "login/stored_login.hpp"
#include "login/token_endpoint.hpp"

namespace bridge {

/// One login of a person, from discovery to the first tokens (RFC 6749, section 4.1; RFC 8252;
/// RFC 8628; MCP 2026-07-28, "Authorization"; BEHAVIOUR, "Login").
///
/// Steps: discovery, who the bridge is for that server, then either the redirect address and the
/// URL for the browser, or the device code; then the tokens. Everything of it, the listener too,
/// ends with this, after `longest` at the latest.
///
/// The loop's thread only; owned by LoginToken. `offered` is called when there is something for a
/// person to do, `ended` once, last; never from within start() or a call of who owns this. What
/// goes wrong is a Failure with nothing secret in it.
class LoginFlow {
 public:
  static constexpr std::chrono::minutes longest{10};

  struct Parts {
    EventLoop& loop;
    CurlLoop& curl;
    HttpOptions upstream;
    const OAuthOptions& options;
    Log& log;
  };
  /// What is to be had.
  struct Wish {
    LoginMode mode = LoginMode::browser;
    std::string resource;
    std::string announced;  ///< where the challenge says the resource's metadata are; or empty
    WantedScope scope;
    std::string granted;                   ///< what a person has granted before
    std::optional<StoredLogin> earlier{};  ///< whose registration may be used again
  };
  using End = std::variant<StoredLogin, Failure>;

  LoginFlow(Parts parts, Wish wish, std::function<void()> offered,
            std::function<void(const End&)> ended);
  LoginFlow(const LoginFlow&) = delete;
  LoginFlow& operator=(const LoginFlow&) = delete;

  void start();
  LoginMode mode() const { return wish_.mode; }
  std::optional<LoginOffer> offer() const;
  /// The query of a redirect, wherever it was brought. False: none to this login; it goes on.
  bool take(const std::string& query);
  void cancel();
  std::vector<std::string> secrets() const;

 private:
  void discovered(const Discovery::Result& result);
  bool check_server();
  bool identify();
  void register_client();
  void registered(const SmallAnswer& answer);
  void go_on();

  bool listen();
  void offer_url();
  void exchange(const std::string& code);
  void exchanged(const SmallAnswer& answer);

  void ask_for_device_code();
  void device_code_came(const SmallAnswer& answer);
  void poll();
  void polled(const SmallAnswer& answer);

  void succeed(const TokenGrant& grant);
  void fail(ErrorKind kind, const std::string& message);
  void end(const End& end);
  std::string scope() const;
  std::string server_words(const std::string& text) const;
  const ServerMetadata& metadata() const { return server_->metadata; }

  Parts parts_;
  Wish wish_;
  std::function<void()> offered_;
  std::function<void(const End&)> ended_;
  SteadyTime until_;
  std::unique_ptr<Discovery> discovery_;
  std::optional<AuthorizationServer> server_;
  OAuthClient client_;
  std::unique_ptr<RedirectListener> listener_;
  std::string verifier_;
  ExpectedRedirect expected_;
  std::string url_;
  std::optional<DeviceCode> device_;
  TokenForm form_;
  SteadyTime asked_{};
  HttpTokenEndpoint endpoint_;
  std::unique_ptr<SmallRequest> registration_;
  DeadlineTimer next_poll_;
  DeadlineTimer deadline_;
  std::optional<End> end_;
  Deferred tell_;  ///< of the offer, or of the end
};

}  // namespace bridge
