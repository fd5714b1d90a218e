#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/auth_options.hpp"
#include "login/login_demand.hpp"
#include "login/login_flow.hpp"
#include "login/login_waiters.hpp"
#include "login/refresher.hpp"
#include "login/revocation.hpp"

namespace bridge {

/// Where a person logs in and out: the one LoginFlow at a time, who waits for it, and what is told
/// of it (BEHAVIOUR, "Login: state").
///
/// The loop's thread only; a part of LoginToken, which outlives it with all that it is given by
/// reference. Memory: that of its parts.
class LoginDesk final : public Login {
 public:
  struct Parts {
    EventLoop& loop;
    CurlLoop& curl;
    const HttpOptions& upstream;
    const OAuthOptions& options;
    Log& log;
    Refresher& refresher;
    LoginDemand& demand;
  };

  LoginDesk(const Parts& parts, std::string resource);

  /// Somebody was refused for want of a login.
  bool is_needed() const { return is_needed_; }
  void need() { is_needed_ = true; }
  /// What a login that is under way has of secrets.
  std::vector<std::string> secrets() const;

  LoginStatus login_status() const override;
  LoginCounts login_counts() const override;
  void begin_login(std::optional<LoginMode> mode, Login::Done done) override;
  void complete_login(const std::string& address, Login::Done done) override;
  void wait_for_login(std::chrono::milliseconds time, Login::Done done) override;
  void cancel_login(Login::Done done) override;
  void log_out(LogoutDone done) override;
  void on_login(std::function<void()> action) override { on_login_ = std::move(action); }
  void give_up_pending_login() override;
  std::string login_to_keep() const override;
  void go_on_with_login(const std::string& kept) override;

 private:
  LoginAnswer answer() const;
  LoginFlow::Wish wish(LoginMode mode) const;
  void flow_ended(const LoginFlow::End& end);
  void take(const StoredLogin& login);

  Parts parts_;
  std::string resource_;
  std::function<void()> on_login_;
  bool is_needed_ = false;
  bool registration_is_doubtful_ = false;
  std::unique_ptr<LoginFlow> flow_;
  std::optional<Failure> last_failure_;  ///< of the last login; none: it was ok, or there was none
  LoginWaiters waiters_;
  Revocation revocation_;
  LoginCounts counts_;
};

}  // namespace bridge
