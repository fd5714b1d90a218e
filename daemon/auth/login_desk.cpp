#include "auth/login_desk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "auth/browser_login.hpp"
#include "auth/device_login.hpp"
#include "auth/discovery.hpp"
#include "auth/recent_secrets.hpp"
#include "base/contains.hpp"
#include "base/log.hpp"

namespace bridge {

LoginFlow::LoginFlow(LoginParts parts, Wish wish, LoginDesk& desk)
    : parts_(std::move(parts)),
      wish_(std::move(wish)),
      desk_(desk),
      until_(parts_.loop.now() + longest),
      identity_(parts_,
                [this](const std::variant<OAuthClient, std::string>& found) { identified(found); }),
      deadline_(parts_.loop,
                [this] { fail(ErrorKind::timeout, "the login was not completed in time"); }),
      tell_(parts_.loop, [this] {
        if (!end_) {
          desk_.flow_offers();
          return;
        }
        const End end = *end_;
        desk_.flow_ended(end);  // destroys this
      }) {
  LoginMethod::Owner& owner = *this;
  if (wish_.mode == LoginMode::device) {
    method_ = std::make_unique<DeviceLogin>(parts_, owner);
  } else {
    method_ = std::make_unique<BrowserLogin>(parts_, wish_.last_uri, owner);
  }
  deadline_.set(until_);
}

void LoginFlow::start() {
  if (wish_.demand.was_refused()) {
    discover();
  } else {
    ask_resource();
  }
}

/// A `ping` has no effect if the upstream requires no login.
void LoginFlow::ask_resource() {
  const std::string ping = R"({"jsonrpc":"2.0","id":0,"method":"ping"})";
  question_ = std::make_unique<SmallRequest>(
      parts_.curl, parts_.upstream, parts_.upstream.url, &ping, std::string(),
      [this](const SmallAnswer& answer) {
        const std::unique_ptr<SmallRequest> over = std::move(question_);
        if (answer.status == 401)
          wish_.demand.take({answer.status, answer.www_authenticate, answer.is_public});
        discover();
      },
      "application/json");
}

void LoginFlow::discover() {
  parts_.upstream.public_only = wish_.demand.is_public() && !parts_.upstream.may_be_private;
  discovery_ = std::make_unique<Discovery>(
      parts_.curl, parts_.upstream, wish_.resource,
      Discovery::Refusal{wish_.demand.was_refused(), wish_.demand.announced()},
      [this](const Discovery::Result& result) { discovered(result); });
  discovery_->start();
}

void LoginFlow::discovered(const Discovery::Result& result) {
  const std::unique_ptr<Discovery> over = std::move(discovery_);
  parts_.upstream.public_only = result.is_public;
  if (!result.server) {
    fail(ErrorKind::auth, fmt::format("cannot find the authorization server of {}: {}",
                                      shown_url(wish_.resource), result.fault));
    return;
  }
  request_.server = *result.server;
  request_.scope = scope();
  if (const std::string fault = method_->prepare(request_.server); !fault.empty()) {
    fail(ErrorKind::auth, fault);
    return;
  }
  auto earlier = wish_.registration(request_.server.issuer);
  if (earlier && !method_->fits(earlier->redirect_uri)) earlier.reset();
  identity_.find(request_.server, earlier, method_->redirect_uri(), request_.scope);
}

void LoginFlow::identified(const std::variant<OAuthClient, std::string>& found) {
  if (end_) return;
  if (const auto* why = std::get_if<std::string>(&found)) {
    fail(ErrorKind::auth, request_.server.is_default
                              ? fmt::format("{} offers no login: it has no OAuth metadata{}",
                                            shown_url(request_.server.issuer), how_to_give_a_token)
                              : *why);
    return;
  }
  request_.client = std::get<OAuthClient>(found);
  method_->start(request_);
}

void LoginFlow::method_offers(std::chrono::milliseconds at_most) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(until_ - parts_.loop.now());
  until_ = parts_.loop.now() + std::min(left, at_most);
  deadline_.set(until_);
  tell_.schedule();
}

std::optional<LoginOffer> LoginFlow::offer() const {
  if (end_ || !method_->has_offer()) return std::nullopt;
  LoginOffer offer;
  method_->describe(offer);
  offer.expires_in =
      std::chrono::duration_cast<std::chrono::milliseconds>(until_ - parts_.loop.now());
  return offer;
}

bool LoginFlow::take(const std::string& query) { return !end_ && method_->take(query); }

void LoginFlow::method_granted(const TokenGrant& grant) {
  if (end_) return;
  const AuthorizationServer& server = request_.server;
  StoredLogin login;
  login.resource = server.resource;
  login.issuer = server.issuer;
  login.token_endpoint = server.token_endpoint;
  if (endpoint_url(server.metadata.revocation_endpoint))
    login.revocation_endpoint = server.metadata.revocation_endpoint;
  login.is_public = parts_.upstream.public_only;
  login.client = request_.client;
  login.scope = grant.scope.empty() ? request_.scope : grant.scope;
  login.access_token = grant.token;
  login.refresh_token = grant.refresh_token;
  if (grant.expires_in) login.expires = parts_.loop.wall_time() + *grant.expires_in;
  method_->show_end(true);
  end(login);
}

void LoginFlow::fail(ErrorKind kind, const std::string& message) {
  if (end_) return;
  method_->show_end(false);
  end(failure_of(kind, Delivered::no, message));
}

void LoginFlow::end(const End& end) {
  end_ = end;
  deadline_.clear();
  question_.reset();
  discovery_.reset();
  method_->stop();
  tell_.schedule();
}

/// For the first login the selected scope, for later ones together with what was granted already.
std::string LoginFlow::scope() const {
  std::string scope =
      joined_scopes(wish_.demand.scope().text(request_.server.scope), wish_.granted);
  if (!scope.empty() && contains(request_.server.metadata.scopes_supported, "offline_access"))
    scope = joined_scopes(scope, "offline_access");
  return scope;
}

std::vector<std::string> LoginFlow::secrets() const {
  std::vector<std::string> secrets = method_->secrets();
  if (!request_.client.secret.empty()) secrets.push_back(request_.client.secret);
  return secrets;
}

LoginWaiters::LoginWaiters(EventLoop& loop, std::function<LoginAnswer()> answer)
    : loop_(loop), answer_(std::move(answer)), clock_(loop, [this] { tell_due(); }) {}

void LoginWaiters::add(For what, std::chrono::milliseconds time, LoginDone done) {
  if (all_.size() >= most) {
    LoginAnswer full = answer_();
    full.failure =
        failure_of(ErrorKind::overloaded, Delivered::no, "too many requests wait for the login");
    done(full);
    return;
  }
  const SteadyTime until = loop_.now() + time;
  all_.push_back({what, until, std::move(done)});
  clock_.set_at_latest(until);
}

template <class Select>
void LoginWaiters::tell_those(Select&& select) {
  const auto first = std::stable_partition(all_.begin(), all_.end(),
                                           [&](const Waiter& one) { return !select(one); });
  std::vector<Waiter> told(std::make_move_iterator(first), std::make_move_iterator(all_.end()));
  all_.erase(first, all_.end());
  const LoginAnswer answer = answer_();
  for (const Waiter& one : told) one.done(answer);
}

void LoginWaiters::tell(For what) {
  tell_those([what](const Waiter& one) { return one.what == what; });
}

void LoginWaiters::ended() {
  tell_those([](const Waiter&) { return true; });
}

void LoginWaiters::tell_due() {
  const SteadyTime now = loop_.now();
  tell_those([now](const Waiter& one) { return one.until <= now; });
  for (const Waiter& one : all_) clock_.set_at_latest(one.until);
}

void Revocation::revoke(const StoredLogin& login, LogoutDone done) {
  if (endpoint_) {
    done({true, false, "another logout is under way"});
    return;
  }
  if (login.revocation_endpoint.empty()) {
    done({true, false, {}});
    return;
  }
  endpoint_ = std::make_unique<HttpTokenEndpoint>(curl_, upstream_);
  const bool by_refresh = !login.refresh_token.empty();
  const TokenForm form =
      revocation_form(login.client, by_refresh ? login.refresh_token : login.access_token,
                      by_refresh ? "refresh_token" : "access_token");
  endpoint_->post(login.revocation_endpoint, login.is_public, form,
                  [this, done = std::move(done)](const SmallAnswer& answer) {
                    loop_.reap(std::move(endpoint_));
                    LogoutAnswer told{true, false, answer.fault};
                    if (answer.fault.empty()) {
                      told.revoked = answer.status == 200;
                      if (!told.revoked) told.fault = fmt::format("HTTP {}", answer.status);
                    }
                    done(told);
                  });
}

std::string how_to_log_in_with(std::string_view option, std::string_view variable,
                               std::string_view login_command) {
  return fmt::format("start mcp-bridged with {} (a service: {}), then type: {}", option, variable,
                     login_command);
}

std::string_view name_of(LoginState state) {
  switch (state) {
    case LoginState::none: return "none";
    case LoginState::needed: return "needed";
    case LoginState::pending: return "pending";
    case LoginState::ok: return "ok";
  }
  return "none";
}

LoginDesk::LoginDesk(const Parts& parts, std::string resource)
    : parts_(parts),
      resource_(std::move(resource)),
      waiters_(parts_.loop, [this] { return answer(); }),
      revocation_(parts_.loop, parts_.curl, parts_.upstream) {}

std::vector<std::string> LoginDesk::secrets() const {
  return flow_ ? flow_->secrets() : std::vector<std::string>();
}

LoginStatus LoginDesk::login_status() const {
  Refresher& refresher = parts_.refresher;
  refresher.look_into_store();  // at the start, and after another daemon's login
  LoginStatus status;
  const bool is_logged_in = refresher.can_refresh() || refresher.has_good_token();
  const StoredLogin* const login = refresher.login();
  status.is_over = !is_logged_in && (login != nullptr || parts_.options.wants_person());
  status.state = is_logged_in                   ? LoginState::ok
                 : flow_                        ? LoginState::pending
                 : status.is_over || is_needed_ ? LoginState::needed
                                                : LoginState::none;
  if (is_logged_in) {
    status.expires_in = refresher.expires_in();
    status.scope = login->scope;
    status.is_pending = flow_ != nullptr;
  }
  status.wanted = parts_.demand.step_up();
  return status;
}

LoginCounts LoginDesk::login_counts() const {
  LoginCounts counts = counts_;
  counts.refreshes = parts_.refresher.refreshes();
  counts.failed_refreshes = parts_.refresher.failures();
  return counts;
}

LoginAnswer LoginDesk::answer() const {
  LoginAnswer answer;
  answer.status = login_status();
  if (flow_) {
    answer.offer = flow_->offer();
  } else {
    answer.failure = last_failure_;
  }
  return answer;
}

LoginFlow::Wish LoginDesk::wish(LoginMode mode) const {
  const LoginDemand& demand = parts_.demand;
  LoginFlow::Wish wish{mode, resource_, demand, {}, {}, {}};
  if (const StoredLogin* login = parts_.refresher.login()) {
    if (login_status().state == LoginState::ok) wish.granted = login->scope;
    wish.last_uri = login->client.redirect_uri;
  }
  wish.registration = [this](const std::string& issuer) {
    return registration_is_suspect_ ? std::nullopt : parts_.refresher.registration(issuer);
  };
  wish.granted = joined_scopes(wish.granted, demand.step_up());
  return wish;
}

void LoginDesk::begin_login(std::optional<LoginMode> mode, LoginDone done) {
  if (!flow_) {
    parts_.refresher.look_into_store();
    const LoginMode usual =
        parts_.options.grant == OAuthGrant::device ? LoginMode::device : LoginMode::browser;
    last_failure_.reset();
    flow_ = std::make_unique<LoginFlow>(
        LoginParts{parts_.loop, parts_.curl, parts_.upstream, parts_.options, parts_.log},
        wish(mode.value_or(usual)), *this);
    waiters_.add(LoginWaiters::For::offer, LoginFlow::longest, std::move(done));
    flow_->start();
  } else if (flow_->offer()) {
    done(answer());
  } else {
    waiters_.add(LoginWaiters::For::offer, LoginFlow::longest, std::move(done));
  }
}

void LoginDesk::complete_login(const std::string& address, LoginDone done) {
  if (flow_ && flow_->take(query_of_pasted(address))) {
    waiters_.add(LoginWaiters::For::end, LoginFlow::longest, std::move(done));
    return;
  }
  LoginAnswer refusal = answer();
  refusal.failure =
      failure_of(ErrorKind::auth, Delivered::no,
                 flow_ ? "not the redirect address of this login, which is still pending"
                       : "no login is pending");
  done(refusal);
}

void LoginDesk::wait_for_login(std::chrono::milliseconds time, LoginDone done) {
  if (flow_) {
    waiters_.add(LoginWaiters::For::end, time, std::move(done));
  } else {
    done(answer());
  }
}

void LoginDesk::cancel_login(LoginDone done) {
  if (!flow_) {
    last_failure_.reset();
    done(answer());
    return;
  }
  waiters_.add(LoginWaiters::For::end, LoginFlow::longest, std::move(done));
  flow_->cancel("the login was cancelled");
}

void LoginDesk::flow_ended(const LoginFlow::End& end) {
  parts_.loop.reap(std::move(flow_));
  registration_is_suspect_ = std::holds_alternative<Failure>(end);
  if (const auto* failure = std::get_if<Failure>(&end)) {
    ++counts_.failed_logins;
    last_failure_ = *failure;
    parts_.log.event(LogLevel::warning, "login", "no login: {}", failure->message);
  } else {
    take(std::get<StoredLogin>(end));
  }
  waiters_.ended();
}

void LoginDesk::take(const StoredLogin& login) {
  ++counts_.logins;
  last_failure_.reset();
  is_needed_ = false;
  is_login_offered_ = true;
  parts_.demand.forget_step_up();
  parts_.refresher.take(login);
  parts_.log.event(LogLevel::info, "login", "logged in to {}{}", parts_.upstream.target,
                   parts_.refresher.is_kept()
                       ? ""
                       : "; without --state-dir or --token-store a restart loses it");
  if (on_login_) on_login_();
}

void LoginDesk::log_out(LogoutDone done) {
  if (flow_) flow_->cancel("another client has logged out");
  is_needed_ = false;
  parts_.demand.forget_step_up();
  parts_.refresher.look_into_store();
  const auto login = parts_.refresher.forget();
  if (!login || !login->has_tokens()) {
    done({});
  } else {
    revocation_.revoke(*login, std::move(done));
  }
}

void LoginDesk::give_up_pending_login() {
  if (flow_) flow_->cancel("the daemon was upgraded meanwhile: log in again");
}

std::string LoginDesk::save_login() const {
  const StoredLogin* const login = parts_.refresher.login();
  if (login == nullptr) return {};
  StoredLogin saved = *login;
  saved.is_unsaved = parts_.refresher.is_unsaved();
  return logins_text({saved});
}

void LoginDesk::restore_login(const std::string& saved) {
  auto logins = read_logins(saved);
  if (logins && !logins->empty()) parts_.refresher.restore(std::move(logins->front()));
}

}  // namespace bridge
