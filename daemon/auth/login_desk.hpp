#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "auth/auth_options.hpp"
#include "auth/discovery.hpp"
#include "auth/login.hpp"
#include "auth/login_method.hpp"
#include "auth/oauth_identity.hpp"
#include "auth/refresher.hpp"
#include "auth/token_endpoint.hpp"
#include "auth/token_store.hpp"
#include "event/event_loop.hpp"
#include "http/client/http_options.hpp"

namespace bridge {

/// One login of a person, from discovery to the first tokens (MCP 2026-07-28, "Authorization";
/// BEHAVIOUR, "Login").
///
/// Steps: if the upstream has refused nothing yet, it is asked what it wants, since only its
/// refusal may say where its metadata are, and which scope it wants; Discovery, then OAuthIdentity
/// (who the bridge is for that server), then the LoginMethod that was asked for. Everything of it,
/// the listener too, ends with this, after `longest` at the latest.
///
/// The loop's thread only; owned by LoginDesk. `offered` is called when there is something for a
/// person to do, `ended` once, last; never from within start() or a call of who owns this. What
/// goes wrong is a Failure with nothing secret in it.
class LoginFlow final : private LoginMethod::Owner {
 public:
  static constexpr std::chrono::minutes longest{10};

  /// What is to be had.
  struct Wish {
    LoginMode mode = LoginMode::browser;
    std::string resource;
    LoginDemand demand;    ///< what the upstream's refusals have said so far
    std::string granted;   ///< what a person has granted before
    std::string last_uri;  ///< where the last login's browser came back; empty: none did
    /// A registration with this issuer that may be used again.
    std::function<std::optional<OAuthClient>(const std::string& issuer)> registration;
  };
  using End = std::variant<StoredLogin, Failure>;

  LoginFlow(LoginParts parts, Wish wish, std::function<void()> offered,
            std::function<void(const End&)> ended);
  LoginFlow(const LoginFlow&) = delete;
  LoginFlow& operator=(const LoginFlow&) = delete;

  void start();
  std::optional<LoginOffer> offer() const;
  /// The query of a redirect, wherever it was brought. False: none to this login; it goes on.
  bool take(const std::string& query);
  /// It comes to nothing, because of this.
  void cancel(const std::string& why) { fail(ErrorKind::auth, why); }
  std::vector<std::string> secrets() const;

 private:
  void method_offers(std::chrono::milliseconds at_most) override;
  void method_granted(const TokenGrant& grant) override;
  void method_failed(ErrorKind kind, const std::string& message) override { fail(kind, message); }

  void ask_resource();
  void discover();
  void discovered(const Discovery::Result& result);
  void identified(const std::variant<OAuthClient, std::string>& found);
  void fail(ErrorKind kind, const std::string& message);
  void end(const End& end);
  std::string scope() const;

  LoginParts parts_;
  Wish wish_;
  std::function<void()> offered_;
  std::function<void(const End&)> ended_;
  SteadyTime until_;
  std::unique_ptr<SmallRequest> question_;
  std::unique_ptr<Discovery> discovery_;
  AccessRequest request_;
  std::unique_ptr<LoginMethod> method_;
  OAuthIdentity identity_;
  DeadlineTimer deadline_;
  std::optional<End> end_;
  Deferred tell_;  ///< of the offer, or of the end
};

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
  std::string save_login() const override;
  void restore_login(const std::string& saved) override;

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
