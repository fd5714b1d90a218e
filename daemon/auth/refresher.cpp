#include "auth/refresher.hpp"

#include <fmt/format.h>

#include <utility>

#include "auth/recent_secrets.hpp"
#include "base/log.hpp"

namespace bridge {
namespace {

/// Another daemon's refresh takes at most two requests of 10 s.
constexpr std::chrono::seconds longest_lock{25};
constexpr std::chrono::milliseconds between_locks{100};

}  // namespace

Failure login_needed(const std::string& why, const std::string& login_command) {
  Failure failure = definitive_failure_of(
      ErrorKind::auth, fmt::format("{}: a person has to log in, by {}",
                                   why.empty() ? "the server wants a login" : why, login_command));
  failure.login = login_command;
  return failure;
}

Refresher::Refresher(Parts parts)
    : parts_(std::move(parts)),
      shared_(parts_.loop, [this] { begin(); }),
      lock_again_(parts_.loop, [this] { lock(); }),
      idle_(parts_.loop, [this] {
        if (can_refresh()) shared_.start_ahead();
        set_idle_timer();
      }) {}

void Refresher::look_into_store() {
  if (shared_.is_running() || !parts_.store.has_changed()) return;
  take_stored();
}

/// False: a login was stored, and another daemon has removed it.
bool Refresher::take_stored() {
  auto stored = parts_.store.find(parts_.owner);
  if (stored) {
    adopt(std::move(*stored));
    is_stored_ = true;
    return true;
  }
  if (!is_stored_ || !parts_.store.has_none(parts_.owner)) return true;
  is_stored_ = false;
  login_.reset();
  idle_.clear();
  return false;
}

void Refresher::store(const StoredLogin& login) {
  is_stored_ = parts_.store.save(parts_.owner, login) != TokenStore::Saved::no;
}

/// The life of a token that was not fetched here is computed from the wall clock.
void Refresher::adopt(StoredLogin login) {
  if (login_ && login_->access_token != login.access_token) token_is_refused_ = false;
  if (!login_ || login_->access_token != login.access_token) {
    const auto now = parts_.loop.now();
    life_ = TokenLife();
    if (login.expires) {
      const auto left = std::chrono::duration_cast<std::chrono::seconds>(*login.expires -
                                                                         parts_.loop.wall_time());
      life_ = TokenLife::of(now, now, std::max(left, std::chrono::seconds(0)));
      if (left.count() <= 0) life_.expires = now;
    }
  }
  recent_.add(login.access_token);
  recent_.add(login.refresh_token);
  recent_.add(login.client.secret);
  login_ = std::move(login);
  set_idle_timer();
}

void Refresher::take(StoredLogin login) {
  // The answer to a refresh of the old login must not change the new one.
  parts_.endpoint.cancel();
  lock_again_.clear();
  login.upstream = parts_.owner.upstream;
  login.redemptions = 0;
  why_over_.clear();
  store(login);
  token_is_refused_ = false;
  login_.reset();
  adopt(std::move(login));
  finish({login_->access_token, std::nullopt});
}

void Refresher::restore(StoredLogin login) {
  if (!is_kept() || login.is_unsaved) store(login);
  login.is_unsaved = false;
  adopt(std::move(login));
}

std::optional<StoredLogin> Refresher::forget() {
  parts_.endpoint.cancel();
  lock_again_.clear();
  idle_.clear();
  parts_.store.erase(parts_.owner);
  parts_.store.unlock();
  is_stored_ = false;
  auto last = std::exchange(login_, std::nullopt);
  if (shared_.is_running()) shared_.finish({{}, login_needed("logged out", parts_.login_command)});
  shared_.forgive();
  return last;
}

bool Refresher::has_good_token() const {
  return login_ && !login_->access_token.empty() && !token_is_refused_ &&
         !life_.is_over(parts_.loop.now());
}

bool Refresher::can_refresh() const { return login_ && !login_->refresh_token.empty(); }

std::optional<std::string> Refresher::token() {
  if (!has_good_token()) return std::nullopt;
  if (can_refresh() && life_.is_refresh_due(parts_.loop.now())) shared_.start_ahead();
  return login_->access_token;
}

std::optional<std::chrono::milliseconds> Refresher::expires_in() const {
  if (!has_good_token() || life_.expires == TokenLife::Time::max()) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::milliseconds>(life_.expires - parts_.loop.now());
}

void Refresher::refused(const std::string& token) {
  if (!login_ || login_->access_token != token) return;
  token_is_refused_ = true;
  shared_.token_refused();
}

std::vector<std::string> Refresher::secrets() const {
  std::vector<std::string> secrets = recent_.all();
  for (std::string& one : secrets_of(form_)) secrets.push_back(std::move(one));
  return secrets;
}

void Refresher::begin() {
  if (!login_) {
    finish({{}, login_needed("", parts_.login_command)});
    return;
  }
  lock_until_ = parts_.loop.now() + longest_lock;
  lock();
}

void Refresher::lock() {
  if (parts_.store.try_lock(*login_) == TokenStore::Lock::busy) {
    if (parts_.loop.now() < lock_until_) {
      lock_again_.set_after(between_locks);
    } else {
      finish(no_token("another process holds the lock of the token store; lslocks shows which"));
    }
    return;
  }
  if (parts_.store.has_changed()) {
    const std::string before = login_->access_token;
    if (!take_stored()) {
      finish({{}, login_needed("another daemon has logged out", parts_.login_command)});
      return;
    }
    if (has_good_token() && login_->access_token != before) {
      finish({login_->access_token, std::nullopt});
      return;
    }
  }
  redeem();
}

void Refresher::redeem() {
  if (!can_refresh()) {
    finish({{}, login_needed("the token has expired", parts_.login_command)});
    return;
  }
  if (next_step(RefreshEnd::lost, login_->redemptions) == RefreshStep::log_in) {
    give_up("the answers to both uses of the refresh token were lost");
    return;
  }
  ++login_->redemptions;
  store(*login_);  // a later process must know that it was sent
  asked_ = parts_.loop.now();
  form_ = refresh_form(login_->client, login_->refresh_token, login_->resource);
  parts_.endpoint.post(login_->token_endpoint, login_->is_public, form_,
                       [this](const SmallAnswer& answer) { answered(answer); });
}

void Refresher::answered(const SmallAnswer& answer) {
  // Another daemon may have logged in or out meanwhile: that stays.
  if (is_stored_ && parts_.store.has_changed()) {
    const std::string sent = login_->refresh_token;
    if (!take_stored()) {
      finish({{}, login_needed("another daemon has logged out", parts_.login_command)});
      return;
    }
    if (login_->refresh_token != sent) {
      finish({login_->access_token, std::nullopt});
      return;
    }
  }
  if (!answer.fault.empty()) {
    judge(answer.was_sent ? RefreshEnd::lost : RefreshEnd::not_sent, answer.fault);
    return;
  }
  const auto response = read_token_response(answer.status, answer.body);
  if (const auto* refusal = std::get_if<TokenRefusal>(&response)) {
    const std::string reason = server_words(refusal->reason, secrets());
    // The server has forgotten the client: the next login registers again.
    if (refusal->error == "invalid_client") login_->client.forget_registration();
    judge(refresh_end(answer.status, refusal->error), reason);
    return;
  }
  take_grant(std::get<TokenGrant>(response));
}

void Refresher::take_grant(const TokenGrant& grant) {
  StoredLogin next = *login_;
  next.access_token = grant.token;
  if (!grant.refresh_token.empty()) next.refresh_token = grant.refresh_token;
  if (!grant.scope.empty()) next.scope = grant.scope;
  next.redemptions = 0;
  next.expires = std::nullopt;
  if (grant.expires_in) next.expires = parts_.loop.wall_time() + *grant.expires_in;
  store(next);
  adopt(std::move(next));
  token_is_refused_ = false;
  life_ = TokenLife::of(asked_, parts_.loop.now(), grant.expires_in);
  ++refreshes_;
  parts_.log.event(LogLevel::debug, "token", "a new token from {}",
                   shown_url(login_->token_endpoint));
  finish({login_->access_token, std::nullopt});
}

void Refresher::judge(RefreshEnd end, const std::string& reason) {
  const RefreshStep step = next_step(end, login_->redemptions);
  if (step == RefreshStep::again) {
    redeem();
    return;
  }
  ++failures_;
  const std::string message =
      fmt::format("no new token from {}: {}", shown_url(login_->token_endpoint), reason);
  if (step == RefreshStep::log_in) {
    // A server that refuses the refresh token has most likely revoked the access token too; after
    // lost responses the access token stays valid until it expires.
    if (end == RefreshEnd::refused) login_->access_token.clear();
    give_up(message);
    return;
  }
  if (!counts_as_redeemed(end)) {
    --login_->redemptions;
    store(*login_);
  }
  parts_.log.peer(LogLevel::warning, "authorization", "{}; it is tried again", message);
  finish(no_token(message));
}

void Refresher::give_up(const std::string& reason) {
  why_over_ = reason;
  login_->refresh_token.clear();
  login_->redemptions = 0;
  store(*login_);
  idle_.clear();
  parts_.log.event(LogLevel::warning, "login needed", "{}; a person has to log in, by {}", reason,
                   parts_.login_command);
  finish({{}, login_needed(reason, parts_.login_command)});
}

void Refresher::finish(const TokenAnswer& answer) {
  parts_.store.unlock();
  shared_.finish(answer);
}

void Refresher::set_idle_timer() {
  if (parts_.idle_refresh.count() == 0 || !can_refresh()) {
    idle_.clear();
  } else {
    idle_.set_after(parts_.idle_refresh);
  }
}

}  // namespace bridge
