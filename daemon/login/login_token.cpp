#include "login/login_token.hpp"

#include <fmt/format.h>

#include <utility>

#include "auth/challenge.hpp"
#include "auth/scope.hpp"
#include "base/log.hpp"
#include "http/client/web_url.hpp"

namespace bridge {
namespace {

constexpr std::chrono::seconds between_questions{5};

}  // namespace

std::string_view name_of(LoginState state) {
  switch (state) {
    case LoginState::none: return "none";
    case LoginState::needed: return "needed";
    case LoginState::pending: return "pending";
    case LoginState::ok: return "ok";
  }
  return "none";
}

LoginToken::LoginToken(EventLoop& loop, CurlLoop& curl, const OAuthOptions& options,
                       const HttpOptions& upstream, Log& log)
    : loop_(loop),
      curl_(curl),
      options_(options),
      upstream_(upstream),
      log_(log),
      resource_(resource_of(upstream.url)),
      store_(options.token_store, log),
      endpoint_(curl_, upstream_),
      refresher_({loop, endpoint_, store_, log, resource_, options.idle_refresh}),
      scope_(options.scope),
      waiters_(loop, [this] { return answer(); }),
      token_waiters_(loop),
      token_wait_(loop, [this] { end_wait(); }) {
  upstream_.may_be_private = options_.allow_private;
}

LoginToken::~LoginToken() = default;

std::optional<std::string> LoginToken::current() {
  if (!std::exchange(has_looked_, true)) refresher_.look_into_store();
  if (auto token = refresher_.token()) return token;
  if (refresher_.can_refresh()) return std::nullopt;
  // Who waits for a login asks every 5 s; who does not is told by the server, which may have
  // refused by mistake.
  const bool waits = needed_ && options_.login_wait.count() > 0;
  if (waits && loop_.now() < ask_again_) return std::nullopt;
  // A login that has come to its end without a refresh token.
  if (refresher_.login() != nullptr && !refresher_.login()->access_token.empty())
    return std::nullopt;
  return std::string();
}

void LoginToken::fetch(TokenSource::Done done) {
  refresher_.look_into_store();  // another daemon may have had a login
  if (refresher_.has_good_token() || refresher_.can_refresh()) {
    if (const auto token = refresher_.token(); token) {
      token_waiters_.add(std::move(done));
      token_waiters_.answer({*token, std::nullopt});
    } else {
      refresher_.fetch(std::move(done));
    }
    return;
  }
  needed_ = true;
  token_waiters_.add(std::move(done));
  if (options_.login_wait.count() == 0) {
    end_wait();
  } else if (!token_wait_.is_set()) {
    token_wait_.set_after(options_.login_wait);
  }
}

/// Nobody has logged in as long as somebody could wait.
void LoginToken::end_wait() { token_waiters_.answer({{}, login_needed(refresher_.why_over())}); }

bool LoginToken::refused(const std::string& token, const TokenChallenge& challenge) {
  const std::vector<Challenge> challenges = parse_challenges(challenge.www_authenticate);
  if (const std::string place = bearer_hint(challenges, "resource_metadata"); !place.empty())
    announced_ = place;
  const std::string scope = bearer_hint(challenges, "scope");
  upstream_.public_only = challenge.is_public && !options_.allow_private;
  if (challenge.status == 403) {
    // Only a person can grant more (RFC 6749, section 6: a refresh gives no more than there was).
    if (bearer_parameter(challenges, "error") == "insufficient_scope" && !scope.empty())
      wanted_ = joined_scopes(wanted_, scope);
    return false;
  }
  if (!scope.empty()) scope_.challenge(scope);
  const bool had_one = refresher_.login() != nullptr;
  refresher_.refused(token);
  refresher_.look_into_store();
  if (refresher_.has_good_token() || refresher_.can_refresh()) return true;
  if (!needed_ && !had_one) {
    log_.event(LogLevel::warning, "login needed", "{} wants a login; a person logs in by {}",
               upstream_.target, login_command);
  }
  needed_ = true;
  ask_again_ = loop_.now() + between_questions;
  return options_.login_wait.count() > 0;
}

void LoginToken::reload() { refresher_.forgive(); }

std::vector<std::string> LoginToken::secrets() const {
  std::vector<std::string> secrets = refresher_.secrets();
  if (flow_) {
    for (std::string& one : flow_->secrets()) secrets.push_back(std::move(one));
  }
  return secrets;
}

LoginStatus LoginToken::login_status() const {
  LoginStatus status;
  const bool is_logged_in = refresher_.can_refresh() || refresher_.has_good_token();
  const StoredLogin* const login = refresher_.login();
  const bool was_refused = login != nullptr && !login->access_token.empty() && !is_logged_in;
  status.state = is_logged_in             ? LoginState::ok
                 : flow_                  ? LoginState::pending
                 : needed_ || was_refused ? LoginState::needed
                                          : LoginState::none;
  if (is_logged_in) {
    status.expires_in = refresher_.expires_in();
    status.scope = login->scope;
    status.is_pending = flow_ != nullptr;
  }
  status.wanted = wanted_;
  return status;
}

LoginCounts LoginToken::login_counts() const {
  LoginCounts counts = counts_;
  counts.refreshes = refresher_.refreshes();
  counts.failed_refreshes = refresher_.failures();
  return counts;
}

LoginAnswer LoginToken::answer() const {
  LoginAnswer answer;
  answer.status = login_status();
  if (flow_) {
    answer.offer = flow_->offer();
  } else {
    answer.failure = last_failure_;
  }
  return answer;
}

LoginMode LoginToken::default_mode() const {
  return options_.grant == OAuthGrant::device ? LoginMode::device : LoginMode::browser;
}

void LoginToken::begin_login(std::optional<LoginMode> mode, Login::Done done) {
  if (!flow_) {
    refresher_.look_into_store();
    LoginFlow::Wish wish{mode.value_or(default_mode()), resource_, announced_, scope_, {}, {}};
    if (const StoredLogin* login = refresher_.login()) {
      if (login_status().state == LoginState::ok) wish.granted = login->scope;
      if (!registration_is_doubtful_) wish.earlier = *login;
    }
    wish.granted = joined_scopes(wish.granted, wanted_);
    last_failure_.reset();
    flow_ = std::make_unique<LoginFlow>(
        LoginFlow::Parts{loop_, curl_, upstream_, options_, log_}, std::move(wish),
        [this] { waiters_.offered(); }, [this](const LoginFlow::End& end) { flow_ended(end); });
    waiters_.add(LoginWaiters::For::offer, LoginFlow::longest, std::move(done));
    flow_->start();
  } else if (flow_->offer()) {
    done(answer());
  } else {
    waiters_.add(LoginWaiters::For::offer, LoginFlow::longest, std::move(done));
  }
}

void LoginToken::complete_login(const std::string& address, Login::Done done) {
  if (flow_ && flow_->take(query_of_pasted(address))) {
    waiters_.add(LoginWaiters::For::end, LoginFlow::longest, std::move(done));
    return;
  }
  LoginAnswer refusal = answer();
  refusal.failure =
      failure_of(ErrorKind::auth, Delivered::no,
                 flow_ ? "that is not the address at which this login ends; it goes on"
                       : "no login is pending");
  done(refusal);
}

void LoginToken::wait_for_login(std::chrono::milliseconds time, Login::Done done) {
  if (flow_) {
    waiters_.add(LoginWaiters::For::end, time, std::move(done));
  } else {
    done(answer());
  }
}

void LoginToken::cancel_login(Login::Done done) {
  if (!flow_) {
    last_failure_.reset();
    done(answer());
    return;
  }
  waiters_.add(LoginWaiters::For::end, LoginFlow::longest, std::move(done));
  flow_->cancel();
}

void LoginToken::flow_ended(const LoginFlow::End& end) {
  loop_.reap(std::move(flow_));
  registration_is_doubtful_ = std::holds_alternative<Failure>(end);
  if (const auto* failure = std::get_if<Failure>(&end)) {
    ++counts_.failed_logins;
    last_failure_ = *failure;
    log_.event(LogLevel::warning, "login", "no login: {}", failure->message);
  } else {
    ++counts_.logins;
    last_failure_.reset();
    needed_ = false;
    wanted_.clear();
    refresher_.take(std::get<StoredLogin>(end));
    log_.event(
        LogLevel::info, "login", "logged in to {}{}", upstream_.target,
        store_.is_persistent() ? "" : "; without --state-dir or --token-store a restart loses it");
    if (logged_in_) logged_in_();
    token_wait_.clear();
    token_waiters_.answer({refresher_.login()->access_token, std::nullopt});
  }
  waiters_.ended();
}

void LoginToken::log_out(LogoutDone done) {
  if (flow_) flow_->cancel();
  needed_ = false;
  wanted_.clear();
  refresher_.look_into_store();
  auto login = refresher_.forget();
  if (!login) {
    done({});
  } else if (revocation_) {
    done({true, false, "another logout is under way"});
  } else if (login->revocation_endpoint.empty()) {
    done({true, false, {}});
  } else {
    revoke(*login, std::move(done));
  }
}

std::string LoginToken::login_to_keep() const {
  const StoredLogin* const login = refresher_.login();
  return login == nullptr ? std::string() : logins_text({*login});
}

void LoginToken::go_on_with_login(const std::string& kept) {
  auto logins = read_logins(kept);
  if (logins && !logins->empty()) refresher_.go_on_with(std::move(logins->front()));
}

/// RFC 7009: with the refresh token the server takes what was issued by it, too.
void LoginToken::revoke(const StoredLogin& login, LogoutDone done) {
  revocation_ = std::make_unique<HttpTokenEndpoint>(curl_, upstream_);
  const bool by_refresh = !login.refresh_token.empty();
  const TokenForm form =
      revocation_form(login.client, by_refresh ? login.refresh_token : login.access_token,
                      by_refresh ? "refresh_token" : "access_token");
  revocation_->post(login.revocation_endpoint, form,
                    [this, done = std::move(done)](const SmallAnswer& answer) {
                      loop_.reap(std::move(revocation_));
                      LogoutAnswer told;
                      told.was_logged_in = true;
                      told.revoked = answer.fault.empty() && answer.status == 200;
                      if (!answer.fault.empty()) {
                        told.fault = answer.fault;
                      } else if (answer.status != 200) {
                        told.fault = fmt::format("HTTP {}", answer.status);
                      }
                      done(told);
                    });
}

}  // namespace bridge
