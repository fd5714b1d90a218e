#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/auth_options.hpp"
#include "auth/token_waiters.hpp"
#include "auth/wanted_scope.hpp"
#include "http/client/http_options.hpp"
#include "login/login_flow.hpp"
#include "login/login_waiters.hpp"
#include "login/refresher.hpp"

namespace bridge {

/// The token of a person who logs in: asked for when the upstream refuses a message without one,
/// had by a LoginFlow, kept good by a Refresher (BEHAVIOUR, "Login").
///
/// Without a login messages go without a token, and end as soon as the upstream refuses them: it
/// may not want a token any more. With `--login-wait` they wait once it has refused one, and it is
/// asked every 5 s whether it still wants a token.
///
/// The loop's thread only; owned by the AccessToken. Memory: that of its parts.
class LoginToken final : public TokenSource, public Login {
 public:
  LoginToken(EventLoop& loop, CurlLoop& curl, const OAuthOptions& options,
             const HttpOptions& upstream, Log& log);
  ~LoginToken() override;

  std::optional<std::string> current() override;
  void fetch(TokenSource::Done done) override;
  bool refused(const std::string& token, const TokenChallenge& challenge) override;
  void reload() override;
  std::vector<std::string> secrets() const override;
  Login* login() override { return this; }

  LoginStatus login_status() const override;
  LoginCounts login_counts() const override;
  void begin_login(std::optional<LoginMode> mode, Login::Done done) override;
  void complete_login(const std::string& address, Login::Done done) override;
  void wait_for_login(std::chrono::milliseconds time, Login::Done done) override;
  void cancel_login(Login::Done done) override;
  void log_out(LogoutDone done) override;
  void on_login(std::function<void()> action) override { logged_in_ = std::move(action); }
  std::string login_to_keep() const override;
  void go_on_with_login(const std::string& kept) override;

 private:
  LoginAnswer answer() const;
  void flow_ended(const LoginFlow::End& end);
  void end_wait();
  LoginMode default_mode() const;
  void revoke(const StoredLogin& login, LogoutDone done);

  EventLoop& loop_;
  CurlLoop& curl_;
  OAuthOptions options_;
  HttpOptions upstream_;
  Log& log_;
  std::string resource_;
  TokenStore store_;
  HttpTokenEndpoint endpoint_;
  Refresher refresher_;
  WantedScope scope_;
  std::string wanted_;       ///< by the last 403; empty: nothing
  std::string announced_;    ///< where the last challenge says the resource's metadata are
  bool has_looked_ = false;  ///< into the store, which is there when the daemon runs
  bool needed_ = false;
  SteadyTime ask_again_{};  ///< whether the upstream still wants a token
  bool registration_is_doubtful_ = false;
  std::unique_ptr<LoginFlow> flow_;
  std::optional<Failure> last_failure_;  ///< of the last login; none: it was ok, or there was none
  LoginWaiters waiters_;
  TokenWaiters token_waiters_;  ///< for a login, with --login-wait
  DeadlineTimer token_wait_;
  std::unique_ptr<HttpTokenEndpoint> revocation_;
  std::function<void()> logged_in_;
  LoginCounts counts_;
};

}  // namespace bridge
