#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/auth_options.hpp"
#include "auth/login.hpp"
#include "auth/login_flow.hpp"
#include "auth/login_method.hpp"
#include "auth/refresher.hpp"
#include "auth/token_endpoint.hpp"
#include "auth/token_store.hpp"
#include "event/event_loop.hpp"
#include "http/client/http_options.hpp"

namespace bridge {

/// Who waits for a login: for what there is to do, or for its end.
///
/// The loop's thread only; a part of LoginDesk. Bounds: `most` of them; each is answered when its
/// time is over at the latest.
class LoginWaiters {
 public:
  static constexpr std::size_t most = 64;
  enum class For { offer, end };

  /// `answer` says how the login stands.
  LoginWaiters(EventLoop& loop, std::function<LoginAnswer()> answer);

  /// Answers at once if there are too many.
  void add(For what, std::chrono::milliseconds time, Login::Done done);
  void offered() { tell(For::offer); }
  void ended();

 private:
  struct Waiter {
    For what;
    SteadyTime until;
    Login::Done done;
  };

  void tell(For what);
  void tell_due();
  template <class Select>
  void tell_those(Select&& select);

  EventLoop& loop_;
  std::function<LoginAnswer()> answer_;
  std::vector<Waiter> all_;
  DeadlineTimer clock_;
};

/// Tells a server that a login is over (RFC 7009): one at a time.
///
/// The loop's thread only; a part of LoginDesk. Nothing comes after destruction.
class Revocation {
 public:
  /// What is given by reference outlives this.
  Revocation(EventLoop& loop, CurlLoop& curl, const HttpOptions& upstream)
      : loop_(loop), curl_(curl), upstream_(upstream) {}

  /// `done` comes once, at once or later. With the refresh token the server takes what was issued
  /// by it, too.
  void revoke(const StoredLogin& login, Login::LogoutDone done);

 private:
  EventLoop& loop_;
  CurlLoop& curl_;
  const HttpOptions& upstream_;
  std::unique_ptr<HttpTokenEndpoint> endpoint_;
};

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
